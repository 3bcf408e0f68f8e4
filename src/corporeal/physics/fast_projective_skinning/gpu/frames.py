"""The frames of a clip on a device, one after the other: moving flesh, or static balance."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from corporeal._typing import Array, Bool, Float, Int
from corporeal.physics.contact.gpu.detection import Capacity
from corporeal.physics.contact.gpu.environment import DeviceWorld, wind_forces, world_touching
from corporeal.physics.contact.gpu.release import Reference, reference_at
from corporeal.physics.contact.gpu.rows import TouchingRows
from corporeal.physics.contact.gpu.touching import DeviceMovement, DeviceTouching
from corporeal.physics.contact.rules import A_ROUND, ASLEEP, FORGET
from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody
from corporeal.physics.fast_projective_skinning.gpu.contacts import (
    Collisions,
    found_touching,
    joined_contact,
    row_count,
)
from corporeal.physics.solver.gpu.inverse import Inverse
from corporeal.physics.solver.gpu.springs import Springs, points
from corporeal.physics.solver.gpu.step import (
    Contact,
    SolverOptions,
    SolverState,
    StepInputs,
    take_step,
)
from corporeal.physics.solver.integration import StepRule
from corporeal.physics.volume_preservation.gpu import DevicePreservation

STILL = 1e-5
"""Metres: a static shape is found when no vertex moves further in a round of iterations."""
MOST_ROUNDS, MOST_TOUCHING_ROUNDS = 20, 40
"""Of iterations towards a static shape, without and with collisions."""


class Rounds(NamedTuple):
    """When a static shape that follows another one counts as found: see `StaticRounds`."""

    most: Int[Array, ""] | int
    """Rounds of iterations at most."""
    still: Float[Array, ""] | float = STILL
    """Metres: found when no vertex moves further in a round."""


class Engine(NamedTuple):
    """What all steps of a clip are taken with."""

    body: DeviceBody
    """Of every character."""
    inverse: Inverse
    """Of the global step's matrix."""
    preservation: DevicePreservation | None
    """Regions for volume preservation; None without."""
    rule: StepRule
    """Length of a step, iterations, damping."""
    options: SolverOptions
    """How the iterations are run."""
    capacity: Capacity
    """Capacities of the contacts."""
    steps: int
    """A frame."""
    collisions: Collisions | None
    """Of skin with skin; None without."""
    world: DeviceWorld | None
    """Colliders, wind and grabs; None without."""
    rounds: Rounds | None = None
    """Towards static shapes; None for as many as `MOST_ROUNDS` or `MOST_TOUCHING_ROUNDS`."""

    @property
    def static_rounds(self) -> Rounds:
        """Of every static frame."""
        most = MOST_ROUNDS if self.collisions is None else MOST_TOUCHING_ROUNDS
        return self.rounds or Rounds(most)

    @property
    def remembered(self) -> float:
        """Share of a contact's rate that is left a step later, where bones do not move."""
        return math.exp(-self.rule.step / FORGET)

    @property
    def touching(self) -> bool:
        """Whether steps have contacts at all."""
        return self.collisions is not None or self.world is not None


class Around(NamedTuple):
    """The world in every step."""

    bones: Float[Array, "N s 3 f B"]
    """Where bones put the free vertices when it ends."""
    before: Float[Array, "N s c 4 4"]
    """The colliders when it begins."""
    after: Float[Array, "N s c 4 4"]
    """When it ends."""
    targets: Float[Array, "N s 3 G"] | None
    """Of what is grabbed."""


class Bones(NamedTuple):
    """The skeleton when skin finds skin: where a moving step begins, and where a static one
    ends."""

    base: Float[Array, "N s 3 V"]
    """Base points on the bone lines, metres."""
    frames: Float[Array, "N s J 4 4"]
    """World frames of the joints."""
    displacements: Float[Array, "N s J 3 4"]
    """By how much joints displace what they carry in the step."""


class Given(NamedTuple):
    """What frames are given: steps of every frame along the second axis, frames along the first."""

    step_inputs: StepInputs
    """Anchors and forces of every step."""
    shifts: Float[Array, "N s 3 B"]
    """How far the origin moved in a step, metres."""
    around: Around | None
    """What the world does in every step; None without one."""
    bones: Bones | None
    """By which skin finds skin; None where it does not."""
    displacements: Float[Array, "N s B J 3 4"] | None = None
    """By how much joints displace what they carry in a static step; None in moving ones."""


class _Found(NamedTuple):
    """Contacts of a moment."""

    touching: DeviceTouching | None
    count: Int[Array, ""]
    full: Bool[Array, ""]
    squares: Float[Array, "B"]
    """‖δ‖² of the last iteration, m²."""


class _Moment(NamedTuple):
    """What skin on skin is asked with."""

    bones: Bones
    reference: Reference
    flesh: Float[Array, "3 n 1"]
    """Metres that vertices would go on by."""
    remembered: Float[Array, ""]


