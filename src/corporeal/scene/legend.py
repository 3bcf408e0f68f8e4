"""The bar that tells which colour is which number."""

import math

import numpy as np

from corporeal._typing import NumpyArray, UInt8
from corporeal.scene.colour_map import ColourScale
from corporeal.scene.text import INK, Text, text_width, write_text


def srgb_bytes(colours: NumpyArray) -> NumpyArray:
    """8-bit sRGB of linear RGB colours, 0 to 1."""
    low, high = 12.92 * colours, 1.055 * np.maximum(colours, 0.0031308) ** (1 / 2.4) - 0.055
    return np.round(255 * np.where(colours <= 0.0031308, low, high)).astype(np.uint8)


def legend_box(picture_shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    """First column, first row, width and height of the colour bar, pixels."""
    height, width = picture_shape[:2]
    size = lettering(height)
    bar_height = max(round(0.42 * height), 8)
    bar_width = max(round(0.9 * size), 4)
    return width - round(5.2 * size) - bar_width, (height - bar_height) // 2, bar_width, bar_height


def legend_room(width: int, height: int) -> float:
    """Part of the picture's width that a legend needs at the right."""
    return min(6.5 * lettering(height) / width, 0.4)


def lettering(height: int) -> float:
    """Size of letters that suits a picture, pixels."""
    return min(max(0.034 * height, 12.0), 34.0)


def draw_legend(
    picture: UInt8[NumpyArray, "H W 3"], scale: ColourScale
) -> UInt8[NumpyArray, "H W 3"]:
    """A copy of the picture with a colour bar, its ticks, title and unit at the right."""
    column, row, width, height = legend_box(picture.shape)
    size = lettering(picture.shape[0])
    marked = picture.copy()
    positions = 1 - (np.arange(height) + 0.5) / height
    values = scale.low + positions * (scale.high - scale.low)
    marked[row - 1 : row + height + 1, column - 1 : column + width + 1] = INK
    marked[row : row + height, column : column + width] = srgb_bytes(scale.colours(values))[:, None]
    lines = []
    ticks = scale.ticks()
    for tick in ticks:
        y = row + height * (scale.high - tick) / (scale.high - scale.low)
        y = float(min(max(y, row), row + height - 1))
        marked[int(y), column + width : column + width + max(round(size / 3), 2)] = INK
        place = column + width + 0.55 * size
        lines.append(Text(_number(tick, ticks), place, y, 0.9 * size, "lm"))
    title = f"{scale.title} ({scale.unit})" if scale.unit and scale.title else scale.title
    title = title or scale.unit
    right = min(column + width / 2 + text_width(title, size) / 2, picture.shape[1] - 0.4 * size)
    lines.append(Text(title, right, row - 0.7 * size, size, "rd"))
    return write_text(marked, lines)


def _number(tick: float, ticks: NumpyArray) -> str:
    """A tick with as many decimals as its step needs."""
    step = float(ticks[1] - ticks[0]) if len(ticks) > 1 else abs(tick) or 1.0
    if not 1e-4 < step < 1e6:
        return f"{tick:g}"
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{tick:.{decimals}f}".replace("-", "−")
