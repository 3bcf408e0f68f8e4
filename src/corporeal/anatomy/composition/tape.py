"""What a tape and a scale say of people, in the three numbers that carry it.

Stature h, mass m and waist c become ln h, the girth ratio c/h, and the stoutness m/(c² h): mass in
the bar that the waist would bound, a density (kg/m³). A body that gains girth all round at one
height (m ∝ c²) changes its girth ratio alone; muscle or flesh away from the belly changes its
stoutness alone.
"""

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class Tape:
    """Some people of one sex."""

    stature: Float[NumpyArray, "n"]
    """Metres."""
    mass: Float[NumpyArray, "n"]
    """Kilograms."""
    waist: Float[NumpyArray, "n"]
    """Girth just above the iliac crest, metres."""
    age: Float[NumpyArray, "n"]
    """Years."""

    def check(self) -> None:
        """Raise `InputError` unless statures, masses and waists are finite and above 0."""
        for name in ("stature", "mass", "waist"):
            values = getattr(self, name)
            if not (np.isfinite(values).all() and (values > 0).all()):
                raise InputError(
                    f"{name} must be finite and above 0 (metres, kilograms); got "
                    f"{values[~(np.isfinite(values) & (values > 0))][:3].tolist()}."
                )

    @property
    def bmi(self) -> Float[NumpyArray, "n"]:
        """Mass over stature squared, kg/m²."""
        return self.mass / self.stature**2

    @property
    def girth_ratio(self) -> Float[NumpyArray, "n"]:
        """Waist over stature."""
        return self.waist / self.stature

    @property
    def stoutness(self) -> Float[NumpyArray, "n"]:
        """Mass over waist² · stature, kg/m³."""
        return self.mass / (self.waist**2 * self.stature)

    def only(self, rows: NumpyArray) -> "Tape":
        """Some of these people, by a mask or by indices."""
        return Tape(self.stature[rows], self.mass[rows], self.waist[rows], self.age[rows])
