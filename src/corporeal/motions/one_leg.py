"""Standing on one leg: the weight goes over, then the other foot leaves the ground."""

from dataclasses import replace
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.motions.feet import FootTrack
from corporeal.motions.sketch import Sketch
from corporeal.motions.timing import smooth_step

_SHIFT: Final = 0.6
"""Seconds in which the weight goes over; lifting the foot starts halfway and lasts as long."""


def weight_over(sketch: Sketch) -> Float[NumpyArray, "N"]:
    """0 on both feet, 1 on one."""
    up = smooth_step(sketch.time / _SHIFT)
    return up * (1 - smooth_step((sketch.time - sketch.end + _SHIFT) / _SHIFT))


def lifted(sketch: Sketch) -> Float[NumpyArray, "N"]:
    """0 with the foot on the ground, 1 with it where the free leg is held."""
    up = smooth_step((sketch.time - 0.5 * _SHIFT) / _SHIFT)
    return up * (1 - smooth_step((sketch.time - sketch.end + 1.5 * _SHIFT) / _SHIFT))


def standing_foot(sketch: Sketch, left: bool) -> FootTrack:
    """The foot that bears the weight."""
    sign = 1.0 if left else -1.0
    place = np.array([sign * sketch.stance(0.9), 0.0])
    foot = FootTrack.planted(place, len(sketch.time))
    return replace(foot, load=0.5 + 0.5 * weight_over(sketch))


def free_foot(
    sketch: Sketch, left: bool, held: Float[NumpyArray, "N 3"], *, pitch: float
) -> FootTrack:
    """The foot of the free leg, held at `held` metres from where it stood, going with the pelvis.

    `pitch` is how far it points down while held, radians.
    """
    sign = 1.0 if left else -1.0
    place = np.array([sign * sketch.stance(0.9), 0.0])
    foot, up = FootTrack.planted(place, len(sketch.time)), lifted(sketch)
    return replace(
        foot,
        ball=foot.ball + up[:, None] * held,
        carried=up,
        load=0.5 - 0.5 * weight_over(sketch),
        heel_pitch=pitch * up,
    )
