"""What is expected of a body beside the survey's dimensions: hips, breasts, and how these hang.

ANSUR II tapes chests in a bra, and has no breast's volume. Bodies whose cup only follows from such
a girth have breasts of half of people's size. So a woman's volume follows from her body mass
index, as that of breasts in 3D scans does, and her chest keeps its girth by a slimmer thorax behind
them. A bra holds large and old breasts higher than they hang: the taped height of the nipple is
lowered by that.
"""

from typing import Final, TypeAlias

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.anthropometry.definitions import NAMES

Numbers: TypeAlias = Float[NumpyArray, "*n"] | float
"""One or many."""
HIP_SPREAD: Final = 0.008
"""σ of the hips' largest girth about the girth at the buttock point, a share of it."""
MID_THIGH: Final = (0.95, 0.25, 0.0015)
"""Girth of the mid-thigh over that at the buttock's crease up to body mass index 24, its power of
the index from there to 35, and its fall for every year past 40. By computed tomography mid-thighs
have 210 and 194 cm² in women and men of 73 years and index 27 (Goodpaster 2003), 297 and 266 in
those of index 34.8 and 32.4 (PMC2828653): 0.82 to 0.86 of what soldiers' girths at the crease
become at that index."""
MID_THIGH_SPREAD: Final = 0.01
"""σ about that, a share of it."""
VOLUME: Final = 430e-6
"""Of one breast at body mass index 25, m³: 3D scans have medians of 410 (18 to 26 years, slim) and
515 ml (all ages and weights)."""
VOLUME_POWER: Final = 2.2
"""Of the body mass index that the volume grows with: by magnetic resonance 976 ml at 25.0, r = 0.83
(Stahl 2023), twice what surface scans of the same women give."""
MOST_VOLUME: Final = 400e-6
"""More is not asked of a body, m³, which body mass index 24 reaches: beneath larger breasts a heavy
woman's skin lies on skin, and no bone surface fits such a crease (docs/evaluation/tissue.md)."""
VOLUME_SPREAD: Final = 0.08
"""σ of the volume about that, a share of it: how closely bodies follow."""
LARGE: Final = 520e-6
"""Breasts up to this volume stay where a bra holds them, m³."""
DROP_OF_SIZE: Final = 0.03
"""How far a nipple hangs below its place in a bra at e times that volume, metres."""
DROP_OF_AGE: Final = 0.0006
"""And for every year past `DROP_AGE`, metres."""
DROP_AGE: Final = 40.0
MOST_DROP: Final = 0.02
"""Of size and age together, metres."""
FIRM: Final = (1.0, 0.4, 0.008)
"""Firmness slider of a woman of 25 years with a breast of 300 ml, less by this at e times the
volume, and less by this a year."""
FIRM_BOUNDS: Final = (0.5, 0.95)
"""Slacker ones fold against a heavy belly."""
GAUNT: Final = (20.5, 16.0)
"""Body mass indices at which bones begin to show, and at which they do in full (`gauntness`)."""
APRON: Final = (32.0, 46.0)
"""Those at which the lower belly begins to hang, and at which it does in full (`belly-apron`)."""
_HIP, _THIGH, _STATURE, _MASS, _NIPPLE = (
    NAMES.index(name)
    for name in ("buttock_circumference", "thigh_circumference", "stature", "mass", "chest_height")
)


def breast_volume(bmi: Numbers) -> Numbers:
    """Volume of one breast of women of these body mass indices (kg/m²) by 3D scans, m³."""
    return VOLUME * (bmi / 25.0) ** VOLUME_POWER


def breast_drop(volume: Numbers, age: Numbers) -> Numbers:
    """How far a nipple hangs below where it is taped in a bra, metres."""
    size = DROP_OF_SIZE * np.maximum(np.log(volume / LARGE), 0.0)
    return np.minimum(size + DROP_OF_AGE * np.maximum(age - DROP_AGE, 0.0), MOST_DROP)


