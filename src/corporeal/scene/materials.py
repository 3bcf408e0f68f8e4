"""How surfaces take light: materials and skin tones. Colours are linear RGB, 0 to 1."""

from dataclasses import dataclass
from typing import Final

from corporeal.errors import InputError

Colour = tuple[float, float, float]
"""Linear RGB, 0 to 1 for reflectance."""


@dataclass(frozen=True)
class SurfaceMaterial:
    """What a surface does with light, apart from its colour."""

    specular: float
    """Mirror reflectance seen head-on (0.028 for skin)."""
    roughness: float
    """Width of the highlight, 0 (mirror) to 1 (chalk)."""
    wrap: Colour
    """How far light creeps past the terminator, per channel: red travels furthest under skin."""
    response: float = 0.0
    """1 where light travels under the surface, 2 where it is reflected by strands, else 0."""


SKIN: Final = SurfaceMaterial(
    specular=0.028, roughness=0.48, wrap=(0.23, 0.165, 0.13), response=1.0
)
FABRIC: Final = SurfaceMaterial(specular=0.015, roughness=0.9, wrap=(0.12, 0.12, 0.12))
EYE: Final = SurfaceMaterial(specular=0.04, roughness=0.12, wrap=(0.1, 0.1, 0.1))
HAIR: Final = SurfaceMaterial(specular=0.05, roughness=0.35, wrap=(0.35, 0.33, 0.31), response=2.0)
MATTE: Final = SurfaceMaterial(specular=0.012, roughness=0.8, wrap=(0.2, 0.2, 0.2))

SKIN_TONES: Final[dict[str, Colour]] = {
    "porcelain": (0.78, 0.56, 0.46),
    "light": (0.68, 0.44, 0.325),
    "medium": (0.54, 0.33, 0.225),
    "olive": (0.42, 0.26, 0.165),
    "brown": (0.26, 0.145, 0.092),
    "deep": (0.12, 0.06, 0.036),
}
"""Diffuse reflectance of skin, palest first."""

HAIR_COLOUR: Final[Colour] = (0.035, 0.022, 0.016)
"""Dark brown, for brows, lashes and a shaved scalp."""

PLAIN_COLOUR: Final[Colour] = (0.50, 0.47, 0.44)
"""Clay, for meshes that are not the default body."""


def skin_tone(name: str) -> Colour:
    """Reflectance of a named tone."""
    if name not in SKIN_TONES:
        raise InputError(f"unknown skin tone {name!r}; choose one of {', '.join(SKIN_TONES)}.")
    return SKIN_TONES[name]
