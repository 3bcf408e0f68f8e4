"""Positions in 16 bits a number: 0.03 mm steps for a body, half the bytes of single precision."""

from typing import NamedTuple

import numpy as np
from jaxtyping import UInt16

from corporeal._typing import Float32, NumpyArray


class Quantised(NamedTuple):
    """Positions, and how to read them: origin + step · number."""

    numbers: UInt16[NumpyArray, "V 3"]
    """Steps from the origin."""
    origin: tuple[float, float, float]
    """Metres."""
    step: float
    """Metres."""


def quantised(positions: Float32[NumpyArray, "V 3"]) -> Quantised:
    """Positions in their own bounding cube; none is further off than half a step."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    step = max(float((high - low).max()), 1e-6) / 65535.0
    numbers = ((positions - low) * np.float32(1.0 / step) + np.float32(0.5)).astype(np.uint16)
    x, y, z = (float(value) for value in low)
    return Quantised(numbers, (x, y, z), step)
