"""The world around a character on a device: colliders, wind and grabs, anew in every step.

Ground, box, sphere and capsule are one shape, a box with round edges: a sphere's box is a point, a
capsule's a line; the ground is a half-space. What is near a collider is listed, as many rows as
fit, and joins the rows of skin on skin. Friction is Coulomb's, solved for with the pressure (the
CPU solver takes that of the step before).
"""

from typing import NamedTuple

import jax.numpy as jnp

from corporeal._typing import Array, Bool, Float, Int
from corporeal.physics.contact.gpu.lists import chosen
from corporeal.physics.contact.gpu.rows import TouchingRows
from corporeal.physics.upsampling.gpu import DeviceSurface


class DeviceGrabs(NamedTuple):
    """G points of the skin that springs draw to places; the global step's inverse is made with
    them."""

    shares: Float[Array, "G n"]
    """Of the vertices in the held points of the simulated skin."""
    skin_shares: Float[Array, "G n"]
    """Of the vertices in the same points of the full skin."""
    stiffness: Float[Array, "G"]
    """N/m."""
    targets: Float[Array, "k 3 G"]
    """Seen from the origins of the steps, metres."""


class DeviceWorld(NamedTuple):
    """c colliders at k steps, wind and grabs; lengths in metres."""

    half: Float[Array, "c 3"]
    """Half the edges of the boxes."""
    radius: Float[Array, "c"]
    """Of their edges."""
    flat: Bool[Array, "c"]
    """Ground instead: all below y = 0."""
    friction: Float[Array, "c"]
    """Coulomb's coefficient of every collider."""
    before: Float[Array, "k c 4 4"]
    """Placements when a step begins, seen from its origin."""
    after: Float[Array, "k c 4 4"]
    """When it ends."""
    wind: Float[Array, "3"]
    """m/s."""
    thrust: Float[Array, ""]
    """½ ρ c_d of the air, kg/m³; 0 where there is none."""
    touchable: Int[Array, "m"]
    """Places of the free skin vertices."""
    reach: Float[Array, ""]
    """Vertices nearer than this have a row."""
    softness: Float[Array, ""]
    """m/N, of one vertex against being pressed in."""
    dense: Float[Array, "f f"]
    """The whole inverse of the global step, m/N."""
    grabs: DeviceGrabs | None = None
    """Points of the skin that are held; None for none."""


def world_touching(
    world: DeviceWorld,
    placed: tuple[Float[Array, "c 4 4"], Float[Array, "c 4 4"]],
    positions: Float[Array, "3 f"],
    moved: Float[Array, "3 f"],
    bones: Float[Array, "3 f"],
    most: int,
) -> tuple[TouchingRows, Bool[Array, ""]]:
    """Rows of all that is near a collider, held where it carries them, and whether they fit.

    `placed` are the colliders when the step begins and ends; `moved` is how far vertices would go
    in it; nothing is pressed beyond where its bone puts it, `bones`.
    """
    before, after = placed
    points, count = positions[:, world.touchable], len(world.touchable)
    # carried along by the collider: A_after A_before⁻¹ x, with rigid A
    seen = _to_shape(before, points[:, None])
    carried = _turned(after, seen) + after[:, :3, 3].T[..., None]
    distance, inner = _distances(world, seen)
    normals = _turned(after, inner)
    slip = moved[:, None, world.touchable] - (carried - points[:, None])
    near = distance + jnp.minimum(_dot(slip, normals), 0.0) < world.reach
    slot, found = chosen(near.ravel(), most)
    there = jnp.minimum(slot, near.size - 1)
    collider, vertex = there // count, there % count
    normal, start = normals.reshape(3, -1)[:, there], carried.reshape(3, -1)[:, there]
    place = world.touchable[vertex]
    offsets = _dot(normal, start) - distance.ravel()[there]
    offsets = jnp.minimum(offsets, _dot(normal, bones[:, place]))
    used = (slot < near.size).astype(jnp.float32)
    rows = TouchingRows(
        jnp.repeat(place[:, None], 4, axis=1),
        used[:, None] * jnp.array([1.0, 0.0, 0.0, 0.0]),
        normal,
        offsets,
        jnp.full(most, world.softness),
        world.friction[collider],
        start,
        jnp.ones_like(offsets),
    )
    return rows, found > most


def wind_forces(
    world: DeviceWorld,
    surface: DeviceSurface,
    positions: Float[Array, "3 V"],
    velocities: Float[Array, "3 V"],
) -> Float[Array, "3 V"]:
    """Newtons on every skin vertex, as `Wind.forces`."""
    a, b, c = (surface.triangles[:, k] for k in range(3))
    area = 0.5 * jnp.cross(
        positions[:, b] - positions[:, a], positions[:, c] - positions[:, a], axis=0
    )
    u = world.wind[:, None] - (velocities[:, a] + velocities[:, b] + velocities[:, c]) / 3.0
    size = jnp.sqrt(_dot(area, area))
    share = _dot(u, area) / jnp.maximum(size, 1e-20)
    each = (world.thrust * jnp.sqrt(_dot(u, u)) * share / 3.0) * area
    each = jnp.pad(each, ((0, 0), (0, 1)))
    return jnp.sum(each[:, surface.vertex_triangles], axis=2)


def _distances(
    world: DeviceWorld, points: Float[Array, "3 c m"]
) -> tuple[Float[Array, "c m"], Float[Array, "3 c m"]]:
    """Signed distances, metres, and unit vectors out of the solids, in their own frames."""
    beyond = jnp.abs(points) - world.half.T[..., None]
    side = jnp.where(points < 0.0, -1.0, 1.0)
    outside = jnp.maximum(beyond, 0.0)
    length = jnp.sqrt(_dot(outside, outside))
    face = (jnp.argmax(beyond, axis=0) == jnp.arange(3)[:, None, None]).astype(jnp.float32)
    away = jnp.where(length > 0.0, outside / jnp.maximum(length, 1e-20), face)
    distance = jnp.where(length > 0.0, length, jnp.max(beyond, axis=0)) - world.radius[:, None]
    up = jnp.array([0.0, 1.0, 0.0])[:, None, None]
    flat = world.flat[:, None]
    return jnp.where(flat, points[1], distance), jnp.where(flat, up, side * away)


def _to_shape(placed: Float[Array, "c 4 4"], points: Float[Array, "3 1 m"]) -> Array:
    """Points in the frames of all shapes."""
    off = points - placed[:, :3, 3].T[..., None]
    # y_i = Σ_j R_ji x_j
    return sum(placed[:, j, :3].T[..., None] * off[j] for j in range(3))


def _turned(placed: Float[Array, "c 4 4"], vectors: Float[Array, "3 c m"]) -> Array:
    # x_i = Σ_j R_ij y_j
    return sum(placed[:, :3, j].T[..., None] * vectors[j] for j in range(3))


def _dot(u: Array, v: Array) -> Array:
    return jnp.sum(u * v, axis=0)
