"""Deformers with learned dynamics, whatever their representation: clips, and live.

A subclass says how a body looks in some poses with some dynamic coefficients; from motion to
coefficients, controls and memory are here.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.controls import GivenControls
from corporeal.body.deformer import Traits, controls_for
from corporeal.body.dynamics import Predictors
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.dynamics.clock import Clock
from corporeal.dynamics.contact_pass import ContactPass, ContactSurface
from corporeal.dynamics.controls import DynamicsControls, LearnedControls, clock_for
from corporeal.errors import InputError


@runtime_checkable
class Prediction(Protocol):
    """From poses to dynamic coefficients, in time; a state goes in and a new one comes out."""

    def start(self, pose: Pose) -> Any:
        """At rest in `pose`."""
        ...

    def step(self, state: Any, pose: Pose, seconds: float) -> Any:
        """`seconds` later, in `pose`."""
        ...

    def coefficients(self, state: Any) -> Float[NumpyArray, "D"]:
        """δ at the moment of the last frame."""
        ...

    def run(self, motion: Motion) -> Float[NumpyArray, "N D"]:
        """δ of every frame of a motion that starts from rest."""
        ...


@dataclass(frozen=True, eq=False)
class DynamicMoment:
    """A body, its pose, and what its flesh remembers."""

    identity: Identity
    """Whose body."""
    pose: Pose
    """The last pose."""
    clock: "Prediction"
    """The body's own prediction."""
    dynamic: Any
    """What it remembers."""


class LearnedDynamics(Traits, ABC):
    """A static deformer with dynamic coefficients that are predicted from the movement."""

    stateful = True
    Controls: type[LearnedControls] = LearnedControls  # pyright: ignore[reportIncompatibleVariableOverride]
    accepts_custom_mesh = False
    accepts_trained = True
    accepts_local_weights = True
    template: Template

    @abstractmethod
    def clock(self, identity: Identity, controls: GivenControls = None) -> "Prediction":
        """The prediction of a body's coefficients."""

    @abstractmethod
    def shown(
        self, identity: Identity, poses: Pose, deltas: Float64[NumpyArray, "N D"] | None
    ) -> Float[NumpyArray, "N V 3"]:
        """Posed skin of N poses, metres; static where `deltas` is None."""

    @abstractmethod
    def taken(
        self, identity: Identity, motion: Motion, deltas: Float64[NumpyArray, "N D"] | None
    ) -> Animation:
        """A motion with these coefficients, as an animation; static where `deltas` is None."""

    @abstractmethod
    def frames(self, identity: Identity, poses: Pose) -> Float[NumpyArray, "N J 4 4"]:
        """World frames of all joints."""

    def carried_back(
        self, identity: Identity, poses: Pose, moved: Float[NumpyArray, "N V 3"]
    ) -> Float[NumpyArray, "N V 3"] | None:
        """Displacements of the posed skin as offsets in the rest pose; None where a deformer has
        no such offsets."""
        del identity, poses, moved
        return None

    @abstractmethod
    def require_fit(self, identity: Identity, pose: Pose) -> None:
        """Raise `InputError` unless identity and pose are of the template."""

    def coefficients(
        self, identity: Identity, motion: Motion, controls: GivenControls = None
    ) -> Float64[NumpyArray, "N D"]:
        """δ of every frame as remembered: without exaggeration."""
        self.require_fit(identity, motion.poses)
        return np.asarray(self.clock(identity, controls).run(motion), np.float64)

    def animate(
        self, identity: Identity, motion: Motion, controls: GivenControls = None
    ) -> Animation:
        """Move the identity through the motion, which starts from rest."""
        settings = controls_for(self.name, self.Controls, controls)
        self.require_fit(identity, motion.poses)
        deltas = None
        if settings.dynamics:
            deltas = settings.exaggeration * self.coefficients(identity, motion, settings)
        take = self.taken(identity, motion, deltas)
        return self._pressed_apart(take) if settings.contacts else take

    def pressed_apart(
        self, identity: Identity, poses: Pose, skin: Float[NumpyArray, "N V 3"]
    ) -> Float64[NumpyArray, "N V 3"]:
        """How posed skins (metres) must move to be out of themselves (`contact_pass`)."""
        contact = self._contact_pass(identity)
        frames = np.asarray(self.frames(identity, poses), np.float64)
        rows = [contact.apart(*row) for row in zip(skin, frames, strict=True)]
        return np.stack(rows)

    def _pressed_apart(self, take: Animation) -> Animation:
        """Contact is the movement's, and the pose's where nothing moves by itself."""
        skin, poses = np.asarray(take.vertices), take.motion.poses
        moved = self.pressed_apart(take.identity, poses, skin)
        pressed = replace(take, vertices=(skin + moved).astype(skin.dtype))
        offsets = self.carried_back(take.identity, poses, moved)
        if offsets is None:
            return pressed
        if take.dynamic_offsets is not None:
            both = np.asarray(take.dynamic_offsets) + offsets
            return replace(pressed, dynamic_offsets=both.astype(skin.dtype))
        before = 0.0 if take.pose_offsets is None else np.asarray(take.pose_offsets)
        return replace(pressed, pose_offsets=(before + offsets).astype(skin.dtype))

    def _contact_pass(self, identity: Identity) -> ContactPass:
        if identity not in self._passes:
            self._passes[identity] = ContactPass(self._contact_surface, identity)
        return self._passes[identity]

    @cached_property
    def _passes(self) -> WeakKeyDictionary[Identity, ContactPass]:
        """Of the bodies that were pressed apart while they live."""
        return WeakKeyDictionary()

    @cached_property
    def _contact_surface(self) -> ContactSurface:
        return ContactSurface(self.template)

    def stepper(self, controls: GivenControls = None) -> "DynamicStepper":
        """What moves a body live."""
        return DynamicStepper(self, controls_for(self.name, self.Controls, controls))


