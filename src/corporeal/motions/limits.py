"""How far joints turn: the table that authored motions keep.

Ranges follow the American Academy of Orthopaedic Surgeons (Joint Motion: Method of Measuring and
Recording, 1965), counted from the T-pose instead of the anatomical position. They are widened where
one joint here stands for several, or bears weight: the three spine joints share 80° of flexion, 35°
of side bending and 45° of rotation; the collar and the shoulder share 180° of elevation; under load
an ankle flexes by 40°.
"""

import re
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion

LIMITS_DEG: Final = {
    # joint: ranges of the rotation vector about x, y and z on the left side, degrees
    "pelvis": ((-180, 180), (-180, 180), (-180, 180)),
    "hip": ((-125, 30), (-45, 45), (-45, 50)),
    "knee": ((-5, 150), (-10, 10), (-10, 10)),
    "ankle": ((-40, 60), (-35, 35), (-35, 35)),
    "foot": ((-65, 45), (-10, 10), (-10, 10)),
    "spine": ((-20, 35), (-20, 20), (-15, 15)),
    "neck": ((-40, 40), (-50, 50), (-35, 35)),
    "head": ((-35, 35), (-45, 45), (-30, 30)),
    "collar": ((-15, 15), (-25, 25), (-15, 40)),
    "shoulder": ((-90, 100), (-120, 60), (-100, 95)),
    "elbow": ((-10, 10), (-155, 5), (-10, 10)),
    "wrist": ((-90, 90), (-30, 35), (-80, 75)),
    "thumb": ((-60, 60), (-60, 60), (-80, 40)),
    "finger": ((-15, 15), (-25, 25), (-105, 20)),
}


def joint_limits(
    names: tuple[str, ...],
) -> tuple[Float[NumpyArray, "J 3"], Float[NumpyArray, "J 3"]]:
    """Least and greatest turn of the named joints about x, y and z, radians."""
    ranges = np.radians([LIMITS_DEG[_kind(name)] for name in names])
    right = np.array([name.startswith("right_") for name in names])[:, None]
    mirrored = right & np.array([False, True, True])
    low = np.where(mirrored, -ranges[..., 1], ranges[..., 0])
    high = np.where(mirrored, -ranges[..., 0], ranges[..., 1])
    return low, high


def limit_excess(motion: Motion) -> Float[NumpyArray, "J"]:
    """How far every joint goes past its range at worst, radians; 0 where it never does."""
    low, high = joint_limits(motion.skeleton.names)
    rotations = np.asarray(motion.joint_rotations)
    over = np.maximum(rotations - high, low - rotations).max(axis=(0, 2))
    return np.maximum(over, 0.0).astype(np.float64)


def _kind(name: str) -> str:
    stem = re.sub(r"^(left|right)_|\d+$", "", name)
    return "finger" if stem in ("index", "middle", "ring", "pinky") else stem
