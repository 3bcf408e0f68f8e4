"""Flat colour inside closed lines of a picture, by the even–odd rule."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.scene.camera import Camera

SAMPLES = 3
"""Along each edge of a pixel."""


def filled_share(
    section: Float64[NumpyArray, "s 2 3"], camera: Camera, width: int, height: int
) -> Float64[NumpyArray, "H W"]:
    """How much of every pixel lies inside the lines of a section (metres), 0 to 1."""
    columns, rows = SAMPLES * width, SAMPLES * height
    matrix = camera.pixel_from_world(columns, rows)
    seen = section @ matrix[:, :3].T + matrix[:, 3]
    ends = seen[..., :2] / np.maximum(seen[..., 2:], camera.near)
    flips = _crossed(ends, columns, rows)
    inside = np.cumsum(flips, axis=1)[:, :columns] % 2
    return inside.reshape(height, SAMPLES, width, SAMPLES).mean(axis=(1, 3))


def _crossed(ends: Float64[NumpyArray, "s 2 2"], columns: int, rows: int) -> NumpyArray:
    """How many lines pass left of every sample and right of its left neighbour."""
    upper = np.where((ends[:, 0, 1] <= ends[:, 1, 1])[:, None], ends[:, 0], ends[:, 1])
    lower = ends[:, 0] + ends[:, 1] - upper
    first = np.clip(np.ceil(upper[:, 1] - 0.5), 0, rows).astype(int)
    last = np.clip(np.ceil(lower[:, 1] - 0.5), 0, rows).astype(int)  # half open: none counts twice
    count = np.maximum(last - first, 0)
    line = np.repeat(np.arange(len(ends)), count)
    row = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + first[line]
    share = (row + 0.5 - upper[line, 1]) / np.maximum(lower[line, 1] - upper[line, 1], 1e-12)
    x = upper[line, 0] + share * (lower[line, 0] - upper[line, 0])
    column = np.clip(np.ceil(x - 0.5), 0, columns).astype(int)
    return np.bincount(row * (columns + 1) + column, minlength=rows * (columns + 1)).reshape(
        rows, columns + 1
    )