class FramesTaken(NamedTuple):
    """What is told of N frames."""

    positions: Float[Array, "N 3 f B"]
    """The free vertices when each ends, metres."""
    squares: Float[Array, "N B"]
    """‖δ‖² of the last iteration of each, m²."""
    counts: Int[Array, "N"]
    """Contacts that each had."""
    full: Bool[Array, "N"]
    """Whether they did not fit."""


def frames_taken(
    engine: Engine, start: tuple[SolverState, DeviceTouching | None], given: Given
) -> tuple[tuple[SolverState, DeviceTouching | None], FramesTaken]:
    """The state after some frames, and what is told of each."""
    frame = _static_frame if engine.rule.integrator == "static" else _moving_frame

    def go(carry: tuple[SolverState, DeviceTouching | None], given: Given) -> tuple:
        solver_state, touching = carry
        solver_state, found = frame(engine, solver_state, touching, given)
        told = FramesTaken(solver_state.positions, found.squares, found.count, found.full)
        return (solver_state, found.touching), told

    return lax.scan(go, start, given)


def _moving_frame(
    engine: Engine, solver_state: SolverState, touching: DeviceTouching | None, given: Given
) -> tuple[SolverState, _Found]:
    """Steps of a frame."""
    found = _nothing_found(solver_state, touching)

    def go(carry: tuple[SolverState, _Found], given: Given) -> tuple:
        return _moving_step(engine, *carry, given), None

    # Written out, steps run faster; with what finds skin in each they take too long to compile.
    unrolled = engine.steps if engine.collisions is None else 1
    (solver_state, found), _ = lax.scan(go, (solver_state, found), given, unroll=unrolled)
    return solver_state, found


def _moving_step(
    engine: Engine, solver_state: SolverState, found: _Found, given: Given
) -> tuple[SolverState, _Found]:
    """One step; skin finds skin and colliders when it begins. `given` has no axes of frames and
    steps."""
    collisions, inputs, shift = engine.collisions, given.step_inputs, given.shifts[:, None]
    skin: TouchingRows | None = None
    contact: Contact | None = None
    springs: Springs | None = None
    if collisions is not None and given.bones is not None:
        whole = jnp.concatenate([solver_state.positions, inputs.earlier_anchors + shift], axis=1)
        flesh = engine.rule.step * _speeds(engine, solver_state, inputs)
        reference, unsure = reference_at(
            collisions.skin, given.bones.frames, given.bones.base, engine.capacity
        )
        moment = _Moment(given.bones, reference, flesh, jnp.asarray(engine.remembered))
        skin, now = _skin_on_skin(engine, collisions, whole, moment, found)
        found = now._replace(full=found.full | now.full | unsure)
        contact = _joined(engine, collisions.dense, [skin])
    solver_state = solver_state._replace(
        positions=solver_state.positions - shift,
        earlier_positions=solver_state.earlier_positions - shift,
    )
    whole = jnp.concatenate([solver_state.positions, inputs.earlier_anchors], axis=1)
    if engine.world is not None and given.around is not None:
        springs = _springs(engine.world, given.around, whole)
        speeds = _speeds(engine, solver_state, inputs)
        contact, inputs, crowded = _outside(
            engine, engine.world, given.around, skin, whole, speeds, inputs
        )
        found = found._replace(full=found.full | crowded)
    solver_state, squares = take_step(
        engine.body.flesh, engine.inverse, engine.rule, solver_state, inputs, engine.options,
        contact, engine.preservation, springs,
    )  # fmt: skip
    return solver_state, found._replace(squares=squares)


def _static_frame(
    engine: Engine, solver_state: SolverState, touching: DeviceTouching | None, given: Given
) -> tuple[SolverState, _Found]:
    """The shape in balance at the end of a frame, sought from flesh that its bones carried on."""
    body, collisions = engine.body, engine.collisions
    given = jax.tree.map(lambda part: part[0], given)  # the only step
    inputs = given.step_inputs
    carried = solver_state.positions - given.shifts[:, None]
    if given.displacements is not None:
        moved = jax.vmap(body.moved, (2, 0), 2)
        carried = carried + moved(carried, given.displacements)
    solver_state = solver_state._replace(positions=carried)
    most, still = engine.static_rounds

    moment, unsure = None, jnp.zeros((), bool)
    if collisions is not None and given.bones is not None:
        reference, unsure = reference_at(
            collisions.skin, given.bones.frames, given.bones.base, engine.capacity
        )
        moment = _Moment(given.bones, reference, jnp.zeros(()), jnp.asarray(engine.remembered))

    def again(state: tuple[SolverState, _Found, Array, Array]) -> Array:
        _, found, went, number = state
        unsettled = jnp.max(jnp.abs(went)) > still
        if found.touching is not None:
            unsettled |= jnp.any(found.touching.rates >= ASLEEP)
        return (unsettled | (number == 0)) & (number < most)

    def once(state: tuple[SolverState, _Found, Array, Array]) -> tuple:
        solver_state, found, went, number = state
        whole = jnp.concatenate([solver_state.positions, inputs.anchors], axis=1)
        skin, contact, pushed, springs = None, None, inputs, None
        if collisions is not None and moment is not None:
            here = _round(moment, number, jnp.concatenate([went, 0.0 * inputs.anchors], axis=1))
            skin, found = _skin_on_skin(engine, collisions, whole, here, found)
            found = found._replace(full=found.full | unsure)
            contact = _joined(engine, collisions.dense, [skin])
        if engine.world is not None and given.around is not None:
            around, resting = given.around, jnp.zeros_like(whole)
            springs = _springs(engine.world, around, whole)
            contact, pushed, crowded = _outside(
                engine, engine.world, around, skin, whole, resting, inputs
            )
            found = found._replace(full=found.full | crowded)
        after, squares = take_step(
            body.flesh, engine.inverse, engine.rule, solver_state, pushed, engine.options, contact,
            engine.preservation, springs,
        )  # fmt: skip
        found = found._replace(squares=squares)
        return after, found, after.positions - solver_state.positions, number + 1

    found = _nothing_found(solver_state, touching)
    start = (solver_state, found, jnp.zeros_like(carried), jnp.zeros((), jnp.int32))
    solver_state, found, _, _ = lax.while_loop(again, once, start)
    return solver_state, found


