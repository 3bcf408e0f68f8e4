"""Crowds on a device: characters that share a body, and people who are all different.

Characters that share a body are the batch of `run_clip`: their global step is one matrix product
for all. Different people are put together into one large body of parts that do not touch: the same
programs run over all of them at once. To that end everybody is filled up to common numbers of free
and anchored vertices with ones that nothing holds or needs.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.errors import InputError
from corporeal.physics.coupling.gpu import DeviceCoupling, carried_positions
from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody
from corporeal.physics.fast_projective_skinning.gpu.clip import ACCELERATED, SkeletonFrames
from corporeal.physics.fast_projective_skinning.gpu.padding import longer
from corporeal.physics.solver.gpu.elements import DeviceFlesh, system_matrix
from corporeal.physics.solver.gpu.inverse import CLUSTER, ClusteredInverse, Inverse
from corporeal.physics.solver.gpu.step import SolverOptions, SolverState, StepInputs, take_step
from corporeal.physics.solver.gpu.two_level import TwoLevelInverse, joined_levels
from corporeal.physics.solver.integration import StepRule
from corporeal.physics.upsampling.gpu import DeviceUpsampler, full_skin
from corporeal.physics.volume_preservation.gpu import (
    DevicePreservation,
    DeviceVolume,
    preservation_with,
)
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class DeviceCrowd:
    """P people of one template, with f free and b anchored vertices each."""

    flesh: DeviceFlesh
    """Of all: P f free vertices, then P b anchored ones."""
    inverse: ClusteredInverse | TwoLevelInverse
    """Of all."""
    weight: Float[Array, "3 Pf"]
    """Newtons."""
    coupling: DeviceCoupling
    """Arrays stacked along a first axis of people, like those that follow."""
    sources: Int[Array, "P n"]
    """Which of what bones carry the vertex at a place goes with; see `DeviceBody`."""
    skin_places: Int[Array, "P V"]
    """Place of every simulated skin vertex."""
    upsampler: DeviceUpsampler
    """From simulated vertices to the full skin."""
    preservation: DevicePreservation | None = None
    """Regions whose volume is kept, of all."""


def assembled_people(
    bodies: Sequence[DeviceBody], inverses: Sequence[Inverse], rule: StepRule
) -> DeviceCrowd:
    """Bodies of one template and the inverses of their global steps, put together: all local, or
    all in two levels."""
    local = [inverse for inverse in inverses if isinstance(inverse, ClusteredInverse)]
    levels = [inverse for inverse in inverses if isinstance(inverse, TwoLevelInverse)]
    if len(inverses) != len(bodies) or len(bodies) not in (len(local), len(levels)):
        raise InputError(
            f"{len(bodies)} bodies came with {len(inverses)} inverses, {len(local)} of them local "
            f"and {len(levels)} in two levels; expected one kind (`local_inverse` or "
            f"`two_level_inverse`) for every body."
        )
    couplings = [body.coupling for body in bodies if isinstance(body.coupling, DeviceCoupling)]
    if len(couplings) < len(bodies):
        raise InputError(
            f"{len(bodies) - len(couplings)} of {len(bodies)} bodies are layered; expected "
            f"two-layer flesh. Run layered people one after the other."
        )
    free = -(-max(body.free_count for body in bodies) // CLUSTER) * CLUSTER
    fixed = max(len(body.order) - body.free_count for body in bodies)
    width = max(body.flesh.weights.shape[1] for body in bodies)
    sizes = [coupling.skin.joints.shape for coupling in couplings]
    carried = max(count for count, _ in sizes), max(joints for _, joints in sizes)
    filled = [
        _filled(body, coupling, free, fixed, width, carried)
        for body, coupling in zip(bodies, couplings, strict=True)
    ]
    numbers = range(len(bodies))
    fleshes = [
        replace(body.flesh, corners=_moved_on(body.flesh.corners, n, len(bodies), free, fixed))
        for n, body in zip(numbers, filled, strict=True)
    ]
    return DeviceCrowd(
        DeviceFlesh(
            np.concatenate([flesh.corners for flesh in fleshes], axis=1),
            np.concatenate([flesh.gradients for flesh in fleshes], axis=1),
            np.concatenate([flesh.weights for flesh in fleshes]),
            np.concatenate([flesh.masses for flesh in fleshes]),
            _joined_springs(fleshes),
            *_joined_rings(bodies, free, fixed),
        ),
        _joined_inverse(local, free) if local else joined_levels(levels, free),
        np.concatenate([body.weight for body in filled], axis=1),
        _stacked([body.coupling for body in filled]),
        _stacked([body.sources for body in filled]),
        _stacked([body.skin_places for body in filled]),
        _stacked([body.upsampler for body in filled]),
        _joined_kept(bodies, rule, free, fixed),
    )


def assembled_states(people: DeviceCrowd, movings: Sequence[SolverState]) -> SolverState:
    """The states of all people, put together."""
    free = people.weight.shape[1] // len(movings)
    *parts, pressures = zip(*movings, strict=True)
    regions = 0 if people.preservation is None else people.preservation.gain.shape[1]
    places = (np.concatenate([longer(np.asarray(p), 1, free) for p in part], 1) for part in parts)
    pressed = np.concatenate([longer(np.asarray(p), 1, regions) for p in pressures])
    return SolverState(*places, pressures=pressed)


@partial(jax.jit, static_argnames=("rule", "steps", "options"))
def run_people(
    people: DeviceCrowd,
    rule: StepRule,
    solver_state: SolverState,
    frames: SkeletonFrames,
    *,
    steps: int = 1,
    options: SolverOptions = ACCELERATED,
) -> tuple[SolverState, Float[Array, "N P W 3"]]:
    """The last state, and the skins of all frames after the first, `steps` steps each (metres).

    The characters of `frames` are the people, in their order.
    """
    count = len(people.sources)
    options = options._replace(people=count)

    def by_frame(values: Array) -> Array:
        return values.reshape(-1, steps, *values.shape[1:])

    def go(carry: tuple[SolverState, Array], given: tuple[Array, Array]) -> tuple[tuple, Array]:
        solver_state, frame = carry
        path, shifts = given
        step_inputs = _step_inputs(people, rule, jnp.concatenate([frame[None], path]), shifts)
        for number in range(steps):
            size = solver_state.positions.shape[1] // count
            shift = jnp.repeat(shifts[number], size, axis=1)[..., None]
            solver_state = solver_state._replace(
                positions=solver_state.positions - shift,
                earlier_positions=solver_state.earlier_positions - shift,
            )
            inputs = jax.tree.map(lambda part, n=number: part[n], step_inputs)
            solver_state, _ = take_step(
                people.flesh,
                people.inverse,
                rule,
                solver_state,
                inputs,
                options,
                preservation=people.preservation,
            )
        whole = [
            values.reshape(3, count, -1)
            for values in (solver_state.positions, step_inputs.anchors[-1])
        ]
        each = jnp.concatenate(whole, axis=2).transpose(1, 0, 2)
        simulated = jax.vmap(lambda x, places: x[:, places])(each, people.skin_places)
        return (solver_state, path[-1]), jax.vmap(full_skin)(people.upsampler, simulated)

    given = (by_frame(frames.path), by_frame(frames.shifts))
    (solver_state, _), posed_vertices = lax.scan(go, (solver_state, frames.start), given)
    return solver_state, posed_vertices


def _step_inputs(
    people: DeviceCrowd,
    rule: StepRule,
    path: Float[Array, "k1 P J 4 4"],
    shifts: Float[Array, "k 3 P"],
) -> StepInputs:
    """What every step is given, steps along the first axis."""
    count = len(people.sources)
    free = people.weight.shape[1] // count
    carriers = jax.vmap(jax.vmap(carried_positions), (None, 0))(people.coupling, path)
    carriers = jax.vmap(jax.vmap(lambda x, places: x[:, places]), (0, None))(
        carriers, people.sources
    )
    earlier = carriers[:-1] - shifts.transpose(0, 2, 1)[..., None]
    speeds = (carriers[1:] - earlier) / rule.step

    def laid_out(values: Float[Array, "k P 3 m"]) -> Float[Array, "k 3 Pm 1"]:
        return values.transpose(0, 2, 1, 3).reshape(len(shifts), 3, -1, 1)

    weight = jnp.broadcast_to(people.weight[None, ..., None], (len(shifts), 3, count * free, 1))
    return StepInputs(
        laid_out(carriers[1:, ..., free:]),
        weight,
        laid_out(speeds[..., :free]),
        laid_out(earlier[..., free:]),
        None if people.flesh.springs is None else laid_out(carriers[1:, ..., :free]),
    )


def _joined_springs(fleshes: Sequence[DeviceFlesh]) -> Float[NumpyArray, "Pf"] | None:
    """The attachments of all people, zero for those without any; None where nobody has some."""
    if all(flesh.springs is None for flesh in fleshes):
        return None
    each = (np.zeros_like(f.masses) if f.springs is None else f.springs for f in fleshes)
    return np.concatenate(list(each))


def _joined_rings(
    bodies: Sequence[DeviceBody], free: int, fixed: int
) -> tuple[NumpyArray | None, NumpyArray | None, None, NumpyArray | None]:
    """Skin edges of the free vertices of all people: their other ends, lengths and what damps
    creases (`DeviceFlesh.ends`, `lengths`, no tension of a skin, `creasing`)."""
    width, tables = 0, []
    for body in bodies:
        if body.flesh.ends is None or body.flesh.lengths is None or body.flesh.creasing is None:
            return None, None, None, None
        places = np.asarray(body.flesh.ends)
        places = np.where(places < body.free_count, places, places + free - body.free_count)
        tables.append((places, np.asarray(body.flesh.lengths), np.asarray(body.flesh.creasing)))
        width = max(width, places.shape[1])
    rings = []
    for number, (places, lengths, creasing) in enumerate(tables):
        ends = np.repeat(np.arange(free)[:, None], width, axis=1)
        ends[: len(places), : places.shape[1]] = places
        ends = _moved_on(ends, number, len(bodies), free, fixed)
        lengths = longer(longer(lengths, 1, width), 0, free)
        rings.append((ends, lengths, longer(creasing, 0, free)))
    ends, lengths, creasing = (np.concatenate(parts) for parts in zip(*rings, strict=True))
    return ends, lengths, None, creasing


def _moved_on(corners: NumpyArray, number: int, count: int, free: int, fixed: int) -> NumpyArray:
    """Places of one person's vertices among those of all."""
    among = np.where(corners < free, number * free, count * free + number * fixed - free)
    return (corners + among).astype(np.int32)


