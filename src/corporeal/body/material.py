"""What a surface is painted with: pictures in its texture space, as engines read them."""

from typing import Literal

import numpy as np

from corporeal._typing import NumpyArray, UInt8
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass

LARGEST_EDGE = 8192
"""Pixels along an edge that a picture may have."""


@pytree_dataclass(static=("name", "kind", "metallic", "double_sided", "cutout"))
class Material:
    """Metallic-roughness paint (glTF 2.0's model). Rows of pictures go down, v goes up."""

    name: str
    """Such as `skin`; names materials and pictures in files."""
    kind: Literal["skin", "cloth", "hair", "eye", "other"]
    """What it is, for renderers that know more than files can say."""
    colour: UInt8[NumpyArray, "h w 4"]
    """Base colour, sRGB, and opacity."""
    roughness: UInt8[NumpyArray, "h w"]
    """0 a mirror, 255 chalk; as many pixels as `colour`."""
    normal: UInt8[NumpyArray, "h w 3"] | None = None
    """Normals in tangent space, (n + 1)/2, green up as in OpenGL; None for a smooth surface."""
    metallic: float = 0.0
    """0 for skin, cloth and hair."""
    double_sided: bool = False
    """Whether the back is seen, too, as of cards of hair."""
    cutout: bool = False
    """Whether texels less than half opaque are not there."""

    def check(self) -> None:
        """Raise `InputError` unless all pictures are of one size."""
        shape = self.colour.shape[:2]
        normal = shape if self.normal is None else self.normal.shape[:2]
        if self.roughness.shape != shape or normal != shape:
            raise InputError(
                f"material {self.name!r} has pictures of {shape}, {self.roughness.shape} and "
                f"{normal} pixels; expected one size."
            )
        if not 1 <= min(shape) <= max(shape) <= LARGEST_EDGE:
            raise InputError(
                f"material {self.name!r} has a picture of {shape} pixels; expected 1 to "
                f"{LARGEST_EDGE} along an edge."
            )

    @property
    def mean_colour(self) -> tuple[float, float, float]:
        """Linear RGB of what is opaque, for programs without textures."""
        from corporeal.body.colours import linear_from_srgb

        opaque = self.colour[..., 3] > 127
        rows = self.colour[opaque][:, :3] if opaque.any() else self.colour[..., :3].reshape(-1, 3)
        red, green, blue = linear_from_srgb(rows[::17] / 255.0).mean(axis=0)
        return float(red), float(green), float(blue)


def plain_material(
    name: str,
    kind: Literal["skin", "cloth", "hair", "eye", "other"],
    colour: tuple[float, float, float],
    roughness: float,
) -> Material:
    """One linear RGB colour all over."""
    from corporeal.body.colours import srgb_from_linear

    rgb = np.round(255 * srgb_from_linear(np.asarray(colour, np.float64)))
    pixel = np.array([*rgb, 255.0]).astype(np.uint8)
    tiles = np.broadcast_to(pixel, (4, 4, 4)).copy()
    return Material(name, kind, tiles, np.full((4, 4), round(255 * roughness), np.uint8))
