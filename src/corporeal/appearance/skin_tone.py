"""Skin colour on a measured scale: the individual typology angle (ITA).

ITA° = arctan((L* − 50)/b*) of a reflectance in CIELAB (Chardon et al. 1991) orders human skin from
very light (above 55°) over light (41), intermediate (28), tan (10) and brown (−30) to dark (Del
Bino and Bernerd 2013). The angle leaves b* and a* open; here they follow a curve of usual values,
and L* = 50 + b* tan(ITA), so that the colour's own angle is exactly the one asked for.
"""

import math

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.colours import linear_from_lab

_ANGLES_DEG = (-75.0, -60.0, -45.0, -30.0, -10.0, 10.0, 28.0, 41.0, 55.0, 65.0, 75.0)
_B = (5.0, 8.2, 11.5, 15.0, 18.5, 20.0, 19.0, 17.5, 14.5, 11.5, 7.6)
"""b* on the way: yellow is strongest in tanned skin and fades towards both ends."""
_A = (8.5, 9.6, 10.8, 11.8, 12.2, 11.8, 11.2, 10.8, 9.6, 8.4, 7.0)
"""a* on the way."""


def skin_lab(angle_deg: float, undertone: float = 0.0) -> Float[NumpyArray, "3"]:
    """CIELAB of skin with a typology angle; `undertone` is −1 (rosy) to 1 (golden)."""
    b = float(np.interp(angle_deg, _ANGLES_DEG, _B)) * (1 + 0.10 * undertone)
    a = float(np.interp(angle_deg, _ANGLES_DEG, _A)) * (1 - 0.18 * undertone)
    return np.array([50.0 + b * math.tan(math.radians(angle_deg)), a, b])


def skin_colour(angle_deg: float, undertone: float = 0.0) -> Float[NumpyArray, "3"]:
    """Linear RGB reflectance of skin with a typology angle."""
    return np.clip(linear_from_lab(skin_lab(angle_deg, undertone)), 0.005, 1.0)
