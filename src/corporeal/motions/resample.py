"""Another frame rate for the same movement."""

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.geometry.rotations import (
    axis_angle_from_quaternion,
    quaternion_from_axis_angle,
    slerp,
)


def resample(motion: Motion, fps: float) -> Motion:
    """The motion at `fps` frames a second, from the same first frame on.

    Rotations follow the great circle between neighbouring frames (slerp). The root follows a
    Catmull–Rom cubic, whose speed is continuous, so that a faster rate adds no jerks.
    """
    if not (np.isfinite(fps) and 1.0 <= fps <= 10000.0):
        raise InputError(f"motion asked at {fps} frames a second; expected 1 to 10000.")
    # The last frame stays if it falls on the new grid, up to rounding.
    count = int(np.floor(motion.duration * fps * (1 + 1e-12) + 1e-9)) + 1
    return sampled(motion, np.arange(count) * (motion.fps / fps), fps)


def sampled(motion: Motion, places: Float[NumpyArray, "M"], fps: float) -> Motion:
    """The motion at `places`, counted in its own frames (2.5 is halfway from frame 2 to 3)."""
    places = np.clip(places, 0.0, motion.frame_count - 1)
    before = np.minimum(places.astype(np.int64), max(motion.frame_count - 2, 0))
    after = np.minimum(before + 1, motion.frame_count - 1)
    fraction = places - before
    quaternions = quaternion_from_axis_angle(np.asarray(motion.joint_rotations, np.float64))
    turned = slerp(quaternions[before], quaternions[after], fraction[:, None])
    root = _catmull_rom(np.asarray(motion.root_translation, np.float64), before, fraction)
    rotations = axis_angle_from_quaternion(turned)
    return Motion(motion.name, float(fps), rotations, root, motion.skeleton)


def _catmull_rom(
    points: Float[NumpyArray, "N 3"], before: NumpyArray, fraction: Float[NumpyArray, "M"]
) -> Float[NumpyArray, "M 3"]:
    """Cubic through the points whose slope at each is half the way between its neighbours."""
    last = len(points) - 1
    p0, p1, p2, p3 = (points[np.clip(before + step, 0, last)] for step in (-1, 0, 1, 2))
    # Beyond both ends the line goes straight on.
    p0 = np.where((before == 0)[:, None], 2 * p1 - p2, p0)
    p3 = np.where((before + 1 >= last)[:, None], 2 * p2 - p1, p3)
    x = fraction[:, None]
    slope_1, slope_2 = 0.5 * (p2 - p0), 0.5 * (p3 - p1)
    rise = p2 - p1
    return p1 + x * (
        slope_1 + x * (3 * rise - 2 * slope_1 - slope_2 + x * (slope_1 + slope_2 - 2 * rise))
    )
