"""Movements whose arms do not pass through the body: hands on hips that are wider than usual.

A motion that was made for the skeleton alone may hold hands where a heavy person has flesh, and
contacts cannot undo it. Each frame tells which share of its turns from a stand an arm may keep
(`clearance`); the least of those nearby, averaged over them, is what it keeps, so that nothing
moves suddenly. Legs of authored motions stay as they are: feet are on the ground. Those of another
body's clip are spread where they meet (`leg_clearance`).
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.ndimage import minimum_filter1d, uniform_filter1d

from corporeal._typing import Float64, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.template import Template
from corporeal.capture.clearance import ARMS, capsules_of
from corporeal.capture.leg_clearance import asked_spread, spread_legs
from corporeal.capture.person import Person
from corporeal.geometry.rotations import geodesic_angle, matrix_from_axis_angle

_ASKED: Final = 20.0
"""Frames a second that are asked."""
_NEARBY: Final = 0.25
"""Seconds before and after in which an arm gives way."""


@dataclass(frozen=True)
class Cleared:
    """A motion whose limbs are clear, and what that took."""

    motion: Motion
    """Of the same frames."""
    share: float = 1.0
    """The least share of its turns from a stand that an arm keeps."""
    spread: float = 0.0
    """The most that a leg was spread by, radians."""
    turned: float = 0.0
    """The most that any joint was turned by, radians."""

    def notes(self) -> dict[str, float]:
        """For a recording."""
        return {
            "share_of_arm_turns_kept": round(self.share, 3),
            "legs_spread_degrees": round(float(np.rad2deg(self.spread)), 1),
            "most_degrees_cleared": round(float(np.rad2deg(self.turned)), 1),
        }


def cleared_motion(
    motion: Motion,
    person: Person,
    template: Template,
    stand: Float64[NumpyArray, "J 3"],
    *,
    legs: bool = False,
) -> Cleared:
    """The motion with its arms turned back towards `stand`, and with its `legs` spread, where
    limbs would pass through each other or the trunk."""
    capsules = capsules_of(template, person.identity)
    allowed = capsules.allowed(stand)
    given = np.asarray(motion.joint_rotations, np.float64)
    apart, nearby = max(1, round(motion.fps / _ASKED)), round(_NEARBY * motion.fps)

    def everywhere(asked: list[NumpyArray]) -> NumpyArray:
        """What is asked of some frames, of all."""
        return eased(np.repeat(np.stack(asked), apart, axis=0)[: len(given)], nearby)

    rotations, spread, risen = given, np.zeros(len(given)), np.zeros(len(given))
    if legs:
        frames = (asked_spread(capsules, template.skeleton, r, allowed) for r in given[::apart])
        spread = np.abs(everywhere([np.array([-asked]) for asked in frames])[:, 0])
    if spread.any():
        rotations, risen = spread_legs(capsules, template.skeleton, given, spread)
    shares = everywhere([capsules.shares(r, stand, allowed, ARMS) for r in rotations[::apart]])
    if (shares == 1.0).all() and not spread.any():
        return Cleared(motion)
    turned = capsules.turned(rotations, stand, shares)
    root = np.array(motion.root_translation, np.float64)
    root[:, 1] -= risen
    most = geodesic_angle(matrix_from_axis_angle(given), matrix_from_axis_angle(turned)).max()
    clear = replace(motion, joint_rotations=turned, root_translation=root)
    return Cleared(clear, float(shares.min()), float(spread.max()), float(most))


def eased(shares: Float64[NumpyArray, "N k"], nearby: int) -> Float64[NumpyArray, "N k"]:
    """Shares that change smoothly and are nowhere above the given ones.

    The least within 2 m frames either side, averaged twice over m either side, m = `nearby` / 2:
    no average reaches beyond the frames whose least was taken.
    """
    half = max(1, nearby // 2)
    least = minimum_filter1d(shares, 4 * half + 1, axis=0, mode="nearest")
    once = uniform_filter1d(least, 2 * half + 1, axis=0, mode="nearest")
    return uniform_filter1d(once, 2 * half + 1, axis=0, mode="nearest")