def _nothing_found(solver_state: SolverState, touching: DeviceTouching | None) -> _Found:
    """What a frame begins with."""
    squares = jnp.zeros(solver_state.positions.shape[2], solver_state.positions.dtype)
    return _Found(touching, jnp.zeros((), jnp.int32), jnp.zeros((), bool), squares)


def _skin_on_skin(
    engine: Engine,
    collisions: Collisions,
    whole: Float[Array, "3 n 1"],
    moment: _Moment,
    before: _Found,
) -> tuple[TouchingRows, _Found]:
    """Rows of skin that is inside skin."""
    bones, flesh = moment.bones, moment.flesh[:, engine.body.skin_places, 0]
    movement = DeviceMovement(bones.frames, bones.displacements, flesh, moment.remembered)
    rows, touching, full = found_touching(
        engine.body, collisions, whole[..., 0], bones.base, moment.reference, movement,
        collisions.touching if before.touching is None else before.touching, engine.capacity,
    )  # fmt: skip
    return rows, before._replace(touching=touching, count=row_count(rows), full=full)


def _round(moment: _Moment, number: Int[Array, ""], went: Float[Array, "3 n 1"]) -> _Moment:
    """The moment of a static round in which flesh `went` so far in the one before: bones move
    before the first alone."""
    first = number == 0
    bones = moment.bones._replace(displacements=jnp.where(first, moment.bones.displacements, 0.0))
    remembered = jnp.where(first, moment.remembered, math.exp(-A_ROUND / FORGET))
    return moment._replace(bones=bones, flesh=went, remembered=remembered)


def _speeds(engine: Engine, solver_state: SolverState, inputs: StepInputs) -> Float[Array, "3 n B"]:
    """Of all vertices when a step begins, m/s; anchored ones have those that it gives them."""
    anchors = (inputs.anchors - inputs.earlier_anchors) / engine.rule.step
    return jnp.concatenate([solver_state.velocities, anchors], axis=1)


def _joined(engine: Engine, dense: Array, parts: list[TouchingRows]) -> Contact:
    """Rows for the solver, and what sleeping ones slow down."""
    near = None if engine.collisions is None else engine.collisions.near
    return joined_contact(dense, parts, near, len(engine.body.order))


def _outside(
    engine: Engine,
    world: DeviceWorld,
    here: Around,
    skin: TouchingRows | None,
    whole: Float[Array, "3 n 1"],
    speeds: Float[Array, "3 n 1"],
    inputs: StepInputs,
) -> tuple[Contact | None, StepInputs, Bool[Array, ""]]:
    """Rows of skin on skin and of colliders, the wind added to what drives a step, and whether
    rows did not fit."""
    body, free = engine.body, engine.body.free_count
    contact, crowded = None, jnp.zeros((), bool)
    touching = [] if skin is None else [skin]
    if len(world.radius) > 0:
        ahead = engine.rule.step * speeds[:, :free, 0]
        touches, crowded = world_touching(
            world, (here.before, here.after), whole[:, :free, 0], ahead, here.bones[..., 0],
            engine.capacity.touches,
        )  # fmt: skip
        contact = _joined(engine, world.dense, [*touching, touches])
    elif touching:
        contact = _joined(engine, world.dense, touching)
    places = body.skin_places
    pushes = wind_forces(world, body.surface, whole[:, places, 0], speeds[:, places, 0])
    pushes = jnp.pad(pushes, ((0, 0), (0, 1)))
    skin_of = jnp.minimum(body.order[:free], len(places))
    inputs = inputs._replace(forces=inputs.forces + pushes[:, skin_of][..., None])
    return contact, inputs, crowded


def _springs(world: DeviceWorld, here: Around, whole: Float[Array, "3 n 1"]) -> Springs | None:
    """What draws held points of the simulated skin, as far as those of the full skin are off."""
    grabs = world.grabs
    if grabs is None or here.targets is None:
        return None
    missed = points(grabs.skin_shares, whole) - points(grabs.shares, whole)
    return Springs(grabs.shares, grabs.stiffness, here.targets - missed)
