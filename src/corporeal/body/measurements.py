"""What a body measures."""

import math
from collections.abc import Mapping

from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class Measurements:
    """Measurements of one body by name, SI units: metres, kilograms, m², m³, kg/m²."""

    values: Mapping[str, float]
    """`stature`, `mass`, `volume`, `surface_area`, `bmi`, and every named dimension."""

    def check(self) -> None:
        """Raise `InputError` unless all that every body has is there and all is finite."""
        missing = [name for name in _ALWAYS if name not in self.values]
        if missing:
            raise InputError(
                f"measurements lack {', '.join(missing)}; every body has "
                f"{', '.join(_ALWAYS)}. Use corporeal.anthropometry.measure."
            )
        wrong = [name for name, value in self.values.items() if not math.isfinite(value)]
        if wrong:
            raise InputError(f"measurements {', '.join(wrong)} are not finite; repair the mesh.")

    def __getitem__(self, name: str) -> float:
        if name not in self.values:
            raise InputError(
                f"there is no measurement {name!r}; there are {', '.join(self.values)}."
            )
        return self.values[name]

    @property
    def stature(self) -> float:
        """Height of the top of the head above the ground, metres."""
        return self.values["stature"]

    @property
    def mass(self) -> float:
        """Volume times the density of a living body (`units.BODY_DENSITY`), kg."""
        return self.values["mass"]

    @property
    def volume(self) -> float:
        """Enclosed by the skin, m³."""
        return self.values["volume"]

    @property
    def surface_area(self) -> float:
        """Of the skin, m²."""
        return self.values["surface_area"]

    @property
    def bmi(self) -> float:
        """Mass over stature squared, kg/m²."""
        return self.values["bmi"]

    @property
    def circumferences(self) -> Mapping[str, float]:
        """All girths, as a tape lies, metres."""
        return {k: v for k, v in self.values.items() if k.endswith("_circumference")}


_ALWAYS = ("stature", "mass", "volume", "surface_area", "bmi")
