"""Colours of hair, irises and cloth, linear RGB."""

from typing import Final

Colour = tuple[float, float, float]

HAIR: Final[dict[str, Colour]] = {
    "black": (0.018, 0.015, 0.014),
    "dark-brown": (0.036, 0.021, 0.014),
    "brown": (0.085, 0.046, 0.026),
    "auburn": (0.120, 0.040, 0.020),
    "red": (0.260, 0.082, 0.026),
    "blond": (0.400, 0.280, 0.155),
    "grey": (0.260, 0.255, 0.250),
    "white": (0.620, 0.600, 0.570),
}
GREY: Final[Colour] = (0.33, 0.315, 0.295)
"""What hair turns to."""

IRIS: Final[dict[str, tuple[Colour, Colour]]] = {
    "dark": ((0.050, 0.024, 0.012), (0.022, 0.012, 0.008)),
    "brown": ((0.190, 0.092, 0.036), (0.070, 0.036, 0.018)),
    "hazel": ((0.230, 0.130, 0.040), (0.110, 0.115, 0.050)),
    "green": ((0.200, 0.190, 0.070), (0.090, 0.130, 0.075)),
    "blue": ((0.300, 0.390, 0.450), (0.085, 0.170, 0.290)),
    "grey": ((0.330, 0.350, 0.350), (0.150, 0.175, 0.190)),
}
"""Inner and outer part of the iris."""

CLOTH: Final[dict[str, Colour]] = {
    "charcoal": (0.080, 0.085, 0.097),
    "navy": (0.035, 0.052, 0.115),
    "teal": (0.040, 0.140, 0.150),
    "wine": (0.150, 0.030, 0.048),
    "sand": (0.420, 0.330, 0.220),
    "white": (0.620, 0.610, 0.590),
}


def mixed(first: Colour, second: Colour, share: float) -> Colour:
    """`share` of the second colour in the first."""
    red, green, blue = (a + share * (b - a) for a, b in zip(first, second, strict=True))
    return red, green, blue