def breast_firmness(volume: Numbers, age: Numbers) -> Numbers:
    """Expected firmness slider."""
    start, of_size, of_age = FIRM
    size = of_size * np.maximum(np.log(volume / 300e-6), 0.0)
    return np.clip(start - size - of_age * np.maximum(age - 25.0, 0.0), *FIRM_BOUNDS)


def expected_volume(log_dimensions: Float[NumpyArray, "*n m"]) -> Numbers:
    """The same of women with these log dimensions, m³."""
    bmi = np.exp(log_dimensions[..., _MASS] - 2 * log_dimensions[..., _STATURE])
    return breast_volume(bmi)


def expected_readings(
    log_dimensions: Float[NumpyArray, "*n m"], age: Numbers, gender: float
) -> Float[NumpyArray, "*n M"]:
    """Logarithms of what all readings of bare bodies are expected to be: dimensions as taped, but
    for the nipple's height, then the companions (those of women: `companion_spreads`)."""
    volume = expected_volume(log_dimensions)
    bare = log_dimensions.copy()
    drop = (1.0 - gender) * breast_drop(volume, age)
    bare[..., _NIPPLE] += np.log1p(-drop * np.exp(-log_dimensions[..., _NIPPLE]))
    asked = np.log(np.minimum(volume, MOST_VOLUME))
    thigh = log_dimensions[..., _THIGH] + mid_thigh(log_dimensions, age)
    companions = np.stack([log_dimensions[..., _HIP], thigh, asked], axis=-1)
    return np.concatenate([bare, companions], axis=-1)


def mid_thigh(log_dimensions: Float[NumpyArray, "*n m"], age: Numbers) -> Numbers:
    """Logarithm of the mid-thigh's girth over that at the buttock's crease."""
    ratio, power, yearly = MID_THIGH
    index = log_dimensions[..., _MASS] - 2 * log_dimensions[..., _STATURE] - np.log(24.0)
    old = np.maximum(age - 40.0, 0.0)
    return np.log(ratio) - power * np.clip(index, 0.0, np.log(35.0 / 24.0)) - yearly * old


def companion_spreads(gender: float) -> Float[NumpyArray, "c"]:
    """σ of the companions, shares of them; a man's breasts are free (∞)."""
    with np.errstate(divide="ignore"):
        breasts = np.float64(VOLUME_SPREAD) / (1.0 - gender)
    return np.array([HIP_SPREAD, MID_THIGH_SPREAD, breasts])


def with_build(
    unknowns: Float[NumpyArray, "*n K"],
    names: tuple[str, ...],
    log_dimensions: Float[NumpyArray, "*n m"],
    age: Numbers,
    gender: float,
) -> Float[NumpyArray, "*n K"]:
    """Expected unknowns (called `names`) with what shows and hangs at a person's body mass index:
    bones of the lean, the belly of the heavy, breasts by size and age."""
    found = with_breasts(unknowns, names, log_dimensions, age, gender)
    bmi = np.exp(log_dimensions[..., _MASS] - 2 * log_dimensions[..., _STATURE])
    for name, (none, full) in (("gauntness", GAUNT), ("belly-apron", APRON)):
        found[..., names.index(name)] = np.clip((bmi - none) / (full - none), 0.0, 1.0)
    return found


def with_breasts(
    unknowns: Float[NumpyArray, "*n K"],
    names: tuple[str, ...],
    log_dimensions: Float[NumpyArray, "*n m"],
    age: Numbers,
    gender: float,
) -> Float[NumpyArray, "*n K"]:
    """Expected unknowns (called `names`) with the firmness of a woman's breasts by size and age."""
    found, k = unknowns.copy(), names.index("firmness")
    firm = breast_firmness(expected_volume(log_dimensions), age)
    found[..., k] += (1.0 - gender) * (firm - found[..., k])
    return found
