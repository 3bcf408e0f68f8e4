"""Flesh that is stepped live: start a body, then step it with poses; the state goes in and out.

simulation = ProjectiveSimulation(template)
state = simulation.start(identity)
state = simulation.step(state, pose, dt=1 / 60)
skin = simulation.skin(state)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from weakref import WeakKeyDictionary

import numpy as np

from corporeal._typing import Array, Float, Float64, NumpyArray
from corporeal.body.grab import Grab
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.motions.cuts import Cut, find_cuts
from corporeal.motions.resample import sampled
from corporeal.physics.contact.contacts import both
from corporeal.physics.contact.rules import A_ROUND
from corporeal.physics.contact.touching import Movement
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.controls import LARGEST_STEP, ProjectiveControls
from corporeal.physics.fast_projective_skinning.cuts import moved_frame
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment, Environment
from corporeal.physics.fast_projective_skinning.parts import Bodies
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.solver.integration import Patience, State, resting
from corporeal.runtime.pytree_dataclass import pytree_dataclass, with_unchecked

_TURN_A_STEP = 0.2
"""Radians that a joint may turn from one static shape to the next on the way to a first pose."""
_STILL = 1e-5
"""Metres: a static shape is found when no vertex moves further in a round of iterations."""
_MOST_ROUNDS = 20
_SETTLING_STEPS = 120
"""Of moving flesh without movement, after the balance that it starts from."""
_TOUCHING_TURN_A_STEP, _MOST_TOUCHING_ROUNDS, _TOUCHING_SETTLING_STEPS = 0.1, 40, 120
"""The same where skin meets skin: it must be found before it is deep inside."""
_SEARCHING_ROUNDS = 16
"""Static rounds in which what touches is asked anew, before it falls asleep."""


@dataclass(frozen=True)
class StaticRounds:
    """When a static shape that follows another one counts as found."""

    most: int
    """Rounds of iterations at most."""
    still: float = _STILL
    """Metres: found when no vertex moves further in a round."""


@pytree_dataclass()
class SimulationState:
    """A moving body at one moment: enough to be saved, and gone on from."""

    identity: Identity
    """Whose body it is."""
    flesh: State
    """Of the simulated vertices: skin, then what lies beneath."""
    pose: Pose
    """Where the skeleton is now."""
    time: float = 0.0
    """Seconds since the start: moving colliders go by it."""


class ProjectiveSimulation:
    """Steps bodies of one template. Bodies are prepared when started, and kept while they live."""

    def __init__(
        self,
        template: Template,
        settings: ProjectiveControls | None = None,
        *,
        preparations: Bodies | None = None,
        cuts: bool = True,
    ) -> None:
        """`preparations` may be shared by simulations of one template under several settings; they
        also say how many vertices are simulated, and hold painted maps. With `cuts`, flesh goes
        with a skeleton that jumps faster than any body moves (`motions.cuts`); without, the jump
        drags it."""
        self.template = template
        self.settings = settings or ProjectiveControls()
        self.cuts = cuts
        self.following = StaticRounds(self._most_rounds)
        """How static frames are sought from those before them, where flesh has no momentum."""
        self.patience: Patience | None = None
        """When moving steps end that may take more iterations than usual; None where they may
        not."""
        self._preparations: Bodies = preparations or Preparations(template)
        self._bodies: WeakKeyDictionary[Identity, SimulatedBody] = WeakKeyDictionary()

    @property
    def _most_rounds(self) -> int:
        return _MOST_ROUNDS if self.settings.collisions == "off" else _MOST_TOUCHING_ROUNDS

    def body(self, identity: Identity) -> SimulatedBody:
        """What is prepared once for an identity."""
        if identity not in self._bodies:
            require_identity(self.template, identity)
            parts = self._preparations.of(identity, self.settings.stress_free)
            self._bodies[identity] = SimulatedBody(parts, self.settings)
        return self._bodies[identity]

    def start(
        self,
        identity: Identity,
        pose: Pose | None = None,
        environment: Environment | None = None,
        time: float = 0.0,
        finer: int = 1,
    ) -> SimulationState:
        """In static balance in `pose` (the zero pose, if None), reached from the stress-free pose
        in small turns, so that a clip that begins in mid-motion begins with quiet flesh; `finer`
        times as small as usual.

        Only the pose itself is balanced against its `environment`, as that is at `time` (seconds),
        not the way to it.
        """
        body = self.body(identity)
        apart, outside = (
            BoundEnvironment(body, without_ground=True),
            BoundEnvironment(body, environment),
        )
        flesh, rest = resting(body.rest, LARGEST_STEP), body.stress_free.pose
        if pose is None and body.stress_free.is_zero:
            return SimulationState(identity, flesh, rest, time)
        pose = pose or Pose(np.zeros((len(body.joints), 3)), np.zeros(3))
        target = require_pose(self.template, pose)
        turn = body.stress_free.turn_to(target)
        loose = self.settings.collisions == "off"
        largest, passing = (_TURN_A_STEP, 1) if loose else (_TOUCHING_TURN_A_STEP, 2)
        settling = _SETTLING_STEPS if loose else _TOUCHING_SETTLING_STEPS
        count = max(1, math.ceil(turn * finer / largest))
        for number, (before, frame) in enumerate(
            pairwise(self._path(body, rest, target, count)), 1
        ):
            last = number == count
            rounds, around = (self._most_rounds, outside) if last else (passing, apart)
            flesh = _quiet(body.carry(flesh.positions, before, frame), flesh.step, flesh)
            flesh = self._balance(around, flesh, frame, rounds, time)
            if last and self.settings.dynamics and body.system.untangled:
                flesh = self._balance(outside, flesh, frame, settling, time, momentum=True)
        return SimulationState(identity, flesh, target, time)

    def step(
        self,
        state: SimulationState,
        pose: Pose,
        dt: float,
        forces: Float[Array, "W 3"] | None = None,
        environment: Environment | None = None,
    ) -> SimulationState:
        """The body `dt` seconds later, with its skeleton moved on to `pose`.

        `forces` act on the full skin, newtons; `environment` are colliders, wind and grabs. `dt`
        is divided into equal steps of at most 1/120 s; a new length of step costs one
        factorisation, so a live loop should keep `dt` constant.

        A jump faster than any body moves is a cut (`motions.cuts`). Where the root alone jumps,
        flesh goes with it and keeps its movement, in the root's frame; else it begins anew, quiet
        in static balance in `pose`.
        """
        if not (math.isfinite(dt) and dt > 0):
            raise InputError(f"dt is {dt} s; expected a finite number above 0.")
        body, target = self.body(state.identity), require_pose(self.template, pose)
        cut = self._cut(state, target, dt)
        if cut is not None and not cut.pose_goes_on:
            return self.start(state.identity, target, environment, state.time + dt)
        if cut is not None:
            state = self._carried_over(state, target, dt)
        count = body.step_count(dt) if self.settings.dynamics else 1
        path = self._path(body, state.pose, target, count)
        given = None if forces is None else np.asarray(forces, np.float64)
        outside = BoundEnvironment(body, environment, given)
        flesh = self.advance(outside, state.flesh, path, dt / count, state.time)
        return SimulationState(state.identity, flesh, target, state.time + dt)

    def _cut(self, state: SimulationState, pose: Pose, dt: float) -> Cut | None:
        """The cut between the pose of a state and one `dt` seconds later, if it is one."""
        if not self.cuts:
            return None
        body = self.body(state.identity)
        ends = self._path(body, state.pose, pose, 1)
        speed = body.root_velocity(state.flesh)
        cuts = find_cuts(ends, 1.0 / dt, body.skeleton.parents, body.reach, speed)
        return cuts[0] if cuts else None

    def _carried_over(self, state: SimulationState, pose: Pose, dt: float) -> SimulationState:
        """The state before a step of `dt` seconds whose root jumps to that of `pose`: put down with
        its movement where going on as it went leads there."""
        body = self.body(state.identity)
        before, there = self._path(body, state.pose, pose, 1)[:, 0]
        shift = there[:3, :3] @ before[:3, :3].T @ body.root_velocity(state.flesh) * dt
        rotations = np.array(state.pose.joint_rotations)
        rotations[0] = pose.joint_rotations[0]
        start = Pose(rotations, np.asarray(pose.root_translation) - shift)
        after = there.copy()
        after[:3, 3] -= shift
        flesh = moved_frame(state.flesh, np.stack([before, before]), np.stack([after, after]))
        return replace(state, flesh=flesh, pose=start)

    def skin(self, state: SimulationState) -> Float[NumpyArray, "W 3"]:
        """The full skin, metres."""
        return self.body(state.identity).skin(state.flesh.positions)

    def can_hold(self, state: SimulationState, grab: Grab) -> bool:
        """Whether flesh is there to be held, and not skin that joints carry."""
        try:
            BoundEnvironment(self.body(state.identity), Environment(grabs=(grab,)))
        except InputError:
            return False
        return True

    def step_held(
        self, state: SimulationState, pose: Pose, seconds: float, grabs: Sequence[Grab]
    ) -> SimulationState:
        """`step` with nothing around the body but hands that pull."""
        return self.step(state, pose, seconds, environment=Environment(grabs=tuple(grabs)))

    def relocate(self, state: SimulationState, pose: Pose) -> SimulationState:
        """The same moving flesh with its root where `pose` has it."""
        root = np.asarray(pose.root_translation, np.float64)
        shift = root - state.pose.root_translation
        flesh = replace(
            state.flesh,
            positions=state.flesh.positions + shift,
            earlier_positions=state.flesh.earlier_positions + shift,
        )
        return replace(state, flesh=flesh, pose=Pose(state.pose.joint_rotations, root))

    def resume(self, state: SimulationState) -> SimulationState | None:
        """Flesh of a simulation with other controls, as it moves; None if it has other vertices."""
        if len(state.flesh.positions) != len(self.body(state.identity).rest):
            return None
        return replace(state, flesh=replace(state.flesh, pressures=None, touching=None))

    def advance(
        self,
        outside: BoundEnvironment,
        flesh: State,
        path: Float64[NumpyArray, "k J 4 4"],
        step: float,
        time: float = 0.0,
    ) -> State:
        """The flesh after its skeleton went along `path`, from where it is at `time`, a step
        each. What touches is found in every one: in a frame of 1/30 s a calf of a runner goes
        through the thigh."""
        body = outside.body
        if not self.settings.dynamics:
            flesh = _quiet(body.carry(flesh.positions, path[0], path[-1]), flesh.step, flesh)
            moved, most = Movement(path[[0, -1]], flesh.velocities, step), self.following.most
            still = self.following.still
            return self._balance(outside, flesh, path[-1], most, time + step, moved, still=still)
        solver = body.solver(step)
        for number, (earlier, now) in enumerate(pairwise(body.carriers_along(path))):
            movement = Movement(path[number : number + 2], step * flesh.velocities, step)
            rows, touching = body.self_contacts(flesh, path[number], movement)
            flesh = solver.step(
                flesh,
                now[body.system.anchored],
                outside.forces(flesh),
                (now - earlier) / step,
                both(rows, outside.contacts(flesh, now, time + number * step, step)),
                now,
                self.patience,
            )
            flesh = with_unchecked(flesh, touching=touching)
        return flesh

    def _balance(
        self,
        outside: BoundEnvironment,
        flesh: State,
        frame: Float64[NumpyArray, "J 4 4"],
        rounds: int,
        time: float,
        movement: Movement | None = None,
        *,
        momentum: bool = False,
        still: float = _STILL,
    ) -> State:
        """Quiet flesh at `frame`, as rounds leave it that each begin without movement, until no
        vertex moves.

        Rounds are static steps, in which nothing rubs but skin on skin, where many shapes balance
        and friction settles for one; or, with `momentum`, those of moving flesh, which in folds end
        elsewhere than twice as many iterations without it. What touches goes on from what it was as
        the `movement` to the frame says; without one it is looked for first.
        """
        body, step = outside.body, LARGEST_STEP if momentum else 0.0
        solver = body.solver(step) if momentum else body.solver(1.0, "static")
        carriers = body.carriers(frame)
        anchors, nowhere = carriers[body.system.anchored], np.zeros_like(carriers)
        searching = 0 if momentum or movement is not None else _SEARCHING_ROUNDS
        standing = Movement(np.stack([frame, frame]), nowhere, step or A_ROUND)
        movement = movement or standing
        for number in range(rounds):
            searches = number < searching
            rows, touching = body.self_contacts(flesh, frame, None if searches else movement)
            around = outside.contacts(flesh, carriers, time, step, friction=momentum)
            forces = outside.forces(flesh)
            reached = solver.step(flesh, anchors, forces, nowhere, both(rows, around), carriers)
            went = reached.positions - flesh.positions
            quiet = with_unchecked(reached, touching=touching)
            flesh = _quiet(reached.positions, flesh.step, quiet)
            movement = with_unchecked(standing, flesh=went)
            settled = touching is None or not (searches or touching.awake)
            if settled and float(np.abs(went).max()) < still:
                break
        return flesh

    def _path(
        self, body: SimulatedBody, start: Pose, end: Pose, count: int
    ) -> Float64[NumpyArray, "k J 4 4"]:
        """World frames from one pose to another in `count` equal steps, both ends included."""
        both = Motion(
            "between",
            1.0,
            np.stack([start.joint_rotations, end.joint_rotations]),
            np.stack([start.root_translation, end.root_translation]),
            self.template.skeleton,
        )
        return body.frames(sampled(both, np.arange(count + 1) / count, 1.0).poses)


def _quiet(positions: Float64[NumpyArray, "n 3"], step: float, flesh: State) -> State:
    """Flesh at rest at `positions` (metres), with the pressures and the contacts of `flesh`."""
    quiet = resting(positions, step, pressures=flesh.pressures)
    return with_unchecked(quiet, touching=flesh.touching)


def require_pose(template: Template, pose: Pose) -> Pose:
    """The pose in float64; refused if it is not one pose of the template's skeleton."""
    expected = template.skeleton.joint_count
    if pose.joint_count != expected:
        raise InputError(
            f"pose has {pose.joint_count} joints; the template has {expected}. Give one rotation "
            f"a joint of {', '.join(template.skeleton.names[:3])}, …"
        )
    if np.ndim(pose.joint_rotations) != 2:
        raise InputError("a batch of poses came for one step; give one pose at a time.")
    return Pose(
        np.asarray(pose.joint_rotations, np.float64), np.asarray(pose.root_translation, np.float64)
    )


def require_identity(template: Template, identity: Identity) -> None:
    """Refuse an identity that is not a single body of the template."""
    for what, came, expected in (
        ("vertices", identity.rest_vertices.shape[-2], template.mesh.vertex_count),
        ("joints", identity.joints.shape[-2], template.skeleton.joint_count),
    ):
        if came != expected:
            raise InputError(
                f"identity has {came} {what}; the template has {expected}. Prepare the identity "
                f"with the model of this template."
            )
    if identity.rest_vertices.ndim != 2:
        raise InputError("a batch of identities came for one body; animate them one by one.")
