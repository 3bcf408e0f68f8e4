"""Materials' pictures as files: JPEG where nothing is transparent, PNG elsewhere."""

import io
from typing import Literal

import numpy as np

from corporeal._typing import NumpyArray, UInt8
from corporeal.body.material import Material

QUALITY = 90
"""Of JPEG; colours are kept at full resolution."""

Suffix = Literal[".jpg", ".png"]


def encoded(pixels: UInt8[NumpyArray, "h w c"]) -> tuple[bytes, Suffix]:
    """A picture as a file's bytes, and the suffix that says which."""
    from PIL import Image

    held = io.BytesIO()
    image = Image.fromarray(pixels)
    if pixels.shape[2] == 4:
        image.save(held, format="PNG", compress_level=6)
        return held.getvalue(), ".png"
    image.save(held, format="JPEG", quality=QUALITY, subsampling=0)
    return held.getvalue(), ".jpg"


def colour_picture(material: Material) -> tuple[bytes, Suffix]:
    """The base colour; with opacity only where it cuts."""
    return encoded(material.colour if material.cutout else material.colour[..., :3])


def roughness_picture(material: Material) -> tuple[bytes, Suffix]:
    """glTF's packing: green is roughness, blue metalness."""
    packed = np.zeros((*material.roughness.shape, 3), np.uint8)
    packed[..., 1] = material.roughness
    packed[..., 2] = round(255 * material.metallic)
    return encoded(packed)


def normal_picture(material: Material) -> tuple[bytes, Suffix] | None:
    """The normal map, if there is one."""
    return None if material.normal is None else encoded(material.normal)
