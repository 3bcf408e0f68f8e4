"""Predictors in time: frames of any length in, coefficients of the model's own ticks out.

A model counts in ticks (1/60 s). Poses come when they come: velocities are differences between
knots, which are frames at 60 a second or slower, and points between frames at faster rates, so that
a difference never spans less than a tick. Ticks between two knots get control vectors on the line
between theirs; between ticks the coefficients go towards what the model foresees for the next.
At 60 frames a second every frame is a knot and a tick, and all this is eq. 20 itself.
"""

from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.dynamics import Predictors
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.dynamics.autoregression import Fitted
from corporeal.dynamics.control_vector import (
    control_vectors,
    joint_rows,
    packed_controls,
    relative_turn,
)
from corporeal.errors import InputError
from corporeal.geometry.rotations import (
    matrix_from_quaternion,
    quaternion_from_axis_angle,
    slerp,
)

_ROUNDING = 1e-6
"""Ticks that rounding may be off."""


@dataclass(frozen=True)
class DynamicState:
    """A moment of a prediction; never changed in place."""

    frame_quaternions: Float64[NumpyArray, "J 4"]
    """Driving joints in the last frame, wxyz."""
    frame_root: Float64[NumpyArray, "3"]
    """Root in the last frame, metres."""
    knot_quaternions: Float64[NumpyArray, "J 4"]
    """Driving joints at the last knot."""
    knot_root: Float64[NumpyArray, "3"]
    """Root at the last knot, metres."""
    spin: Float64[NumpyArray, "J 3"]
    """Angular velocities up to the last knot, rad/s."""
    pace: Float64[NumpyArray, "3"]
    """Velocity of the root up to the last knot, m/s, world axes."""
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

    def __init__(self, predictors: Predictors, fitted: Fitted, skeleton: Skeleton) -> None:
        if predictors.differences != "causal":
            raise InputError(
                "the model was trained with forward differences, which look at the next frame; "
                "it cannot run live. Train it with --differences causal."
            )
        self.predictors, self.fitted = predictors, fitted
        self._rows = joint_rows(predictors.joint_names, skeleton)
        self._tick = 1.0 / predictors.fps
        self._limits = np.asarray(predictors.limits, np.float64)
        order = len(fitted.history)
        self._history = np.zeros((2, fitted.inputs.shape[0]))
        self._history[:order] = fitted.history

    def start(self, pose: Pose) -> DynamicState:
        """At rest in `pose`: nothing moved before, and flesh is where it settles."""
        quaternions, root = self._tracks(pose)
        spin, pace = np.zeros((len(quaternions), 3)), np.zeros(3)
        control = self._control(quaternions, spin, spin, pace, pace)
        settled = self.settled(control)
        return DynamicState(
            quaternions, root, quaternions, root, spin, pace, control,
            np.stack([settled, settled]), 0.0, 0.0,
        )  # fmt: skip

    def settled(self, control: Float64[NumpyArray, "c"]) -> Float64[NumpyArray, "D"]:
        """The fixed point δ = B u + b + Σ a_l δ of a control vector that lasts."""
        driven = self.fitted.inputs @ control + self.fitted.constants
        return driven / (1.0 - self._history.sum(axis=0))

    def step(self, state: DynamicState, pose: Pose, seconds: float) -> DynamicState:
        """`seconds` later, in `pose`."""
        if not seconds > 0:
            raise InputError(f"a step of {seconds} s came; expected a time above 0.")
        quaternions, root = self._tracks(pose)
        pending = state.pending + seconds
        if pending < self._tick * (1 - _ROUNDING):
            return replace(state, frame_quaternions=quaternions, frame_root=root, pending=pending)
        if seconds >= self._tick * (1 - _ROUNDING):
            share, span = 1.0, pending
        else:  # a fast rate: the knot is a tick after the last one, between two frames
            span = self._tick
            share = min((span - state.pending) / seconds, 1.0)
        knot_quaternions, knot_root = quaternions, root
        if share < 1.0 - _ROUNDING:
            knot_quaternions = slerp(state.frame_quaternions, quaternions, np.float64(share))
            knot_root = state.frame_root + share * (root - state.frame_root)
        after = self._knot(state, knot_quaternions, knot_root, span)
        left = max(pending - span, 0.0)
        return replace(after, frame_quaternions=quaternions, frame_root=root, pending=left)

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
        p = self.predictors
        controls = control_vectors(motion, p.joint_names, p.differences, p.gravity)
        controls = np.clip(controls, -self._limits, self._limits)
        driven = controls @ self.fitted.inputs.T + self.fitted.constants
        found = np.empty_like(driven)
        found[0] = one = two = self.settled(controls[0])
        for k in range(1, len(driven)):
            found[k] = driven[k] + self._history[0] * one + self._history[1] * two
            one, two = found[k], one
        return found

    def _knot(
        self, state: DynamicState, quaternions: NumpyArray, root: NumpyArray, span: float
    ) -> DynamicState:
        """The next knot, `span` seconds after the last, with all ticks up to it."""
        spin = relative_turn(state.knot_quaternions, quaternions) / span
        pace = (root - state.knot_root) / span
        turning, push = (spin - state.spin) / span, (pace - state.pace) / span
        control = self._control(quaternions, spin, turning, pace, push)
        length = span / self._tick
        total = state.phase + length
        ticks = int(total + _ROUNDING)
        deltas = state.deltas
        for n in range(1, ticks + 1):
            share = min((n - state.phase) / length, 1.0)
            between = control if share == 1.0 else state.control + share * (control - state.control)
            deltas = np.stack([self._next(deltas, between), deltas[0]])
        return replace(
            state,
            knot_quaternions=quaternions, knot_root=root, spin=spin, pace=pace, control=control,
            deltas=deltas, pending=0.0, phase=max(total - ticks, 0.0),
        )  # fmt: skip

    def _next(self, deltas: NumpyArray, control: NumpyArray) -> NumpyArray:
        driven = self.fitted.inputs @ control + self.fitted.constants
        return driven + self._history[0] * deltas[0] + self._history[1] * deltas[1]

    def _tracks(self, pose: Pose) -> tuple[NumpyArray, NumpyArray]:
        turns = np.asarray(pose.joint_rotations, np.float64)[self._rows]
        return quaternion_from_axis_angle(turns), np.asarray(pose.root_translation, np.float64)

    def _control(
        self,
        quaternions: NumpyArray,
        spin: NumpyArray,
        turning: NumpyArray,
        pace: NumpyArray,
        push: NumpyArray,
    ) -> Float[NumpyArray, "c"]:
        own = matrix_from_quaternion(quaternions[0])
        control = packed_controls(spin, turning, own, pace, push, self.predictors.gravity)
        return np.clip(control, -self._limits, self._limits)
