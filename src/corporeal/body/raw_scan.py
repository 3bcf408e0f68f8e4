"""A scan as a file holds it: points in a unit and axes that nobody may have said."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from corporeal._typing import Float, Int, NumpyArray, UInt8


@dataclass(frozen=True, eq=False)
class ScanTexture:
    """A picture on a scan's triangles."""

    uv: Float[NumpyArray, "u 2"]
    """Texture coordinates, v up, 0 to 1; beyond, the picture is repeated."""
    uv_triangles: Int[NumpyArray, "f 3"]
    """Indices into `uv` of every triangle's corners."""
    pixels: UInt8[NumpyArray, "H W 3"]
    """sRGB; the first row is at v = 1."""


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
    texture: ScanTexture | None = None
    """Of a surface that came with a picture; None without one."""
