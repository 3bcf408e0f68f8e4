"""Units. Inside: metres, kilograms, seconds, radians, y up. Only `formats` and `cli` convert."""

from typing import Final

METRES_PER_DECIMETRE: Final = 0.1
METRES_PER_MILLIMETRE: Final = 1e-3
GRAVITY: Final = 9.81
"""Gravitational acceleration, m/s²."""
BODY_DENSITY: Final = 1010.0
"""Density of a whole living body with air in the lungs, kg/m³; mass = density × mesh volume."""

_READ_IN: Final = {
    "mass": (1.0, "kg", 1),
    "fat_mass": (1.0, "kg", 1),
    "muscle_mass": (1.0, "kg", 1),
    "bmi": (1.0, "kg/m²", 1),
    "volume": (1e3, "litres", 1),
    "surface_area": (1.0, "m²", 2),
    "breast_volume": (1e6, "ml", 0),
}
"""How people read what is no length."""


def reading_unit(name: str) -> tuple[float, str, int]:
    """How people read a measurement: factor from SI, unit, decimals; lengths in cm."""
    return _READ_IN.get(name, (100.0, "cm", 1))