class _Filled(NamedTuple):
    """One person among people."""

    flesh: DeviceFlesh
    weight: NumpyArray
    coupling: DeviceCoupling
    sources: NumpyArray
    skin_places: NumpyArray
    upsampler: DeviceUpsampler


def _filled(
    body: DeviceBody,
    coupling: DeviceCoupling,
    free: int,
    fixed: int,
    width: int,
    carried: tuple[int, int],
) -> _Filled:
    """The same body with more free and anchored vertices, which nothing holds or needs."""
    count, flesh = body.free_count, body.flesh
    place = np.arange(len(body.order))
    place[count:] += free - count

    def spread(values: Array) -> NumpyArray:
        wide = np.zeros(free + fixed, np.asarray(values).dtype)
        wide[place] = values
        return wide

    corners = longer(place[np.asarray(flesh.corners)], 2, width)
    own = np.arange(free, dtype=np.int32)[:, None]
    corners = np.where(
        longer(longer(np.asarray(flesh.weights), 1, width), 0, free) > 0,
        longer(corners, 1, free),
        own,
    )
    coupling = replace(coupling, skin=coupling.skin.filled(*carried))
    return _Filled(
        DeviceFlesh(
            corners.astype(np.int32),
            longer(longer(np.asarray(flesh.gradients), 2, width), 1, free),
            longer(longer(np.asarray(flesh.weights), 1, width), 0, free),
            longer(np.asarray(flesh.masses), 0, free),
            None if flesh.springs is None else longer(np.asarray(flesh.springs), 0, free),
        ),
        longer(np.asarray(body.weight), 1, free),
        coupling,
        spread(body.sources),
        place[np.asarray(body.skin_places)].astype(np.int32),
        body.upsampler,
    )


