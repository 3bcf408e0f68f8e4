"""Which skin vertices are inside the body, on a device: sorted cells, fixed capacities.

The geometry is that of `detection`: prisms between skin triangles and their base points on the bone
lines, of three tetrahedra each. Vertices are sorted by the key of their cell, cells along z being
neighbours, so that the cells of a prism's box are one run of sorted vertices for every row. Rows
of all prisms, then candidates of all rows, are listed one after the other: a slot finds its owner
by bisection in the running totals. Arrays on a device cannot grow: where a capacity is exceeded, a
flag comes back with the result, and whoever reads the result raises (`require_capacity`).
"""

from typing import NamedTuple

import jax.numpy as jnp

from corporeal._typing import Array, Bool, Float, Int
from corporeal.errors import CapacityError
from corporeal.physics.contact.gpu.lists import listed, placed, sorted_order
from corporeal.physics.upsampling.gpu import DeviceSurface
from corporeal.runtime.pytree_dataclass import pytree_dataclass

COUNTER_CLOCKWISE = 8
"""Bit of a prism's kind, as in `detection`: its sorted corners run counter-clockwise."""
_KEY_BITS = 10
"""Of a cell's place along each axis."""


class Capacity(NamedTuple):
    """How much fits."""

    contacts: int = 512
    """Rows of contacts at a time."""
    rows: int = 3 * 2**15
    """Rows of cells that all prisms look through together."""
    candidates: int = 2**18
    """Vertices in those cells, counted for every prism."""
    touches: int = 512
    """Vertices near colliders, counted for every collider."""

    def doubled(self) -> "Capacity":
        """Twice of everything."""
        return Capacity(*(2 * size for size in self))


@pytree_dataclass()
class DeviceSkin:
    """What detection and pairing know about a body's skin: V vertices, F triangles."""

    prisms: Int[Array, "F 6"]
    """Corners sorted, then their base points (V + corner)."""
    kinds: Int[Array, "F"]
    """Bits 1, 2, 4: usable tetrahedra; 8: counter-clockwise."""
    base_joints: Int[Array, "V 2"]
    """That carry the ends of the bone line under every vertex."""
    base_offsets: Float[Array, "V 2 3"]
    """Of the ends from those joints, at rest, metres."""
    base_places: Float[Array, "V"]
    """Of the base points between the ends, 0 to 1."""
    near: Int[Array, "V r"]
    """Vertices within three edges; −1 behind the last."""
    ignored: Int[Array, "q"]
    """Triangles that vertices overlap at rest: F vertex + triangle, ascending; at least one."""
    fixed: Bool[Array, "V"]
    """Vertices that joints carry."""
    rest: Float[Array, "V 3"]
    """Metres."""
    cell: Float[Array, "3"]
    """Sides of a cell, metres."""
    carriers: Int[Array, "V 4"]
    """Joints that every vertex goes with (`BlendingReference`)."""
    carrier_shares: Float[Array, "V 4"]
    """And how much with each; 0 for those that it has less of."""
    joints: Float[Array, "J 3"]
    """At rest, metres."""
    owners: Int[Array, "F"]
    """Joints whose bones see the normals of triangles."""
    thickness: Float[Array, "F"]
    """From triangles to their bones, metres."""
    push: Float[Array, ""]
    """Metres within which pairs are kept, and by which they come apart in one frame at most."""
    surface: DeviceSurface
    """Triangles that face outward, whatever the mesh's do."""
    bones: Int[Array, "V"]
    """Bone line under every vertex."""
    seekers: Bool[Array, "V"]
    """Vertices that new pairs are looked for of: all, or those that may meet at joints."""
    meeting: Bool[Array, "b b"]
    """Bones whose skin may become new pairs: all, or those with few others between them."""


