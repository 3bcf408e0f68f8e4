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
from corporeal.body.template import Template

CREST_SHARE: Final = {"female": 0.347, "male": 0.321}
"""Height of the iliac crest between crotch (0) and seventh neck vertebra (1), mean of ANSUR II
(standard deviation 15 mm of 1589 women, 17 mm of 3266 men)."""
CREST_OVER_NAVEL: Final = {"female": 0.983, "male": 1.005}
"""Waist at the crest over waist at the navel, mean of default bodies of BMI 16 to 48 (each within
0.015)."""


def crest_waist(identity: Identity, gender: float, template: Template | None = None) -> float:
    """Girth of a standing body just above the iliac crest, metres; `gender` 0 female … 1 male."""
    shared = load_default_body().template if template is None else template
    skin = np.asarray(identity.rest_vertices, np.float64)
    points = standing_map(shared)(skin, np.asarray(identity.joints, np.float64))
    return read(plan_for(shared), Girth("trunk", iliac_crest(gender)), points).value


def crest_waist_from_navel(navel_waist: float, gender: float) -> float:
    """The same girth, metres, where only the waist at the navel is known."""
    return _between(CREST_OVER_NAVEL, gender) * navel_waist


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