def _joined_kept(
    bodies: Sequence[DeviceBody], rule: StepRule, free: int, fixed: int
) -> DevicePreservation | None:
    """The regions of all people, each with the gain of its own global step."""
    volumes = [body.volume for body in bodies if body.volume is not None]
    if len(volumes) not in (0, len(bodies)):
        raise InputError(
            f"{len(volumes)} of {len(bodies)} bodies keep volume; expected all or none. Prepare "
            f"them with the same `volume`."
        )
    if not volumes:
        return None
    prisms = max(volume.shares.shape[1] for volume in volumes)
    regions = max(volume.shares.shape[2] for volume in volumes)
    deep = max(volume.around.shape[1] for volume in volumes)
    total, people, around, gains = 6 * prisms * len(volumes), [], [], []
    for number, (body, volume) in enumerate(zip(bodies, volumes, strict=True)):
        own = np.asarray(volume.prisms)
        corners = np.where(own < body.free_count, own, own + free - body.free_count)
        corners = _moved_on(corners, number, len(volumes), free, fixed)
        listed = np.asarray(volume.around)
        listed = np.where(listed == own.size, total, listed + 6 * prisms * number)
        around.append(longer(longer(listed, 1, deep, total), 0, free, total))
        slopes = longer(np.asarray(volume.slopes), 1, prisms)
        shares = longer(longer(np.asarray(volume.shares), 2, regions), 1, prisms)
        steepest = longer(np.asarray(volume.steepest), 1, prisms, 1)
        numbers = (
            volume.volumes, volume.compliances, volume.limits, volume.changes, volume.most,
        )  # fmt: skip
        each = (longer(np.asarray(part), 1, regions) for part in numbers)
        people.append((longer(corners, 1, prisms), shares, slopes, steepest, *each))
        matrix = system_matrix(body.elements, rule.inertia, len(body.order), rule.stiffening)
        gain = preservation_with(volume, matrix).gain
        gains.append(longer(longer(gain, 2, regions), 1, regions))
    first, shares, slopes, steepest, *each = (
        np.concatenate(parts) for parts in zip(*people, strict=True)
    )
    table = np.concatenate(around).astype(np.int32)
    volume = DeviceVolume(first.astype(np.int32), shares, table, slopes, steepest, *each)
    return DevicePreservation(
        volume, np.concatenate(gains), np.ascontiguousarray(shares.swapaxes(1, 2))
    )


def _joined_inverse(inverses: Sequence[ClusteredInverse], free: int) -> ClusteredInverse:
    """One inverse of all; added vertices do not move."""
    total = sum(len(inverse.rows) for inverse in inverses)
    most = max(inverse.pieces.shape[1] for inverse in inverses)
    columns, pieces, before = [], [], 0
    for number, inverse in enumerate(inverses):
        own = len(inverse.rows)
        there = np.where(inverse.pieces == own, total, inverse.pieces + before)
        there = longer(longer(there, 0, free // CLUSTER, total), 1, most, total)
        pieces.append(there.astype(np.int32))
        columns.append(inverse.columns + np.int32(number * free))
        before += own
    rows = np.concatenate([inverse.rows for inverse in inverses])
    return ClusteredInverse(np.concatenate(columns), rows, np.concatenate(pieces))


def _stacked(parts: Sequence[Any]) -> Any:
    return jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *parts)
