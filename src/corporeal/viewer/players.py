"""What moves one of the bodies side by side: skinning, live flesh, or a take from a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Protocol, runtime_checkable

import numpy as np

from corporeal._typing import Array, Float, Float32, Float64, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.errors import InputError
from corporeal.physics.contact.grabs import Grab
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment, Environment
from corporeal.physics.fast_projective_skinning.simulation import (
    ProjectiveSimulation,
    SimulationState,
)

_JUMP_TURN, _JUMP_WAY = 0.35, 0.10
"""Radians and metres from one shown frame to the next beyond which flesh is put down anew."""
_QUIET = 2e-3
"""m/s: slower flesh is at rest."""
_WAKE = 15
"""Steps after something has changed for which flesh is not believed to be at rest: held flesh is
quiet, and begins to move only when it is let go."""


@runtime_checkable
class Skinning(Protocol):
    """A deformer without memory: the pose decides the skin."""

    def vertices(
        self, identity: Identity, pose: Pose, out: NumpyArray | None = None
    ) -> Float[Array, "*batch V 3"]:
        """Posed skin, metres."""
        ...


@dataclass(frozen=True)
class Moment:
    """A place in the motion."""

    pose: Pose
    time: float
    """Seconds from the motion's first frame."""


@runtime_checkable
class Player(Protocol):
    """One body in motion."""

    @property
    def ready(self) -> bool:
        """Whether it moves as its deformer does; until then it shows plain skinning."""
        ...

    @property
    def step_ms(self) -> float:
        """What the last frame took, milliseconds."""
        ...

    @property
    def skin(self) -> Float32[NumpyArray, "V 3"]:
        """Posed skin, metres."""
        ...

    @property
    def restless(self) -> bool:
        """Whether it would move on while its skeleton stands still."""
        ...

    def advance(self, moment: Moment, seconds: float, grabs: Sequence[Grab]) -> None:
        """Go on to the next moment, `seconds` later."""
        ...

    def jump(self, moment: Moment) -> None:
        """Be at a moment, whatever was before."""
        ...


class SkinnedPlayer:
    """Skinning without memory."""

    ready, restless = True, False

    def __init__(self, deformer: Skinning, identity: Identity) -> None:
        self._deformer = deformer
        self.identity = identity
        self.step_ms = 0.0
        self._skin = np.asarray(identity.rest_vertices, np.float32)

    @property
    def skin(self) -> Float32[NumpyArray, "V 3"]:
        return self._skin

    def advance(self, moment: Moment, seconds: float, grabs: Sequence[Grab]) -> None:
        self.jump(moment)

    def jump(self, moment: Moment) -> None:
        start = perf_counter()
        single = Pose(
            np.asarray(moment.pose.joint_rotations, np.float32),
            np.asarray(moment.pose.root_translation, np.float32),
        )
        self._skin = np.asarray(self._deformer.vertices(self.identity, single))
        self.step_ms = 1e3 * (perf_counter() - start)


