"""The waist as NHANES tapes it: level, just above the crest of the hip bone.

ANSUR II, and with it `anthropometry`, tapes the waist at the navel. The crest's height is known for
the people of ANSUR II (iliocristale): it divides the line from crotch to seventh neck vertebra in
the same ratio in all of one sex, to 15–17 mm. So the tape's level is an affine landmark, and the
reading is that of every other girth.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from corporeal.anthropometry.kinds import Girth, Landmark
from corporeal.anthropometry.landmarks import CERVICALE, CROTCH
from corporeal.anthropometry.reading import plan_for, read
from corporeal.anthropometry.standing import standing_map
from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.measurements import Measurements
from corporeal.body.template import Template

CREST_SHARE: Final = {"female": 0.347, "male": 0.321}
"""Height of the iliac crest between crotch (0) and seventh neck vertebra (1), mean of ANSUR II
(standard deviation 15 mm of 1589 women, 17 mm of 3266 men)."""
CREST_OVER_NAVEL: Final = {"female": 1.008, "male": 1.004}
"""Waist at the crest over waist at the navel where both are at one height, and …"""
RATIO_BY_HEIGHT: Final = {"female": -1.78, "male": 0.0}
"""… its change with the crest's height above the navel over stature: regression on 80 bodies a sex,
sliders at random and solved for BMI 16 to 46; standard deviation 0.6 % (women), 0.4 % (men)."""


def crest_waist(identity: Identity, gender: float, template: Template | None = None) -> float:
    """Girth of a standing body just above the iliac crest, metres; `gender` 0 female … 1 male."""
    shared = load_default_body().template if template is None else template
    skin = np.asarray(identity.rest_vertices, np.float64)
    points = standing_map(shared)(skin, np.asarray(identity.joints, np.float64))
    return read(plan_for(shared), Girth("trunk", iliac_crest(gender)), points).value


def crest_waist_from_navel(measured: Measurements, gender: float) -> float:
    """The same girth, metres, where only the measurements of a body are known."""
    navel_waist = measured["waist_circumference"]
    crotch, neck = measured["crotch_height"], measured["cervicale_height"]
    crest = crotch + _between(CREST_SHARE, gender) * (neck - crotch)
    above_navel = (crest - measured["waist_height"]) / measured.stature
    level, slope = _between(CREST_OVER_NAVEL, gender), _between(RATIO_BY_HEIGHT, gender)
    return (level + slope * above_navel) * navel_waist


def iliac_crest(gender: float) -> Landmark:
    """The level of the crest, as a landmark that follows every shape."""
    share = _between(CREST_SHARE, gender)
    return Landmark(
        (*CROTCH.members, *CERVICALE.members),
        (
            *((1 - share) * part for part in CROTCH.shares),
            *(share * part for part in CERVICALE.shares),
        ),
    )


def _between(values: Mapping[str, float], gender: float) -> float:
    return (1 - gender) * values["female"] + gender * values["male"]
