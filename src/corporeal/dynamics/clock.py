"""Predictors in time: frames of any length in, coefficients of the model's own ticks out.

A model counts in ticks (1/60 s). Poses come when they come: velocities are differences between
knots, which are frames at 60 a second or slower, and points between frames at faster rates, so that
a difference never spans less than a tick. Ticks between two knots get control vectors on the line
between theirs; between ticks the coefficients go towards what the model foresees for the next.
At 60 frames a second every frame is a knot and a tick, and all this is eq. 20 itself.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.dynamics import Predictors
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.dynamics.autoregression import Fitted
from corporeal.dynamics.control_laws import Track, law_for
from corporeal.errors import InputError
from corporeal.geometry.rotations import quaternion_from_axis_angle, slerp

_ROUNDING = 1e-6
"""Ticks that rounding may be off."""


@dataclass(frozen=True)
class DynamicState:
    """A moment of a prediction; never changed in place."""

    frame: Track
    """The last frame."""
    knot: Any
    """The last knot, as the control law sees it."""
    speed: Any
    """How it moved up to the last knot, likewise."""
    control: Float64[NumpyArray, "c"]
    """Control vector of the last knot, within the model's limits."""
    deltas: Float64[NumpyArray, "2 D"]
    """δ of the last two ticks, the newest first."""
    pending: float
    """Seconds since the last knot."""
    phase: float
    """Ticks from the last tick to the last knot, 0 to 1."""


class Clock:
    """Runs one body's autoregression along with its poses."""

    def __init__(
        self,
        predictors: Predictors,
        fitted: Fitted,
        skeleton: Skeleton,
        joints: Float[NumpyArray, "J 3"] | None = None,
    ) -> None:
        """`joints` are the body's rest joints, metres; those of the skeleton if None."""
        if predictors.differences != "causal":
            raise InputError(
                "the model was trained with forward differences, which look at the next frame; "
                "it cannot run live. Train it with --differences causal."
            )
        self.predictors, self.fitted = predictors, fitted
        self._law = law_for(predictors, skeleton, skeleton.joints if joints is None else joints)
        self._tick = 1.0 / predictors.fps
        self._limits = np.asarray(predictors.limits, np.float64)
        order = len(fitted.history)
        self._history = np.zeros((2, fitted.inputs.shape[0]))
        self._history[:order] = fitted.history

    def start(self, pose: Pose) -> DynamicState:
        """At rest in `pose`: nothing moved before, and flesh is where it settles."""
        frame = self._track(pose)
        knot = self._law.knot(frame)
        still = self._law.speed(knot, knot, self._tick)
        control = self._limited(self._law.vector(knot, still, still, self._tick))
        settled = self.settled(control)
        return DynamicState(frame, knot, still, control, np.stack([settled, settled]), 0.0, 0.0)

    def settled(self, control: Float64[NumpyArray, "c"]) -> Float64[NumpyArray, "D"]:
        """The fixed point δ = B u + b + Σ a_l δ of a control vector that lasts."""
        driven = self.fitted.inputs @ control + self.fitted.constants
        return driven / (1.0 - self._history.sum(axis=0))

    def step(self, state: DynamicState, pose: Pose, seconds: float) -> DynamicState:
        """`seconds` later, in `pose`."""
        if not seconds > 0:
            raise InputError(f"a step of {seconds} s came; expected a time above 0.")
        frame = self._track(pose)
        pending = state.pending + seconds
        if pending < self._tick * (1 - _ROUNDING):
            return replace(state, frame=frame, pending=pending)
        if seconds >= self._tick * (1 - _ROUNDING):
            share, span = 1.0, pending
        else:  # a fast rate: the knot is a tick after the last one, between two frames
            span = self._tick
            share = min((span - state.pending) / seconds, 1.0)
        at = frame
        if share < 1.0 - _ROUNDING:
            last = state.frame
            at = Track(
                slerp(last.quaternions, frame.quaternions, np.float64(share)),
                last.root + share * (frame.root - last.root),
            )
        after = self._knot(state, at, span)
        return replace(after, frame=frame, pending=max(pending - span, 0.0))

    def coefficients(self, state: DynamicState) -> Float64[NumpyArray, "D"]:
        """δ at the moment of the last frame."""
        ahead = min(state.phase + state.pending / self._tick, 1.0)
        now = state.deltas[0]
        if ahead < _ROUNDING:
            return now
        return now + ahead * (self._next(state.deltas, state.control) - now)

    def run(self, motion: Motion) -> Float64[NumpyArray, "N D"]:
        """δ of every frame of a motion that starts from rest."""
        fps = motion.fps
        if abs(fps - self.predictors.fps) < _ROUNDING:
            return self._run_ticks(motion)
        turns, root = motion.joint_rotations, motion.root_translation
        state = self.start(Pose(turns[0], root[0]))
        found = [self.coefficients(state)]
        for turn, place in zip(turns[1:], root[1:], strict=True):
            state = self.step(state, Pose(turn, place), 1.0 / fps)
            found.append(self.coefficients(state))
        return np.stack(found)

    def _run_ticks(self, motion: Motion) -> Float64[NumpyArray, "N D"]:
        """The same where every frame is a tick: eq. 20, frame by frame."""
        controls = self._limited(self._law.vectors(motion))
        driven = controls @ self.fitted.inputs.T + self.fitted.constants
        found = np.empty_like(driven)
        found[0] = one = two = self.settled(controls[0])
        for k in range(1, len(driven)):
            found[k] = driven[k] + self._history[0] * one + self._history[1] * two
            one, two = found[k], one
        return found

    def _knot(self, state: DynamicState, at: Track, span: float) -> DynamicState:
        """The next knot, `span` seconds after the last, with all ticks up to it."""
        knot = self._law.knot(at)
        speed = self._law.speed(state.knot, knot, span)
        control = self._limited(self._law.vector(knot, speed, state.speed, span))
        length = span / self._tick
        total = state.phase + length
        ticks = int(total + _ROUNDING)
        deltas = state.deltas
        for n in range(1, ticks + 1):
            share = min((n - state.phase) / length, 1.0)
            between = control if share == 1.0 else state.control + share * (control - state.control)
            deltas = np.stack([self._next(deltas, between), deltas[0]])
        return replace(
            state, knot=knot, speed=speed, control=control, deltas=deltas, pending=0.0,
            phase=max(total - ticks, 0.0),
        )  # fmt: skip

    def _next(self, deltas: NumpyArray, control: NumpyArray) -> NumpyArray:
        driven = self.fitted.inputs @ control + self.fitted.constants
        return driven + self._history[0] * deltas[0] + self._history[1] * deltas[1]

    def _track(self, pose: Pose) -> Track:
        turns = np.asarray(pose.joint_rotations, np.float64)[self._law.rows]
        return Track(
            quaternion_from_axis_angle(turns), np.asarray(pose.root_translation, np.float64)
        )

    def _limited(self, control: Float[NumpyArray, "*n c"]) -> Float[NumpyArray, "*n c"]:
        return np.clip(control, -self._limits, self._limits)
