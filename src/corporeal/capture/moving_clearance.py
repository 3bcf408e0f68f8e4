"""Movements whose arms do not pass through the body: hands on hips that are wider than usual.

A motion that was made for the skeleton alone may hold hands where a heavy person has flesh, and
contacts cannot undo it. Each frame tells which share of its turns from a stand an arm may keep
(`clearance`); the least of those nearby, averaged over them, is what it keeps, so that nothing
moves suddenly. Legs stay as they are: feet are on the ground.
"""

from dataclasses import replace
from typing import Final

import numpy as np
from scipy.ndimage import minimum_filter1d, uniform_filter1d

from corporeal._typing import Float64, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.template import Template
from corporeal.capture.clearance import ARMS, capsules_of
from corporeal.capture.person import Person

_ASKED: Final = 20.0
"""Frames a second that are asked."""
_NEARBY: Final = 0.25
"""Seconds before and after in which an arm gives way."""


def cleared_motion(
    motion: Motion, person: Person, template: Template, stand: Float64[NumpyArray, "J 3"]
) -> tuple[Motion, float]:
    """The motion with its arms turned back towards `stand`, and the least share they keep."""
    capsules = capsules_of(template, person.identity)
    allowed = capsules.allowed(stand)
    rotations = np.asarray(motion.joint_rotations, np.float64)
    apart = max(1, round(motion.fps / _ASKED))
    asked = np.array([capsules.shares(r, stand, allowed, ARMS) for r in rotations[::apart]])
    if (asked == 1.0).all():
        return motion, 1.0
    shares = eased(np.repeat(asked, apart, axis=0)[: len(rotations)], round(_NEARBY * motion.fps))
    turned = capsules.turned(rotations, stand, shares)
    return replace(motion, joint_rotations=turned), float(shares.min())


def eased(shares: Float64[NumpyArray, "N 5"], nearby: int) -> Float64[NumpyArray, "N 5"]:
    """Shares that change smoothly and are nowhere above the given ones.

    The least within 2 m frames either side, averaged twice over m either side, m = `nearby` / 2:
    no average reaches beyond the frames whose least was taken.
    """
    half = max(1, nearby // 2)
    least = minimum_filter1d(shares, 4 * half + 1, axis=0, mode="nearest")
    once = uniform_filter1d(least, 2 * half + 1, axis=0, mode="nearest")
    return uniform_filter1d(once, 2 * half + 1, axis=0, mode="nearest")
