"""Fat by region: shape targets of our own, which carry a body from BMI 22 to 48 and beyond.

Seven targets (`adiposity-belly`, `-torso`, `-hips`, `-thighs`, `-calves`, `-arms`, `-neck`), each
valid from 0 to 1 in every mixture, for women and men alike; see docs/methods/adiposity.md. Face,
hands and feet do not change.
"""

from importlib.resources.abc import Traversable

import numpy as np

from corporeal.assets.archive import read_archive
from corporeal.assets.targets import Targets

METRES_PER_STEP = 1e-5
"""Offsets are stored as whole hundredths of a millimetre."""


def read_adiposity(folder: Traversable | None = None) -> Targets:
    """The adiposity targets in the T-pose, from `folder` (the package's own, if None).

    At coefficient 1 the thighs have also turned the legs outwards by 4.4°, joints included: heavy
    legs stand apart. Raises `AssetError` if the file is missing or damaged.
    """
    stored = read_archive("adiposity", folder)
    offsets = stored["vertex_steps"].transpose(0, 2, 1) * np.float32(METRES_PER_STEP)
    return Targets(tuple(str(name) for name in stored["names"]), offsets, stored["joint_offsets"])
