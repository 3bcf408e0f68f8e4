"""The shoulder girdle: collar bones that go with the arms (scapulohumeral rhythm).

Of an arm's elevation θ (the angle between the upper arm and straight down along the chest) the
scapula takes a share: nothing in the setting phase, to about 30°, then 1 of every 3.3 degrees
(2.3 : 1, Braman 2009; 2 : 1, Inman 1944). A skeleton with one joint between chest and arm has
clavicle and scapula in one, and the sculptor's measure of them is in its T-pose: it was made from
the sculpted body, arms half down, by raising the collars 12°, two thirds of the 18° by which a
scapula has turned at 90°. So, over a hanging arm, the collar's elevation and retraction are

    e(θ) = ρ (s(θ − 30°) − s(θ − 165°)),    ρ = 12° / 60°
    r(θ) = κ (s(θ − 105°) − s(θ − 165°)),   κ = 10° / 60°

with s(x) = max(x, 0) rounded over ±15° by a parabola: an arm that passes through the vertical,
below or above, moves its collar smoothly. The clavicle goes back by 15° to 29° in a full raise
(Ludewig 2004); r has the part above the horizontal, the sculpted girdle that below.

The collar's zero is the T-pose, θ = 90°: the skeleton's collar turns by e(θ) − e(90°) and r(θ).
That is nothing in a T-pose, 12° down under a hanging arm (as `anthropometry.standing` has it),
12° up and 7.5° back at 150°. The arm keeps its orientation in the world: the shoulder gives back
what the collar takes.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.geometry.rotations import (
    axis_angle_from_matrix,
    geodesic_angle,
    matrix_from_axis_angle,
)

SETTING: Final = float(np.radians(30.0))
"""Elevation of the arm up to which the girdle waits, radians."""
SHARE: Final = 12.0 / 60.0
"""Collar elevation of a degree of the arm's: ρ."""
BACKWARD_FROM: Final = float(np.radians(105.0))
"""Elevation of the arm about which the collar begins to go back, radians."""
BACKWARD_SHARE: Final = 10.0 / 60.0
"""Collar retraction of a degree of the arm's elevation: κ."""
FULL: Final = float(np.radians(165.0))
"""Elevation of the arm about which the girdle is at its end, radians."""
ROUNDING: Final = float(np.radians(15.0))
"""Half the width over which it begins and ends, radians."""
STILL: Final = float(np.radians(1.0))
"""A captured collar that never turns further than this was not captured, radians."""
_SIGNS: Final = {"left": 1.0, "right": -1.0}


def collar_elevation(elevation: Float[NumpyArray, "*batch"]) -> Float[NumpyArray, "*batch"]:
    """How far a collar is above the T-pose's when its arm is raised by `elevation`; radians.

    Arms hang at 0 and are straight up at π; the T-pose is π/2.
    """
    return SHARE * (_ramp(elevation, SETTING) - (0.5 * np.pi - SETTING))


def collar_retraction(elevation: Float[NumpyArray, "*batch"]) -> Float[NumpyArray, "*batch"]:
    """How far a collar is behind the T-pose's when its arm is raised by `elevation`; radians."""
    return BACKWARD_SHARE * _ramp(elevation, BACKWARD_FROM)


def collar_turn(along: Float[NumpyArray, "*batch 3"], side: str) -> Float[NumpyArray, "*batch 3 3"]:
    """Turn of the `side`'s collar, in the chest's frame, under an arm that points `along` there."""
    level = np.hypot(along[..., 0], along[..., 2])
    elevation = np.arctan2(level, -along[..., 1])
    zero, sign = np.zeros_like(elevation), _SIGNS[side]
    up = np.stack([zero, zero, sign * collar_elevation(elevation)], axis=-1)
    back = np.stack([zero, sign * collar_retraction(elevation), zero], axis=-1)
    return matrix_from_axis_angle(back) @ matrix_from_axis_angle(up)


def turned_collars(
    frames: Float[NumpyArray, "N J 3 3"], skeleton: Skeleton, sides: tuple[str, ...]
) -> Float[NumpyArray, "N J 3 3"]:
    """World rotations with the collars of these sides turned; all other joints keep theirs."""
    frames = frames.copy()
    for side in sides:
        collar, shoulder, elbow = _arm(skeleton, side)
        chest = frames[:, skeleton.parents[collar]]
        bone = np.asarray(skeleton.joints, np.float64)[[shoulder, elbow]]
        along = (np.swapaxes(chest, -1, -2) @ frames[:, shoulder]) @ (bone[1] - bone[0])
        turn = chest @ collar_turn(along, side) @ np.swapaxes(chest, -1, -2)
        frames[:, collar] = turn @ frames[:, collar]
    return frames


def still_collars(frames: Float[NumpyArray, "N J 3 3"], skeleton: Skeleton) -> tuple[str, ...]:
    """Sides whose collars never leave the chest's frame: a capture that does not move them."""
    still = []
    for side in sides_with_collars(skeleton):
        collar = skeleton.index(f"{side}_collar")
        chest = frames[:, skeleton.parents[collar]]
        if geodesic_angle(chest, frames[:, collar]).max(initial=0.0) < STILL:
            still.append(side)
    return tuple(still)


def with_girdle(motion: Motion, sides: tuple[str, ...] | None = None) -> Motion:
    """The motion with collars that go with the arms; arms keep their orientation in the world.

    Collars turn on top of what they do already; `sides` are those that have collars unless given.
    """
    skeleton = motion.skeleton
    sides = sides_with_collars(skeleton) if sides is None else sides
    rotations = np.array(motion.joint_rotations, np.float64)
    for side in sides:
        collar, shoulder, elbow = _arm(skeleton, side)
        bone = np.asarray(skeleton.joints, np.float64)[[shoulder, elbow]]
        was, arm = (matrix_from_axis_angle(rotations[:, joint]) for joint in (collar, shoulder))
        now = collar_turn(was @ arm @ (bone[1] - bone[0]), side) @ was
        rotations[:, collar] = axis_angle_from_matrix(now)
        rotations[:, shoulder] = axis_angle_from_matrix(np.swapaxes(now, -1, -2) @ was @ arm)
    return replace(motion, joint_rotations=rotations)


def sides_with_collars(skeleton: Skeleton) -> tuple[str, ...]:
    """Sides of a skeleton that have collar, shoulder and elbow, one below the other."""
    found = []
    for side in _SIGNS:
        chain = [f"{side}_{joint}" for joint in ("elbow", "shoulder", "collar")]
        if set(chain) <= set(skeleton.names):
            elbow, shoulder, collar = (skeleton.index(name) for name in chain)
            if skeleton.parents[elbow] == shoulder and skeleton.parents[shoulder] == collar:
                found.append(side)
    return tuple(found)


def _arm(skeleton: Skeleton, side: str) -> tuple[int, int, int]:
    collar, shoulder, elbow = (
        skeleton.index(f"{side}_{joint}") for joint in ("collar", "shoulder", "elbow")
    )
    return collar, shoulder, elbow


def _ramp(elevation: Float[NumpyArray, "*batch"], start: float) -> Float[NumpyArray, "*batch"]:
    """s(θ − start) − s(θ − FULL), radians."""
    return _rounded(elevation - start) - _rounded(elevation - FULL)


def _rounded(x: Float[NumpyArray, "*batch"]) -> Float[NumpyArray, "*batch"]:
    """max(x, 0), rounded: (x + w)² / 4w for |x| < w."""
    parabola = np.clip(x + ROUNDING, 0.0, 2 * ROUNDING) ** 2 / (4 * ROUNDING)
    return parabola + np.maximum(x - ROUNDING, 0.0)