class FleshPlayer:
    """Flesh that is stepped live; shows plain skinning until its simulation is there."""

    def __init__(self, stand_in: SkinnedPlayer) -> None:
        self._stand_in = stand_in
        self._simulation: ProjectiveSimulation | None = None
        self._state: SimulationState | None = None
        self._skin = stand_in.skin
        self._awake = 0
        self.step_ms = 0.0

    @property
    def ready(self) -> bool:
        return self._state is not None

    @property
    def skin(self) -> Float32[NumpyArray, "V 3"]:
        return self._skin if self.ready else self._stand_in.skin

    @property
    def restless(self) -> bool:
        state = self._state
        if state is None:
            return False
        return self._awake > 0 or float(np.abs(state.flesh.velocities).max()) > _QUIET

    @property
    def simulation(self) -> ProjectiveSimulation | None:
        """What steps it; None while it is prepared."""
        return self._simulation

    @property
    def state(self) -> SimulationState | None:
        """The flesh at this moment; None while it is prepared."""
        return self._state

    def holdable(self, grab: Grab) -> bool:
        """Whether flesh is there to be held."""
        if self._simulation is None or self._state is None:
            return False
        try:
            BoundEnvironment(
                self._simulation.body(self._state.identity), Environment(grabs=(grab,))
            )
        except InputError:  # it would hold skin that follows a bone rigidly
            return False
        return True

    def begin(self, simulation: ProjectiveSimulation, state: SimulationState | None) -> None:
        """Go on with this simulation, from this state; None goes on from the present one.

        What was prepared for somebody who has left the stage meanwhile is dropped.
        """
        before = self._state
        if state is None and before is not None:
            state = replace(before, flesh=replace(before.flesh, pressures=None, touching=None))
        if state is None or state.identity is not self._stand_in.identity:
            return
        self._simulation, self._state, self._awake = simulation, state, _WAKE
        self._show()

    def wait(self, identity: Identity) -> None:
        """Show plain skinning of another person until `begin` comes."""
        self._simulation = self._state = None
        self._stand_in.identity = identity

    def advance(self, moment: Moment, seconds: float, grabs: Sequence[Grab]) -> None:
        if self._simulation is None or self._state is None:
            self._stand_in.jump(moment)
            return
        start, pose = perf_counter(), moment.pose
        self._awake = _WAKE if grabs else max(0, self._awake - 1)
        turn, way = _between(self._state.pose, pose)
        if turn > _JUMP_TURN:
            self._state = self._simulation.start(self._state.identity, pose)
        else:
            if way > _JUMP_WAY:
                self._state = _moved(self._state, pose)
            around = Environment(grabs=tuple(grabs))
            self._state = self._simulation.step(self._state, pose, seconds, environment=around)
        self._show()
        self.step_ms = 1e3 * (perf_counter() - start)

    def jump(self, moment: Moment) -> None:
        if self._simulation is None or self._state is None:
            self._stand_in.jump(moment)
            return
        self._state = self._simulation.start(self._state.identity, moment.pose)
        self._show()

    def _show(self) -> None:
        assert self._simulation is not None
        assert self._state is not None
        self._skin = self._simulation.skin(self._state).astype(np.float32)


class TakePlayer:
    """Frames of a file; goes by time alone."""

    ready, restless = True, False
    step_ms = 0.0

    def __init__(self, vertices: Float32[NumpyArray, "N V 3"], fps: float) -> None:
        self.vertices, self.fps = vertices, fps
        self._frame = 0

    @property
    def skin(self) -> Float32[NumpyArray, "V 3"]:
        return self.vertices[self._frame]

    def advance(self, moment: Moment, seconds: float, grabs: Sequence[Grab]) -> None:
        self.jump(moment)

    def jump(self, moment: Moment) -> None:
        self._frame = min(round(moment.time * self.fps), len(self.vertices) - 1)


def begun(
    simulation: ProjectiveSimulation, identity: Identity, pose: Pose, before: SimulationState | None
) -> tuple[ProjectiveSimulation, SimulationState | None]:
    """A simulation ready to be stepped, with quiet flesh in a pose; without, where flesh like
    `before` can go on in it as it moves by then."""
    count = len(simulation.body(identity).rest)
    if before is None or before.identity is not identity or len(before.flesh.positions) != count:
        return simulation, simulation.start(identity, pose)
    return simulation, None


def as_controls(controls: Mapping[str, float]) -> dict[str, Float64[NumpyArray, ""]]:
    """Controls as deformers take them."""
    return {name: np.asarray(value, np.float64) for name, value in controls.items()}


def _between(before: Pose, after: Pose) -> tuple[float, float]:
    """Largest change of a joint's axis-angle vector (radians), and the root's way (metres)."""
    turn = np.abs(np.asarray(after.joint_rotations) - before.joint_rotations).max()
    way = np.linalg.norm(np.asarray(after.root_translation) - before.root_translation)
    return float(turn), float(way)


def _moved(state: SimulationState, pose: Pose) -> SimulationState:
    """The same moving flesh with its root where `pose` has it."""
    shift = np.asarray(pose.root_translation, np.float64) - state.pose.root_translation
    flesh = replace(
        state.flesh,
        positions=state.flesh.positions + shift,
        earlier_positions=state.flesh.earlier_positions + shift,
    )
    place = Pose(state.pose.joint_rotations, np.asarray(pose.root_translation, np.float64))
    return replace(state, flesh=flesh, pose=place)
