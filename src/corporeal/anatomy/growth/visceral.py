"""Fat behind the abdominal wall: how much of a change lies there, and where it puts the wall."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.prisms import Prisms
from corporeal.body.layers import Layers

ALLOMETRY = 1.3
"""k of dVAT/VAT = k dFM/FM: 1.3 ± 0.1 over 37 studies of women and men, whatever made them lose
(Hall and Hallgreen 2008, abstract); taken for gains as well."""
LEAST_VISCERAL = {"female": 0.06, "male": 0.25}
"""Visceral fat of young adults, kg (median of 20 to 24 years, X-ray): where a belly has no bulge to
tell it by."""
MOST_BEHIND = 0.5
"""Share of a change that may lie behind the wall."""


def visceral_change(sex: str | None, visceral: float, fat_mass: float, change: float) -> float:
    """kg by which visceral fat changes with fat mass: VAT ((1 + ΔFM/FM)^k − 1)."""
    known = LEAST_VISCERAL[sex] if sex in LEAST_VISCERAL else min(LEAST_VISCERAL.values())
    own = max(visceral, known)
    ratio = max(0.0, 1.0 + change / max(fat_mass, 1e-9))
    return max(own * (ratio**ALLOMETRY - 1.0), -visceral)


def moved_wall(
    layers: Layers,
    prisms: Prisms,
    way: Float64[NumpyArray, "V 3"],
    volume: float,
) -> Float64[NumpyArray, "V 3"]:
    """The muscle surface moved along `way` (metres; 0 where no wall is) until it encloses `volume`
    m³ more than before, or as much of it as the way leads to."""
    before = float(prisms.volumes(layers.muscle, layers.bone).sum())
    sign = np.sign(volume)
    low, high = 0.0, 1.0
    for _ in range(24):
        middle = (low + high) / 2
        moved = layers.muscle + middle * way
        gained = float(prisms.volumes(moved, layers.bone).sum()) - before
        low, high = (middle, high) if sign * gained < sign * volume else (low, middle)
    return layers.muscle + (low + high) / 2 * way
