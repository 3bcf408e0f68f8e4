"""Feet that stand as far apart as thick thighs need."""

from typing import Final

import numpy as np

from corporeal.body.identity import Identity
from corporeal.body.template import Template

PRESSED: Final = 0.008
"""Metres that each thigh gives way before the other."""
_BELOW_THE_CROTCH: Final = 0.3
"""Share of the thigh beneath the hip where skin is the crotch's, which touches anyway."""


def least_stance(template: Template, identity: Identity) -> float:
    """Half the distance of the balls of the feet, metres, at which a person's thighs press each
    other by `PRESSED`; negative where feet may cross.

    A leg that goes in by the angle φ takes along what lies s below the hip by s φ, so that inner
    skin x from the plane of symmetry lets it go in by φ ≤ (x + pressed) / s. 0 on bodies whose
    thighs have no name.
    """
    if "left_thigh" not in template.part_names:
        return 0.0
    skeleton, joints = template.skeleton, np.asarray(identity.joints, np.float64)
    hip, knee, ball = (joints[skeleton.index(f"left_{name}")] for name in ("hip", "knee", "foot"))
    thigh = np.asarray(identity.rest_vertices, np.float64)[template.part("left_thigh")]
    below = hip[1] - thigh[:, 1]
    asked = below > _BELOW_THE_CROTCH * (hip[1] - knee[1])
    if not asked.any():
        return 0.0
    turn = float(((thigh[asked, 0] + PRESSED) / below[asked]).min())
    return float(ball[0] - turn * (hip[1] - ball[1]))