class AutoregressiveDynamics(LearnedDynamics):
    """Dynamic coefficients that an autoregression predicts, mixed over people by body mass."""

    Controls = DynamicsControls

    @property
    @abstractmethod
    def predictors(self) -> Predictors:
        """From motion to coefficients."""

    def clock(self, identity: Identity, controls: GivenControls = None) -> Clock:
        """The prediction of a body's coefficients."""
        settings = controls_for(self.name, DynamicsControls, controls)
        mesh, skeleton = self.template.mesh, self.template.skeleton
        return clock_for(self.predictors, identity, mesh.triangles, skeleton, settings)


class DynamicStepper:
    """Learned dynamics, one frame after the other, of any length."""

    def __init__(self, deformer: LearnedDynamics, controls: LearnedControls) -> None:
        self._deformer, self._controls = deformer, controls

    def start(self, identity: Identity, pose: Pose | None = None) -> DynamicMoment:
        """At rest in `pose`, or in the zero pose."""
        if pose is None:
            count = self._deformer.template.skeleton.joint_count
            pose = Pose(np.zeros((count, 3), np.float32), np.zeros(3, np.float32))
        self._deformer.require_fit(identity, pose)
        clock = self._deformer.clock(identity, self._controls)
        return DynamicMoment(identity, pose, clock, clock.start(pose))

    def step(self, state: DynamicMoment, pose: Pose, seconds: float) -> DynamicMoment:
        """The body `seconds` later, in `pose`."""
        return replace(state, pose=pose, dynamic=state.clock.step(state.dynamic, pose, seconds))

    def skin(self, state: DynamicMoment) -> Float[NumpyArray, "V 3"]:
        """Posed vertices, metres."""
        one = Pose(
            np.asarray(state.pose.joint_rotations)[None],
            np.asarray(state.pose.root_translation)[None],
        )
        deltas = None
        if self._controls.dynamics:
            now = np.asarray(state.clock.coefficients(state.dynamic), np.float64)
            deltas = self._controls.exaggeration * now[None]
        skin = np.asarray(self._deformer.shown(state.identity, one, deltas))
        if self._controls.contacts:
            moved = self._deformer.pressed_apart(state.identity, one, skin)
            skin = (skin + moved).astype(skin.dtype)
        return skin[0]

    def resume(self, state: DynamicMoment) -> DynamicMoment:
        """Go on under these controls: a slider was moved."""
        clock = self._deformer.clock(state.identity, self._controls)
        return replace(state, clock=clock)


def require_local_weights(
    weights: Float[NumpyArray, "V"] | None, count: int
) -> Float64[NumpyArray, "V"] | None:
    """Painted factors of dynamics, one a vertex; refused unless finite and as many."""
    if weights is None:
        return None
    values = np.asarray(weights, np.float64)
    if values.shape != (count,) or not np.isfinite(values).all():
        raise InputError(
            f"local weights of dynamics have the shape {values.shape}; expected one finite number "
            f"a vertex, {count}."
        )
    return values
