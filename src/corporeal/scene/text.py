"""Words and legends on pictures, in the font that Pillow carries with it."""

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from corporeal._typing import NumpyArray, UInt8

if TYPE_CHECKING:
    from PIL import ImageFont

INK = (52, 56, 62)
"""Colour of all lettering, sRGB."""


@dataclass(frozen=True)
class Text:
    """A line of text in a picture."""

    words: str
    """What it says."""
    column: float
    """Where the anchor lies, pixels from the left."""
    row: float
    """Where the anchor lies, pixels."""
    size: float = 14.0
    """Height of the font, pixels."""
    anchor: str = "ma"
    """Pillow's two letters: l, m or r across; a (top), m (middle) or d (bottom) down."""


def write_text(
    picture: UInt8[NumpyArray, "H W 3"], lines: list[Text]
) -> UInt8[NumpyArray, "H W 3"]:
    """A copy of the picture with lines of text in it."""
    from PIL import Image, ImageDraw

    image = Image.fromarray(picture)
    draw = ImageDraw.Draw(image)
    for line in lines:
        place = (line.column, line.row)
        draw.text(place, line.words, fill=INK, font=font(line.size), anchor=line.anchor)
    return np.array(image)


@functools.cache
def font(size: float) -> "ImageFont.FreeTypeFont | ImageFont.ImageFont":
    """Pillow's own font at a size in pixels."""
    from PIL import ImageFont

    return ImageFont.load_default(size)


def text_width(words: str, size: float) -> float:
    """Width of a line of text, pixels."""
    return font(size).getlength(words)
