"""Body fat percentiles of people, and the table that Komaritzan 2022 compares itself with."""

from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray

LEVELS: Final = (5, 10, 25, 50, 75, 90, 95)
"""Percentiles of every row below."""
KYLE_2001: Final = {
    "male": (10.9, 12.6, 15.7, 19.2, 23.5, 27.0, 29.2),
    "female": (18.5, 20.8, 23.8, 28.1, 32.6, 37.5, 40.5),
}
"""Fat, per cent, of 2735 men and 2490 women of western Europe, aged 15 to 98, by impedance with
four electrodes (Kyle et al. 2001, as Komaritzan 2022, section 4.3.2, quotes them)."""
SEED_CAESAR: Final = {
    "male": (10.2, 12.3, 16.0, 20.3, 24.6, 28.1, 30.7),
    "female": (18.6, 21.1, 24.7, 28.5, 33.7, 37.4, 39.3),
}
"""Estimates of Komaritzan 2022 for the 777 men and 919 women of the European CAESAR scans."""
AGE_GROUPS: Final = ((18, 30), (30, 40), (40, 50), (50, 60))
"""Years: from, and below."""


def fat_percentiles(fat_percentage: Float[NumpyArray, "n"]) -> Float[NumpyArray, "7"]:
    """Fat percentage at each of `LEVELS`."""
    return np.percentile(fat_percentage, LEVELS)
