"""Flesh across a cut: it goes with its root, in the root's frame, or begins anew.

Where the root alone jumps, flesh seen from the root goes on as if nothing had happened: with T(t)
from where the root was to where it is, x' = T x and v' = T v + Ṫ x. Momentum against the root is
kept, so that a camera cut shows no jolt. The frame that ends the cut is simulated from a *virtual*
frame before it, which leads to it as the motion goes on after.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
from corporeal.geometry.transforms import invert_rigid, transform_points
from corporeal.motions.cuts import Cut
from corporeal.motions.resample import sampled
from corporeal.physics.solver.integration import State

_MOST_NOTES = 20
"""Cuts that have a note of their own."""


@dataclass(frozen=True)
class Crossing:
    """How a clip gets across a cut."""

    cut: Cut
    """Its frame counts from the clip's first."""
    start: Pose | None
    """The virtual pose a frame before the end of the cut; None where flesh begins anew."""


def moved_frame(
    flesh: State,
    before: Float64[NumpyArray, "2 4 4"],
    after: Float64[NumpyArray, "2 4 4"],
) -> State:
    """Flesh as it moves against a frame at `before`, put into a frame at `after`; each a step
    earlier and now. Contacts of skin with skin and pressures, which do not see the frame, stay."""
    earlier, now = after @ np.asarray(invert_rigid(before))
    rate = (now - earlier) / flesh.step

    def velocities(turn: NumpyArray, positions: NumpyArray, speeds: NumpyArray) -> NumpyArray:
        # v' = R v + Ṫ x
        return speeds @ turn[:3, :3].T + positions @ rate[:3, :3].T + rate[:3, 3]

    return replace(
        flesh,
        positions=np.asarray(transform_points(now, flesh.positions)),
        velocities=velocities(now, flesh.positions, flesh.velocities),
        earlier_positions=np.asarray(transform_points(earlier, flesh.earlier_positions)),
        earlier_velocities=velocities(earlier, flesh.earlier_positions, flesh.earlier_velocities),
    )


def sampled_between_cuts(
    motion: Motion, places: Float64[NumpyArray, "M"], cuts: Sequence[Cut]
) -> tuple[Pose, Mapping[int, Pose]]:
    """The poses at `places`, counted in frames, interpolated on either side of every cut alone; and
    the virtual poses before the ends of cuts whose pose goes on, by the frame of the cut.

    Within a cut, poses lead from the virtual one to its end; where there is none, they are its end.
    """
    rotations, roots, virtual = [], [], {}
    ends = [*(cut.frame for cut in cuts), motion.frame_count]
    for number, end in enumerate(ends):
        first = 0 if number == 0 else ends[number - 1]
        part = _frames(motion, first, end)
        begin, inside = first, (places <= end - 1) if number == 0 else (places > first - 1)
        if number > 0 and cuts[number - 1].pose_goes_on:
            virtual[first] = _virtual(motion, first, end)
            part, begin = _led_in(virtual[first], part), first - 1
        inside &= places <= end - 1
        if not inside.any():
            continue
        poses = sampled(part, places[inside] - begin, motion.fps).poses
        rotations.append(poses.joint_rotations)
        roots.append(poses.root_translation)
    return Pose(np.concatenate(rotations), np.concatenate(roots)), virtual


def _frames(motion: Motion, first: int, end: int) -> Motion:
    return replace(
        motion,
        joint_rotations=np.asarray(motion.joint_rotations, np.float64)[first:end],
        root_translation=np.asarray(motion.root_translation, np.float64)[first:end],
    )


def _led_in(start: Pose, motion: Motion) -> Motion:
    return replace(
        motion,
        joint_rotations=np.concatenate([start.joint_rotations[None], motion.joint_rotations]),
        root_translation=np.concatenate([start.root_translation[None], motion.root_translation]),
    )


def _virtual(motion: Motion, frame: int, end: int) -> Pose:
    """The joints as before the cut at `frame`, the root where it would have come from, had it moved
    as it does after; at rest where the next cut, at `end`, comes at once."""
    rotations = np.array(motion.joint_rotations[frame - 1], np.float64)
    after = min(frame + 1, end - 1)
    root = np.asarray(motion.root_translation, np.float64)
    turns = np.asarray(motion.joint_rotations, np.float64)[[frame, after], 0]
    now, ahead = np.asarray(matrix_from_axis_angle(turns))
    rotations[0] = axis_angle_from_matrix(now @ ahead.T @ now)
    return Pose(rotations, 2 * root[frame] - root[after])


def cut_notes(cuts: Sequence[Cut], names: Sequence[str]) -> tuple[str, ...]:
    """A note a cut, with frame and speed; of very many the first ones."""
    notes = tuple(cut.words(names) for cut in cuts[:_MOST_NOTES])
    more = len(cuts) - len(notes)
    return (*notes, f"{more} more cuts, the last at frame {cuts[-1].frame}") if more > 0 else notes
