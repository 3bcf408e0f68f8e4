"""Untangling on a device: the projection of `reference`, all elements at once.

Elements are seen from their free corners (`solver.gpu.elements`), so that nothing is scattered.
With J = det F of an element, V/V₀, whose gradient by corner k is cof(F) g_k, a corner is asked to
move by (ε⁺ − J)/Σ ‖∇_k J‖² ∇J. Fewer sweeps are taken: what is left is taken on by the next
iteration. Whether they help is not asked, which would have to come back from the device: after
`PATIENCE` sweeps moves become smaller in any case. Long skin edges are pulled in as in the
reference, seen from their free ends, with a few sweeps after each pull.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.physics.solver.gpu.contacts import ContactRows, row_places
from corporeal.physics.solver.gpu.elements import DeviceFlesh
from corporeal.physics.solver.gpu.scatter import counted, scattered
from corporeal.physics.untangling.reference import (
    LARGEST_MOVE,
    LEAST_SHARE,
    OPENED_SHARE,
    OVERLONG,
    PATIENCE,
    PULLED_TO,
    STIFFENS,
    TIRED,
    VIOLATED,
    share_of_way,
)

SWEEPS, LAST_SWEEPS = 4, 30
"""At most, after an iteration of the solver, and after the last one of a step: each is a program of
its own, however few elements are small."""
ROUNDS = 10
"""How often long edges are pulled in: half as often as on a CPU."""
OPENINGS = 2
"""Sweeps over elements after long edges are pulled in."""
_UNIT = 2e-9
"""Metres: moves that contacts ask for are whole numbers of it."""


class Asked(NamedTuple):
    """What else than elements asks the free vertices of one character to move."""

    moves: Float[Array, "3 f"]
    """Sums, metres."""
    counts: Int[Array, "f"]
    """How many ask."""


Sweep = Callable[[DeviceFlesh, Array, Array, Asked | None, Array], tuple[Array, Array]]
"""One pass over all elements: `swept`, or the kernel that does the same."""


def untangle(
    flesh: DeviceFlesh,
    z: Float[Array, "3 f B"],
    anchors: Float[Array, "3 b B"],
    last: bool,
    sweep: Sweep,
    rows: ContactRows | None = None,
    limits: Float[Array, "f m B"] | None = None,
) -> Float[Array, "3 f B"]:
    """The free vertices with small elements pushed open, metres; as they are where none is small.

    `last`: it ends a step, and pulls skin edges in to their `limits` (`limits_after`; None of skin
    that is held). No contact of `rows`, of one character, may become violated by that, or
    more violated than it is.
    """
    parts = move_parts(LAST_SWEEPS if last else SWEEPS)
    first, small = sweep(flesh, z, anchors, None, parts[0])
    if rows is not None:
        heights = _heights(rows, jnp.concatenate([z, anchors], axis=1))
        rows = rows._replace(offsets=jnp.minimum(rows.offsets, heights))

    def one(part: Float[Array, ""], at: Array) -> Array:
        asked = None if rows is None else asked_apart(rows, at, anchors)
        return sweep(flesh, at, anchors, asked, part)[0]

    def more(at: Array) -> Array:
        # All of them: whether some are small would have to come back from the device each time.
        if sweep is swept:
            return lax.fori_loop(1, len(parts), lambda n, at: one(jnp.asarray(parts)[n], at), at)
        for number in range(1, len(parts)):
            at = one(parts[number], at)
        return at

    opened = lax.cond(small > 0, more, lambda moved: moved, first)
    if not last or flesh.ends is None:
        return opened
    return _pulled_in(flesh, opened, anchors, sweep, rows, limits)


def limits_after(
    flesh: DeviceFlesh, positions: Float[Array, "3 n B"], seconds: float
) -> Float[Array, "f m B"] | None:
    """How long the skin edges of free vertices may be at the end of a step of so many `seconds`
    that begins at `positions`, metres; None where no stretch is limited."""
    if flesh.ends is None or flesh.lengths is None:
        return None
    rest = flesh.lengths[..., None]
    ways = positions[:, flesh.ends] - positions[:, : len(flesh.ends), None]
    now = jnp.sqrt(jnp.sum(ways * ways, axis=0))
    stretch = jnp.clip(now / jnp.where(rest > 0.0, rest, 1.0), STIFFENS, PULLED_TO)
    return rest * (stretch + share_of_way(seconds) * (PULLED_TO - stretch))


def _pulled_in(
    flesh: DeviceFlesh,
    z: Float[Array, "3 f B"],
    anchors: Float[Array, "3 b B"],
    sweep: Sweep,
    rows: ContactRows | None,
    limits: Float[Array, "f m B"] | None,
) -> Float[Array, "3 f B"]:
    """The free vertices with long edges pulled in and what that made small opened, by turns; as
    they are where none is long."""

    def one(_: Int[Array, ""] | int, at: Array) -> Array:
        asked = None if rows is None else asked_apart(rows, at, anchors)
        at = pulled(flesh, at, anchors, asked, limits)[0]
        for _ in range(OPENINGS):
            asked = None if rows is None else asked_apart(rows, at, anchors)
            at = sweep(flesh, at, anchors, asked, 1.0)[0]
        return at

    def more(at: Array) -> Array:
        if sweep is swept:
            return lax.fori_loop(0, ROUNDS, one, at)
        for number in range(ROUNDS):
            at = one(number, at)
        return at

    return lax.cond(pulled(flesh, z, anchors, None, limits)[1] > 0, more, lambda at: at, z)


def pulled(
    flesh: DeviceFlesh,
    z: Float[Array, "3 f B"],
    anchors: Float[Array, "3 b B"],
    asked: Asked | None = None,
    limits: Float[Array, "f m B"] | None = None,
) -> tuple[Float[Array, "3 f B"], Int[Array, ""]]:
    """The free vertices as skin edges that are longer than their `limits` (None of skin that is
    held) and others ask them to move, and how many ends of such edges there are."""
    ends, lengths = flesh.ends, flesh.lengths
    if ends is None or lengths is None:
        return z, jnp.zeros((), jnp.int32)
    positions, free = jnp.concatenate([z, anchors], axis=1), z.shape[1]
    ways = positions[:, ends] - z[:, :, None]
    rest = lengths[..., None]
    most = PULLED_TO * rest if limits is None else limits
    squared = jnp.sum(ways * ways, axis=0)
    long = (rest > 0.0) & (squared > (OVERLONG * most) ** 2)
    now = jnp.sqrt(jnp.where(long, squared, 1.0))
    able = jnp.where(ends < free, 2.0, 1.0)[..., None]
    shares = jnp.where(long, jnp.minimum((now - most) / able, LARGEST_MOVE) / now, 0.0)
    moves, counts = jnp.sum(shares * ways, axis=2), jnp.sum(long, axis=1)
    found = jnp.sum(counts)
    if asked is not None:
        moves, counts = moves + asked.moves[..., None], counts + asked.counts[:, None]
    return z + moves / jnp.sqrt(jnp.maximum(counts, 1).astype(moves.dtype)), found


def move_parts(sweeps: int) -> Float[NumpyArray, "sweeps"]:
    """Of the moves asked for, in every sweep: all, and after `PATIENCE` less and less, towards
    `TIRED`."""
    tired = np.maximum(np.arange(sweeps) - PATIENCE, 0) / max(sweeps - PATIENCE, 1)
    return (TIRED**tired).astype(np.float32)


def asked_apart(
    rows: ContactRows, z: Float[Array, "3 f 1"], anchors: Float[Array, "3 b 1"]
) -> Asked:
    """What violated contacts ask: by their gap along the normal, shared by the squares of their
    coefficients."""
    free = z.shape[1]
    shares = jnp.where(rows.places < free, rows.coefficients, 0.0)
    sizes = jnp.sum(shares * shares, axis=1)
    gaps = _heights(rows, jnp.concatenate([z, anchors], axis=1)) - rows.offsets
    violated = (gaps <= -VIOLATED) & (sizes > 0.0)
    pushes = jnp.where(violated, jnp.minimum(-gaps, LARGEST_MOVE) / jnp.maximum(sizes, 1e-20), 0.0)
    shares, places = shares.T, rows.places.T.ravel()
    moves = (pushes * rows.normals)[:, None] * shares
    asking = (violated & (shares != 0.0)).ravel()
    return Asked(
        scattered(moves.reshape(3, -1), places, free, _UNIT), counted(asking, places, free)
    )


def _heights(rows: ContactRows, positions: Float[Array, "3 n 1"]) -> Float[Array, "C"]:
    """n·(Σ_k c_k x_k), metres."""
    return jnp.sum(rows.normals * row_places(rows, positions), axis=0)


def swept(
    flesh: DeviceFlesh,
    z: Float[Array, "3 f B"],
    anchors: Float[Array, "3 b B"],
    asked: Asked | None = None,
    part: Float[Array, ""] | float = 1.0,
) -> tuple[Float[Array, "3 f B"], Int[Array, ""]]:
    """One pass over all elements, by a `part` of what they and others ask, and how many corners of
    small ones it found."""
    free = flesh.weights.shape[0]
    positions = jnp.concatenate([z, anchors], axis=1)
    own = positions[:, :free, None]
    edges = [[positions[i][flesh.corners[k]] - own[i] for k in range(3)] for i in range(3)]
    g = [flesh.gradients[j][..., None] for j in range(9)]
    loose = [(flesh.corners[k] < free)[..., None] for k in range(3)]
    *moves, small = incidence_moves(edges, g, flesh.weights[..., None], loose)
    count = jnp.sum(small, axis=1)
    moved = jnp.stack([jnp.sum(move, axis=1) for move in moves])
    askers = count
    if asked is not None:
        moved, askers = moved + asked.moves[..., None], count + asked.counts[:, None]
    moved = part * moved / jnp.sqrt(jnp.maximum(askers, 1).astype(moved.dtype))
    return z + moved, jnp.sum(count)


def incidence_moves(
    edges: list[list[Array]], g: list[Array], weights: Array, loose: list[Array]
) -> tuple[Array, Array, Array, Array]:
    """By how much elements ask a corner of theirs to move, metres, and whether they do: from
    (x_k − x₀)_i, the nine entries of g₁, g₂, g₃, and which of the other corners are free."""
    f = [
        [edges[i][0] * g[j] + edges[i][1] * g[3 + j] + edges[i][2] * g[6 + j] for j in range(3)]
        for i in range(3)
    ]
    cofactors = [
        [
            f[(i + 1) % 3][(j + 1) % 3] * f[(i + 2) % 3][(j + 2) % 3]
            - f[(i + 1) % 3][(j + 2) % 3] * f[(i + 2) % 3][(j + 1) % 3]
            for j in range(3)
        ]
        for i in range(3)
    ]
    share = f[0][0] * cofactors[0][0] + f[0][1] * cofactors[0][1] + f[0][2] * cofactors[0][2]
    small = (weights > 0) & (share < LEAST_SHARE)
    others = [_times(cofactors, [g[3 * k + j] for j in range(3)]) for k in range(3)]
    mine = [-(others[0][i] + others[1][i] + others[2][i]) for i in range(3)]
    size = furthest = mine[0] * mine[0] + mine[1] * mine[1] + mine[2] * mine[2] + 1e-20
    for k in range(3):
        x, y, w = others[k]
        squared = jnp.where(loose[k], x * x + y * y + w * w, 0.0)
        size, furthest = size + squared, jnp.maximum(furthest, squared)
    push = jnp.minimum((OPENED_SHARE - share) / size, LARGEST_MOVE / jnp.sqrt(furthest))
    push = jnp.where(small, push, 0.0)
    return push * mine[0], push * mine[1], push * mine[2], small


def _times(rows: list[list[Array]], vector: list[Array]) -> list[Array]:
    """A matrix times a vector."""
    return [row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2] for row in rows]
