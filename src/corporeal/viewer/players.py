"""What moves one of the bodies side by side: skinning, live flesh, or a take from a file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Protocol, runtime_checkable

import numpy as np

from corporeal._typing import Array, Float, Float32, NumpyArray
from corporeal.body.controls import Controls
from corporeal.body.deformer import Deformer
from corporeal.body.grab import Grab
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.stepper import Stepper
from corporeal.viewer.capabilities import Holdable, Relocatable, Resumable
from corporeal.viewer.playhead import FPS

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
    """Joint rotations and translation."""
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
        """Posed vertices of the moment, metres."""
        return self._skin

    def advance(self, moment: Moment, seconds: float, grabs: Sequence[Grab]) -> None:
        """Go on to a moment; how is of no matter without memory."""
        self.jump(moment)

    def jump(self, moment: Moment) -> None:
        """Go to a moment, wherever it is."""
        start = perf_counter()
        single = Pose(
            np.asarray(moment.pose.joint_rotations, np.float32),
            np.asarray(moment.pose.root_translation, np.float32),
        )
        self._skin = np.asarray(self._deformer.vertices(self.identity, single))
        self.step_ms = 1e3 * (perf_counter() - start)


class AnimatedSkinning:
    """A deformer without memory under some controls, posed through its `animate`."""

    def __init__(self, deformer: Deformer, controls: Controls) -> None:
        self._deformer, self._controls = deformer, controls

    def vertices(
        self, identity: Identity, pose: Pose, out: NumpyArray | None = None
    ) -> Float[Array, "*batch V 3"]:
        """Posed skin of one pose, metres."""
        motion = Motion(
            "pose",
            FPS,
            np.asarray(pose.joint_rotations)[None],
            np.asarray(pose.root_translation)[None],
            self._deformer.template.skeleton,
        )
        return self._deformer.animate(identity, motion, self._controls).vertices[0]


class FleshPlayer:
    """A body that is stepped live; shows plain skinning until its stepper is there."""

    def __init__(self, stand_in: SkinnedPlayer) -> None:
        self._stand_in = stand_in
        self.is_weighted = False
        """Whether its deformer has painted factors of exaggeration in its own dynamics."""
        self._live: Begun | None = None
        self._skin = stand_in.skin
        self._awake = 0
        self._speed = 0.0
        self.step_ms = 0.0

    @property
    def ready(self) -> bool:
        """Whether the simulation is there."""
        return self._live is not None

    @property
    def skin(self) -> Float32[NumpyArray, "V 3"]:
        """Posed vertices of the moment, metres; plain skinning until it is ready."""
        return self._skin if self.ready else self._stand_in.skin

    @property
    def restless(self) -> bool:
        """Whether flesh still moves, so that the show must go on."""
        return self.ready and (self._awake > 0 or self._speed > _QUIET)

    @property
    def stepper(self) -> Stepper[Any] | None:
        """What steps it; None while it is prepared."""
        return None if self._live is None else self._live.stepper

    @property
    def live(self) -> "Begun | None":
        """Stepper and state at this moment; None while they are prepared."""
        return self._live

    @property
    def can_be_held(self) -> bool:
        """Whether it is of a kind that hands can grab."""
        return isinstance(self.stepper, Holdable)

    def holdable(self, grab: Grab) -> bool:
        """Whether flesh is there to be held."""
        live = self._live
        return (
            live is not None
            and isinstance(live.stepper, Holdable)
            and live.stepper.can_hold(live.state, grab)
        )

    def begin(self, made: "Begun") -> None:
        """Go on with what was made; without a state, from the present one.

        What was prepared for somebody who has left the stage meanwhile is dropped.
        """
        if made.state is None and self._live is not None and isinstance(made.stepper, Resumable):
            state = made.stepper.resume(self._live.state)
            made = replace(made, state=state, identity=self._live.identity, pose=self._live.pose)
        if made.state is None or made.identity is not self._stand_in.identity:
            return
        self._live, self._awake = made, _WAKE
        self._show()

    def wait(self, identity: Identity) -> None:
        """Show plain skinning of another person until `begin` comes."""
        self._live = None
        self._stand_in.identity = identity

    def advance(self, moment: Moment, seconds: float, grabs: Sequence[Grab]) -> None:
        """Step to a moment `seconds` later, held by `grabs`."""
        if self._live is None:
            self._stand_in.jump(moment)
            return
        start, before = perf_counter(), self._skin
        self._awake = _WAKE if grabs else max(0, self._awake - 1)
        self._live = _stepped(self._live, moment.pose, seconds, grabs)
        self._show()
        self._speed = float(np.abs(self._skin - before).max()) / seconds
        self.step_ms = 1e3 * (perf_counter() - start)

    def jump(self, moment: Moment) -> None:
        """Begin anew in static balance at a moment."""
        if self._live is None:
            self._stand_in.jump(moment)
            return
        self._live = _started(self._live.stepper, self._live.identity, moment.pose)
        self._speed = 0.0
        self._show()

    def _show(self) -> None:
        assert self._live is not None
        self._skin = np.asarray(self._live.stepper.skin(self._live.state), np.float32)


class TakePlayer:
    """Frames of a file; goes by time alone."""

    ready, restless = True, False
    step_ms = 0.0

    def __init__(self, vertices: Float32[NumpyArray, "N V 3"], fps: float) -> None:
        self.vertices, self.fps = vertices, fps
        self._frame = 0

    @property
    def skin(self) -> Float32[NumpyArray, "V 3"]:
        """Vertices of the frame that is shown, metres."""
        return self.vertices[self._frame]

    def advance(self, moment: Moment, seconds: float, grabs: Sequence[Grab]) -> None:
        """Go on to a moment."""
        self.jump(moment)

    def jump(self, moment: Moment) -> None:
        """Show the frame nearest to a moment."""
        self._frame = min(round(moment.time * self.fps), len(self.vertices) - 1)


@dataclass(frozen=True)
class Begun:
    """A stepper ready to be stepped."""

    stepper: Stepper[Any]
    """Takes the steps."""
    identity: Identity
    """Whose body it is."""
    pose: Pose
    """Where the skeleton is."""
    state: Any | None
    """None where it can go on from the state before, as that has moved by then."""


def begun(stepper: Stepper[Any], identity: Identity, pose: Pose, before: Begun | None) -> Begun:
    """A stepper prepared for a person, quiet in a pose; or to go on from what was `before`, where
    that is the same person's and fits."""
    if (
        before is not None
        and before.identity is identity
        and isinstance(stepper, Resumable)
        and stepper.resume(before.state) is not None
    ):
        return Begun(stepper, identity, pose, None)
    return _started(stepper, identity, pose)


def _started(stepper: Stepper[Any], identity: Identity, pose: Pose) -> Begun:
    return Begun(stepper, identity, pose, stepper.start(identity, pose))


def _stepped(live: Begun, pose: Pose, seconds: float, grabs: Sequence[Grab]) -> Begun:
    """One step on; put down anew where the pose has jumped."""
    stepper, state = live.stepper, live.state
    turn, way = _between(live.pose, pose)
    if turn > _JUMP_TURN or (way > _JUMP_WAY and not isinstance(stepper, Relocatable)):
        return _started(stepper, live.identity, pose)
    if way > _JUMP_WAY and isinstance(stepper, Relocatable):
        state = stepper.relocate(state, pose)
    if grabs and isinstance(stepper, Holdable):
        state = stepper.step_held(state, pose, seconds, grabs)
    else:
        state = stepper.step(state, pose, seconds)
    return replace(live, pose=pose, state=state)


def _between(before: Pose, after: Pose) -> tuple[float, float]:
    """Largest change of a joint's axis-angle vector (radians), and the root's way (metres)."""
    turn = np.abs(np.asarray(after.joint_rotations) - before.joint_rotations).max()
    way = np.linalg.norm(np.asarray(after.root_translation) - before.root_translation)
    return float(turn), float(way)
