"""PNG pictures: 8-bit RGB, sRGB. Pixels survive the round trip; nothing else is kept."""

import io
from pathlib import Path

import numpy as np

from corporeal._typing import NumpyArray, UInt8
from corporeal.errors import FormatError
from corporeal.runtime.files import atomic_write


def write_png(path: str | Path, pixels: UInt8[NumpyArray, "H W 3"]) -> None:
    """Write a picture, wholly or not at all."""
    from PIL import Image

    with atomic_write(path) as temporary:
        Image.fromarray(pixels).save(temporary, format="PNG", optimize=False)


def read_png(path: str | Path) -> UInt8[NumpyArray, "H W 3"]:
    """Read a picture as RGB; other modes are converted, transparency is dropped."""
    from PIL import Image

    content = io.BytesIO(Path(path).read_bytes())
    try:
        with Image.open(content, formats=["PNG"]) as image:
            return np.asarray(image.convert("RGB"))
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise FormatError(f"{path} is not a PNG picture that can be read: {error}.") from error
