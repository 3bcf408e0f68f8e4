"""Numbers as heat: clay where nothing is, then yellow, red and plum.

Lightness falls steadily along the way, so it can be read in grey and by colour-blind eyes; it
begins light, because the room of the studio is dark.
"""

import numpy as np

from corporeal._typing import Float32, NumpyArray
from corporeal.scene.colour_map import rgb_from_oklab

_ANCHORS = (
    (0.86, 0.004, 0.012),
    (0.81, 0.015, 0.105),
    (0.71, 0.090, 0.130),
    (0.57, 0.165, 0.075),
    (0.42, 0.150, -0.045),
)
"""OKLab lightness, a (green–red), b (blue–yellow)."""


def heat(steps: int = 256) -> Float32[NumpyArray, "n 3"]:
    """Linear RGB from none to most."""
    places = np.linspace(0.0, len(_ANCHORS) - 1.0, steps)
    lab = np.stack(
        [np.interp(places, range(len(_ANCHORS)), c) for c in zip(*_ANCHORS, strict=True)]
    )
    return np.clip(rgb_from_oklab(lab.T), 0.0, 1.0).astype(np.float32)
