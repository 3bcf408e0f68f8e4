"""Where the body's weight is: segment masses, and the centre of mass of a pose.

Masses and centres of the segments are de Leva's (1996, Journal of Biomechanics 29(9), table 4),
the mean of women and men; a segment's centre lies on the line between two joints.
"""

from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.skeleton import Skeleton

SEGMENTS: Final = (
    # from, to, share of the body's mass, centre as a share of the way
    ("head", "head", 0.0681, 0.0),
    ("spine3", "neck", 0.1570, 0.30),
    ("spine1", "spine3", 0.1556, 0.50),
    ("pelvis", "spine1", 0.1184, 0.20),
    ("left_shoulder", "left_elbow", 0.0263, 0.576),
    ("left_elbow", "left_wrist", 0.0150, 0.457),
    ("left_wrist", "left_middle1", 0.0059, 0.768),
    ("left_hip", "left_knee", 0.1447, 0.385),
    ("left_knee", "left_ankle", 0.0457, 0.442),
    ("left_ankle", "left_foot", 0.0133, 0.430),
)
"""The left side; the right mirrors it."""


def centre_of_mass(
    skeleton: Skeleton, posed_joints: Float[NumpyArray, "N J 3"]
) -> Float[NumpyArray, "N 3"]:
    """Centre of mass of a posed body from its joint centres, metres."""
    total = np.zeros((len(posed_joints), 3))
    mass = 0.0
    for start, end, share, along in (*SEGMENTS, *_right_side()):
        first = posed_joints[:, skeleton.index(start)]
        last = posed_joints[:, skeleton.index(end)]
        total += share * (first + along * (last - first))
        mass += share
    return total / mass


def _right_side() -> list[tuple[str, str, float, float]]:
    return [
        (start.replace("left", "right"), end.replace("left", "right"), share, along)
        for start, end, share, along in SEGMENTS
        if start.startswith("left")
    ]
