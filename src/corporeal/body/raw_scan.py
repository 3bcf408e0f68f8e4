"""A scan as a file holds it: points in a unit and axes that nobody may have said."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from corporeal._typing import Float, Int, NumpyArray


@dataclass(frozen=True, eq=False)
class RawScan:
    """Points, and whatever came with them."""

    points: Float[NumpyArray, "n 3"]
    """In the file's own unit and axes."""
    triangles: Int[NumpyArray, "f 3"] | None = None
    """Corner indices; None for a cloud."""
    normals: Float[NumpyArray, "n 3"] | None = None
    """One a point, any length."""
    colours: Float[NumpyArray, "n 3"] | None = None
    """Red, green and blue, 0 to 1, as screens take them (sRGB)."""
    confidence: Float[NumpyArray, "n"] | None = None
    """0 to 1."""
    landmarks: Mapping[str, Float[NumpyArray, "3"]] = field(default_factory=dict)
    """Known places by name, in the points' unit and axes."""
