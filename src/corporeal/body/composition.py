"""What a body is made of, in kilograms."""

import math

from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("fat_mass", "muscle_mass"))
class Composition:
    """Masses of the two tissues that differ most between people of one height."""

    fat_mass: float
    """All fat, below the skin and between the organs, kg."""
    muscle_mass: float
    """Skeletal muscle, kg."""

    def check(self) -> None:
        """Raise `InputError` unless both masses are finite and at least 0."""
        for name in ("fat_mass", "muscle_mass"):
            mass = getattr(self, name)
            if not (math.isfinite(mass) and mass >= 0):
                raise InputError(
                    f"{name} is {mass} kg; expected a finite mass of at least 0. "
                    f"Predictors may give less for very thin people: clamp them to 0."
                )
