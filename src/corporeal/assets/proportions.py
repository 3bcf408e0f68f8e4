"""Proportions that people vary in and the sculptors' targets do not steer: targets of our own.

Each is one field used with either sign (`head-breadth-incr`, `head-breadth-decr`), so it becomes a
modifier from −1 to 1; see docs/methods/proportions.md.
"""

from importlib.resources.abc import Traversable

import numpy as np

from corporeal.assets.archive import read_archive
from corporeal.assets.targets import Targets

METRES_PER_STEP = 1e-5
"""Offsets are stored as whole hundredths of a millimetre."""


def read_proportions(folder: Traversable | None = None) -> Targets:
    """The proportion targets in the T-pose, from `folder` (the package's own, if None).

    Every field comes twice, the second time with its sign turned. Raises `AssetError` if the file
    is missing or damaged.
    """
    stored = read_archive("proportions", folder)
    skin = stored["vertex_steps"].transpose(0, 2, 1) * np.float32(METRES_PER_STEP)
    names = [f"{name}-{side}" for name in stored["names"] for side in ("incr", "decr")]
    return Targets(tuple(names), _both_signs(skin), _both_signs(stored["joint_offsets"]))


def _both_signs(fields: np.ndarray) -> np.ndarray:
    """Every field, followed by its negative."""
    return np.stack([fields, -fields], axis=1).reshape(-1, *fields.shape[1:])
