"""Units. Inside: metres, kilograms, seconds, radians, y up. Only `formats` and `cli` convert."""

from typing import Final

METRES_PER_DECIMETRE: Final = 0.1
METRES_PER_MILLIMETRE: Final = 1e-3
GRAVITY: Final = 9.81
"""Gravitational acceleration, m/s²."""
BODY_DENSITY: Final = 1010.0
"""Density of a whole living body with air in the lungs, kg/m³; mass = density × mesh volume."""
