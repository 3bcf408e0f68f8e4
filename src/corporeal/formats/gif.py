"""Animated GIFs, through Pillow: 256 colours a picture, delays in hundredths of a second.

Number of frames and their delay survive; colours are rounded to a palette of each frame's own.
"""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from corporeal._typing import NumpyArray, UInt8
from corporeal.errors import InputError
from corporeal.runtime.files import write_bytes

GIF_FPS: Final = 25.0
"""Frames a second: four hundredths of a second each, which the format can say."""
GIF_SIZE: Final = (480, 360)
"""Width and height of a film, pixels."""


def write_gif(path: str | Path, frames: Iterable[UInt8[NumpyArray, "H W 3"]], fps: float) -> None:
    """Write pictures as a GIF that plays over and over."""
    from PIL import Image

    pictures = [Image.fromarray(frame).quantize(128) for frame in frames]
    if not pictures:
        raise InputError(f"{path} would hold no picture; expected at least one.")
    made = io.BytesIO()
    pictures[0].save(
        made,
        "GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=max(round(100.0 / fps), 1) * 10,
        loop=0,
        optimize=False,
    )
    write_bytes(path, made.getvalue())
