"""The network in time: poses come when they come, dynamic coefficients go out.

Oscillators advance by the time that has really passed, whatever the frame rate (`recurrence`);
velocities are differences over about 1/60 s, to whichever frame was nearest to then.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float32, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.dynamics.neural import network
from corporeal.dynamics.neural.features import (
    FLESHY,
    JOINT_COUNT,
    SPAN,
    UNITS,
    BonePose,
    bone_pose,
    posture,
)
from corporeal.dynamics.neural.model import NeuralModel, Playing
from corporeal.errors import InputError

_BONES, _UNITS = np.array(FLESHY), np.array(UNITS)


@dataclass(frozen=True, eq=False)
class NeuralMoment:
    """What flesh remembers; never changed in place."""

    past: tuple[tuple[float, BonePose], ...]
    """Bones of the last frames, newest first, with the seconds since each; the last entry is never
    looked at, or, infinitely long ago, stands for all the time before the first frame."""
    playing: Playing
    """The oscillators."""
    dynamic: Float32[NumpyArray, "d"]
    """Coefficients of the last frame."""


class NeuralClock:
    """Runs one body's network along with its poses."""

    def __init__(
        self,
        model: NeuralModel,
        person: Float32[NumpyArray, "q"],
        joints: Float[NumpyArray, "J 3"],
        skeleton: Skeleton,
    ) -> None:
        self._model, self._person = model, person
        self._joints, self._skeleton = np.ascontiguousarray(joints, np.float64), skeleton
        self._parents = np.array(skeleton.parents[:JOINT_COUNT], np.int64)

    def start(self, pose: Pose) -> NeuralMoment:
        """At rest in `pose`, for ever until now."""
        bones = self._placed(pose)
        still = np.zeros(self._model.dynamic_count, np.float32)
        past = ((0.0, bones), (np.inf, bones))
        return NeuralMoment(past, self._model.start(self._person), still)

    def step(self, state: NeuralMoment, pose: Pose, seconds: float) -> NeuralMoment:
        """`seconds` later, in `pose`."""
        from corporeal.dynamics.neural.features_cpu import felt_and_seen

        if not seconds > 0:
            raise InputError(f"a step of {seconds} s came; expected a time above 0.")
        now = self._placed(pose)
        past = ((0.0, now), *((age + seconds, bones) for age, bones in state.past))
        span, then = _back(past, SPAN, 0.0)
        longer_span, earlier = _back(past, 2 * span, span)
        felt, seen = felt_and_seen(
            *now, then.centres, then.rotations, earlier.centres, earlier.rotations, span,
            longer_span - span, _BONES, _UNITS,
        )  # fmt: skip
        playing, row = state.playing.step(felt, seen, seconds)
        return NeuralMoment(_recent(past), playing, row)

    def _placed(self, pose: Pose) -> BonePose:
        """The bones of one pose."""
        from corporeal.dynamics.neural.features_cpu import place_bones

        bones = BonePose(*(np.empty((JOINT_COUNT, *size)) for size in ((3,), (3, 3), (3, 3))))
        turns = np.ascontiguousarray(pose.joint_rotations, np.float64)
        root = np.ascontiguousarray(pose.root_translation, np.float64)
        place_bones(turns, self._joints, self._parents, root, *bones)
        return bones

    def coefficients(self, state: NeuralMoment) -> Float32[NumpyArray, "d"]:
        """Of the dynamic offsets, at the last frame."""
        return state.dynamic

    def run(self, motion: Motion) -> Float32[NumpyArray, "N d"]:
        """Dynamic coefficients of every frame of a motion that begins at rest."""
        return self._model.clip_coefficients(motion, self._joints, self._person)

    def static(self, poses: Pose) -> Float32[NumpyArray, "N s"]:
        """Coefficients of what the poses alone do."""
        pose = posture(bone_pose(poses, self._joints, self._skeleton.parents)).astype(np.float32)
        everywhere = np.broadcast_to(self._person, (*pose.shape[:-1], len(self._person)))
        return network.static_coefficients(self._model.parameters, pose, everywhere)


def _back(
    past: tuple[tuple[float, BonePose], ...], seconds: float, beyond: float
) -> tuple[float, BonePose]:
    """The frame nearest to `seconds` ago, longer ago than `beyond`, and how long ago it is.

    The last entry stands for all the time before the first frame.
    """
    frames = [entry for entry in past[:-1] if entry[0] > beyond]
    if np.isinf(past[-1][0]) and (not frames or frames[-1][0] < seconds * (1 - 1e-9)):
        return seconds, past[-1][1]
    return min(frames, key=lambda entry: abs(entry[0] - seconds))


def _recent(
    past: tuple[tuple[float, BonePose], ...],
) -> tuple[tuple[float, BonePose], ...]:
    """Frames that may still be looked back at: three at least, and all of the last few ticks."""
    recent = sum(age <= 3 * SPAN for age, _ in past)
    return past[: max(recent, 3) + 1]
