"""What flesh is made of, in SI units, and how the unitless numbers of Komaritzan 2022 become
them."""

import math
from dataclasses import dataclass

from corporeal.errors import InputError

SEED_STRAIN_WEIGHT = 85.0
"""Weight of the tetrahedral strain constraint in the scale of Komaritzan 2022 (section 3.3)."""
SEED_TIME_STEP = 0.2
"""Time step in the scale of Komaritzan 2022 (section 3.3)."""


@dataclass(frozen=True)
class Material:
    """A soft solid: stress = stiffness · (stretch − 1), without Poisson effect."""

    stiffness: float = 12_000.0
    """Young's modulus, Pa. The strain constraint's weight is this times the element's volume."""
    density: float = 1_000.0
    """kg/m³."""
    damping_ratio: float = 0.12
    """Of swings from 1 to 10 Hz, over critical damping: at least this, at most twice this.
    Of fat and gland it is below 0.2 (loss over stiffness below 0.4: Krouskop 1998)."""

    def __post_init__(self) -> None:
        for name, low in (("stiffness", 0.0), ("density", 0.0), ("damping_ratio", -math.ulp(0.0))):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > low):
                raise InputError(
                    f"material has {name} {value}; expected a finite number "
                    f"{'above' if low == 0.0 else 'of at least'} 0."
                )


def stiffness_from_strain_weight(weight: float, frame_time: float) -> float:
    """Stiffness in Pa of a strain weight of Komaritzan 2022, when one of its steps of 0.2 is one
    frame of `frame_time` seconds: w (0.2/Δt)².

    Time enters Projective Dynamics only as w δt²/m, so stretching time by Δt/0.2 scales weights by
    the inverse square: its 85 is 12 240 Pa at 60 frames a second.
    """
    return weight * (SEED_TIME_STEP / frame_time) ** 2


def damping_from_velocity_share(retained: float, step: float) -> float:
    """Drag in 1/s (`StepRule.damping`) of μ in Komaritzan 2022 (equation 2.14): keeping the share μ
    of the velocity in every step is the implicit drag (1/μ − 1)/δt."""
    return (1.0 / retained - 1.0) / step
