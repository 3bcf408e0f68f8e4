"""Fat percentage and muscle mass of people of one sex, from stature, mass, waist and age.

    η = b + β_h ln h + β_s ln(m/(c² h)) + A(age) + R(ln(c/h)),   fat % = f + w ln(1 + e^((η − f)/w))
    muscle / fat-free mass = γ₀ + γ_a age + γ_h ln h + γ_r ln(c/h) + γ_s ln(m/(c² h))

A and R are cubic splines, f is the least fat that living bodies have. The steps of R are at least
max(0, 2 β_s), so that fat rises with the waist both at fixed mass and where mass follows
(`docs/methods/composition.md`). `train.py` fits the coefficients; this file evaluates them.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.anatomy.composition.splines import Knots
from corporeal.anatomy.composition.tape import Tape

AGE_KNOTS: Final = Knots(18.0, 60.0, 4)
"""Years; DXA was taken to the age of 59, and older people count as that old."""
GIRTH_KNOTS: Final = Knots(float(np.log(0.36)), 0.0, 5)
"""ln of waist over stature."""
TYPICAL_STATURE: Final = 1.7
TYPICAL_STOUTNESS: Final = 51.0
"""Metres and kg/m³: where the terms in ln h and in stoutness vanish."""
AGE_COLUMNS: Final = slice(3, 3 + AGE_KNOTS.coefficient_count)
GIRTH_COLUMNS: Final = slice(AGE_COLUMNS.stop, AGE_COLUMNS.stop + GIRTH_KNOTS.coefficient_count)
STOUTNESS_COLUMN: Final = 2
FAT_COLUMNS: Final = GIRTH_COLUMNS.stop
FAT_FLOOR: Final = {"female": 16.0, "male": 8.0}
"""Fat of the leanest healthy bodies as DXA sees it, per cent."""
FLOOR_WIDTH: Final = 8.0
"""Points above the floor over which it is felt."""
FAT_CEILING: Final = 60.0
"""Per cent: the fattest person of the fit has 56."""
SHARE_BOUNDS: Final = (0.36, 0.60)
"""Muscle as a share of fat-free mass in the people of the fit is 0.37 to 0.57."""
DRIFT_PER_YEAR: Final = 0.1
"""Added spread of fat, points for each year beyond the oldest people measured: the slope with age
at fixed BMI that older people show (0.08 for women, 0.13 for men: Gallagher et al. 2000)."""


def fat_design(tape: Tape) -> Float[NumpyArray, "n k"]:
    """One row a person: 1, ln h, ln stoutness, bumps of age, bumps of ln girth ratio."""
    return np.column_stack(
        [
            np.ones_like(tape.mass),
            np.log(tape.stature / TYPICAL_STATURE),
            np.log(tape.stoutness / TYPICAL_STOUTNESS),
            AGE_KNOTS.bumps(tape.age),
            GIRTH_KNOTS.bumps(np.log(tape.girth_ratio)),
        ]
    )


def muscle_design(tape: Tape) -> Float[NumpyArray, "n 5"]:
    """One row a person: 1, age, ln h, ln girth ratio, ln stoutness."""
    return np.column_stack(
        [
            np.ones_like(tape.mass),
            np.clip(tape.age, AGE_KNOTS.low, AGE_KNOTS.high),
            np.log(tape.stature / TYPICAL_STATURE),
            np.log(tape.girth_ratio),
            np.log(tape.stoutness / TYPICAL_STOUTNESS),
        ]
    )


def floored(
    linear: Float[NumpyArray, "n"], floor: float
) -> tuple[Float[NumpyArray, "n"], Float[NumpyArray, "n"]]:
    """Fat percentage for η, and its slope: η itself far above the floor, never below it."""
    above = (linear - floor) / FLOOR_WIDTH
    return floor + FLOOR_WIDTH * np.logaddexp(0.0, above), 0.5 * (1 + np.tanh(0.5 * above))


@dataclass(frozen=True, eq=False)
class CompositionModel:
    """The fit of one sex."""

    fat_floor: float
    """Per cent."""
    fat_coefficients: Float[NumpyArray, "k"]
    """Per cent, in the order of `fat_design`."""
    fat_leverage: Float[NumpyArray, "k k"]
    """Covariance of the coefficients over the residual variance."""
    fat_spread: Float[NumpyArray, "2"]
    """Standard deviation about the fit of people with 30 % fat, points, and its change a point."""
    muscle_coefficients: Float[NumpyArray, "5"]
    """Share of fat-free mass, in the order of `muscle_design`."""
    muscle_spread: float
    """Standard deviation of muscle about the prediction, as a share of muscle: of the prediction of
    what DXA says, and of what DXA says about magnetic resonance, together."""

    def fat_percentage(self, tape: Tape) -> Float[NumpyArray, "n"]:
        """Fat as DXA sees it, per cent of body mass."""
        return np.minimum(self._fat(tape)[0], FAT_CEILING)

    def fat_deviation(self, tape: Tape) -> Float[NumpyArray, "n"]:
        """Standard deviation of a person's fat about the prediction, points of per cent."""
        percentage, slope = self._fat(tape)
        design = slope[:, None] * fat_design(tape)
        at_30, change = self.fat_spread
        spread = np.maximum(at_30 + change * (percentage - 30.0), 0.5 * at_30)
        # h_i = x_i C x_iᵀ
        leverage = np.einsum("ik,kl,il->i", design, self.fat_leverage, design)
        drift = DRIFT_PER_YEAR * np.maximum(tape.age - AGE_KNOTS.high, 0.0)
        return np.sqrt(spread**2 * (1 + leverage) + drift**2)

    def muscle_share(self, tape: Tape) -> Float[NumpyArray, "n"]:
        """Skeletal muscle over fat-free mass."""
        return np.clip(muscle_design(tape) @ self.muscle_coefficients, *SHARE_BOUNDS)

    def muscle_mass(self, tape: Tape) -> Float[NumpyArray, "n"]:
        """Skeletal muscle, kg."""
        return self.muscle_share(tape) * tape.mass * (1 - self.fat_percentage(tape) / 100)

    def _fat(self, tape: Tape) -> tuple[Float[NumpyArray, "n"], Float[NumpyArray, "n"]]:
        return floored(fat_design(tape) @ self.fat_coefficients, self.fat_floor)
