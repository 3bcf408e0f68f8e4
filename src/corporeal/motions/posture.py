"""How upright people of an age stand: the upper back grows round.

The thoracic curve measures 41 ± 9° in women's twenties and 60 ± 10° past seventy, and changes after
the fifth decade alone (O'Gorman and Jull 1987); 27 and 42° in both sexes before 36 and past 65
years (Bartynski et al. 2005; abstracts were read). People look ahead all the same, and their arms
hang.
"""

from typing import Final

import numpy as np

BEGINS: Final = 50.0
"""Years until which backs stay as they are."""
A_YEAR: Final = np.deg2rad(0.76)
"""Radians that a back bends further in each year after that: 19° in 25 years."""
OLDEST: Final = 80.0
"""Years; older people stand as at this age."""
SHARES: Final = {"spine1": -0.25, "spine2": 0.6, "spine3": 0.65, "neck": -0.5, "head": -0.5}
"""Turn of every joint about the axis from right to left, of the whole: the loin gives way a little
backwards, the chest leans forward by all of it, neck and head lift the gaze again."""


def stoop_at(age: float) -> float:
    """How much rounder than a young adult's the upper back is at `age` (years), radians."""
    return float(A_YEAR * (min(max(age, BEGINS), OLDEST) - BEGINS))