def vertices_inside(
    skin: DeviceSkin,
    positions: Float[Array, "3 V"],
    base_points: Float[Array, "3 V"],
    capacity: Capacity,
    everywhere: bool = True,
) -> tuple[Int[Array, "V"], Bool[Array, ""]]:
    """The first triangle whose prism a vertex is inside of, F where there is none; and whether
    something did not fit. Not `everywhere`, what no new pair may come of is passed over."""
    count, low = positions.shape[1], jnp.min(positions, axis=1, keepdims=True)
    cells = _cells(positions, low, skin.cell)
    keys = _key(*cells)
    order = sorted_order(keys)
    corners = jnp.concatenate([positions, base_points], axis=1)[:, skin.prisms]
    first = _cells(jnp.min(corners, axis=2), low, skin.cell)
    last = _cells(jnp.max(corners, axis=2), low, skin.cell)
    sides = last - first + 1
    prism, rank, rows = listed(sides[0] * sides[1], capacity.rows)
    i, j = first[0][prism] + rank // sides[1][prism], first[1][prism] + rank % sides[1][prism]
    sorted_keys = keys[order]
    begin = placed(sorted_keys, _key(i, j, first[2][prism]), "left")
    end = placed(sorted_keys, _key(i, j, last[2][prism]), "right")
    used = jnp.arange(capacity.rows) < rows
    row, rank, candidates = listed(jnp.where(used, end - begin, 0), capacity.candidates)
    owner = prism[row]
    vertex = order[jnp.minimum(begin[row] + rank, count - 1)]
    inside = (jnp.arange(capacity.candidates) < candidates) & _inside(
        skin, positions, base_points, owner, vertex
    )
    if not everywhere:
        across = skin.bones[skin.surface.triangles[owner, 0]]
        inside &= skin.seekers[vertex] & skin.meeting[skin.bones[vertex], across]
    hits = jnp.full(count + 1, len(skin.prisms), jnp.int32)
    hits = hits.at[jnp.where(inside, vertex, count)].min(owner)[:-1]
    far = jnp.any(cells >= 2**_KEY_BITS)
    return hits, far | (rows > capacity.rows) | (candidates > capacity.candidates)


def require_capacity(full: Bool[Array, "*batch"], capacity: Capacity) -> None:
    """Raise if a frame had more contacts or cells than fit."""
    if bool(jnp.any(full)):
        raise CapacityError(
            f"collisions did not fit on the device: there is capacity for {capacity.contacts} "
            f"contacts, {capacity.rows} rows of cells, {capacity.candidates} candidates, "
            f"{capacity.touches} vertices near colliders and 1024 cells along each axis. "
            f"Give more capacity."
        )


def _cells(
    points: Float[Array, "3 m"], low: Float[Array, "3 1"], cell: Float[Array, "3"]
) -> Int[Array, "3 m"]:
    """Whole coordinates of the cells that points are in; those outside count to the nearest."""
    places = jnp.floor((points - low) / cell[:, None]).astype(jnp.int32)
    return jnp.clip(places, 0, 2**_KEY_BITS)


def _key(i: Array, j: Array, k: Array) -> Array:
    return (i << (2 * _KEY_BITS)) | (j << _KEY_BITS) | k


def _inside(
    skin: DeviceSkin,
    positions: Float[Array, "3 V"],
    base_points: Float[Array, "3 V"],
    prism: Int[Array, "s"],
    vertex: Int[Array, "s"],
) -> Bool[Array, "s"]:
    """Whether vertices are behind a prism's triangle and inside one of its tetrahedra."""
    points = jnp.concatenate([positions, base_points], axis=1)
    corners, kinds = skin.prisms[prism], skin.kinds[prism]
    a, b, c, base_a, base_b, base_c = (points[:, corners[:, k]] for k in range(6))
    side = jnp.where(kinds & COUNTER_CLOCKWISE, 1.0, -1.0)
    x = positions[:, vertex]
    found = jnp.zeros(vertex.shape, bool)
    tetrahedra = ((a, b, c, base_c), (a, b, base_c, base_b), (a, base_b, base_c, base_a))
    for bit, (o, p, q, r) in zip((1, 2, 4), tetrahedra, strict=True):
        u, v, w, y = p - o, q - o, r - o, x - o
        volume = -side * _triple(u, v, w)
        # shares of p, q and r in x, times the volume
        shares = [-side * _triple(*edges) for edges in ((y, v, w), (u, y, w), (u, v, y))]
        within = (shares[0] >= 0.0) & (shares[1] >= 0.0) & (shares[2] >= 0.0)
        within &= shares[0] + shares[1] + shares[2] <= volume
        found |= ((kinds & bit) > 0) & (volume > 0.0) & within
    behind = side * _triple(x - a, b - a, c - a) < 0.0
    own = (vertex == corners[:, 0]) | (vertex == corners[:, 1]) | (vertex == corners[:, 2])
    key = vertex * len(skin.prisms) + prism
    place = jnp.minimum(placed(skin.ignored, key, "left"), len(skin.ignored) - 1)
    return found & behind & ~own & (skin.ignored[place] != key)


def _triple(u: Array, v: Array, w: Array) -> Array:
    """u · (v × w)."""
    return (
        u[0] * (v[1] * w[2] - v[2] * w[1])
        + u[1] * (v[2] * w[0] - v[0] * w[2])
        + u[2] * (v[0] * w[1] - v[1] * w[0])
    )
