"""Colours of a picture at texture coordinates."""

import numpy as np

from corporeal._typing import Float64, NumpyArray, UInt8


def picture_colours(
    pixels: UInt8[NumpyArray, "H W 3"], uv: Float64[NumpyArray, "n 2"]
) -> Float64[NumpyArray, "n 3"]:
    """Values 0 to 1 between the four nearest pixels; v up, the first row at v = 1, repeated."""
    height, width = pixels.shape[:2]
    # a coordinate of exactly 1 is the picture's edge, not its beginning again
    wrapped = np.where((uv < 0) | (uv > 1), uv - np.floor(uv), uv)
    column = np.clip(wrapped[:, 0] * width - 0.5, 0.0, width - 1.0)
    row = np.clip((1.0 - wrapped[:, 1]) * height - 0.5, 0.0, height - 1.0)
    left, top = np.floor(column).astype(int), np.floor(row).astype(int)
    right, below = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    a, b = (column - left)[:, None], (row - top)[:, None]
    upper = (1 - a) * pixels[top, left] + a * pixels[top, right]
    lower = (1 - a) * pixels[below, left] + a * pixels[below, right]
    return ((1 - b) * upper + b * lower) / 255.0
