"""PNG pictures: 8-bit RGB, sRGB. Pixels survive the round trip; nothing else is kept."""

import io
from pathlib import Path

import numpy as np

from corporeal._typing import NumpyArray, UInt8
from corporeal.errors import FormatError
from corporeal.runtime.files import atomic_write
from corporeal.runtime.input_files import read_input

_MAX_BYTES = 128 * 1024**2
_MAX_PIXELS = 100_000_000


def write_png(path: str | Path, pixels: UInt8[NumpyArray, "H W 3"]) -> None:
    """Write a picture, wholly or not at all."""
    from PIL import Image

    with atomic_write(path) as temporary:
        Image.fromarray(pixels).save(temporary, format="PNG", optimize=False)


def read_png(path: str | Path) -> UInt8[NumpyArray, "H W 3"]:
    """Read a picture as RGB; other modes are converted, transparency is dropped."""
    from PIL import Image

    content = io.BytesIO(read_input(path, at_most=_MAX_BYTES))
    try:
        with Image.open(content, formats=["PNG"]) as image:
            if image.width * image.height > _MAX_PIXELS:
                raise ValueError(f"it has {image.width} × {image.height} pixels")
            return np.asarray(image.convert("RGB"))
    except (OSError, SyntaxError, ValueError, MemoryError, Image.DecompressionBombError) as error:
        raise FormatError(f"{path} is not a PNG picture that can be read: {error}.") from error


def decoded_picture(content: bytes, name: str) -> UInt8[NumpyArray, "H W 3"]:
    """RGB of a PNG or JPEG in memory; `name` is what messages call it."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=["PNG", "JPEG"]) as image:
            if image.width * image.height > _MAX_PIXELS:
                raise ValueError(f"it has {image.width} × {image.height} pixels")
            return np.asarray(image.convert("RGB"))
    except (OSError, SyntaxError, ValueError, MemoryError, Image.DecompressionBombError) as error:
        raise FormatError(f"{name} is not a picture that can be read: {error}.") from error


def read_picture(path: str | Path) -> UInt8[NumpyArray, "H W 3"]:
    """Read a PNG or JPEG as RGB; transparency is dropped."""
    return decoded_picture(read_input(path, at_most=_MAX_BYTES), str(path))
