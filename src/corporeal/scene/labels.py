"""A name under every body."""

from collections.abc import Sequence

import numpy as np

from corporeal._typing import Float, NumpyArray, UInt8
from corporeal.scene.camera import Camera
from corporeal.scene.legend import lettering
from corporeal.scene.text import Text, write_text

LABEL_ROOM = 0.055
"""Part of the picture's height that labels need below the bodies."""


def label_bodies(
    picture: UInt8[NumpyArray, "H W 3"],
    camera: Camera,
    labels: Sequence[str],
    feet: Float[NumpyArray, "n 3"],
) -> UInt8[NumpyArray, "H W 3"]:
    """A copy of the picture with labels on one line, each below its body's `feet` (metres)."""
    if not any(labels):
        return picture
    height, width = picture.shape[:2]
    size = lettering(height)
    matrix = camera.pixel_from_world(width, height)
    seen = feet @ matrix[:, :3].T + matrix[:, 3]
    columns, rows = (seen[:, :2] / np.maximum(seen[:, 2:], camera.near)).T
    row = min(float(rows.max()) + 0.075 * height, height - 0.55 * LABEL_ROOM * height)
    lines = [
        Text(words, float(column), row, size, "mm")
        for words, column in zip(labels, columns, strict=True)
    ]
    return write_text(picture, lines)
