"""The photographer's studio: lights, backdrop, exposure."""

import math
from dataclasses import dataclass, field

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.errors import InputError
from corporeal.scene.materials import Colour


@dataclass(frozen=True)
class Light:
    """A softbox so far away that it shines from one direction."""

    direction: tuple[float, float, float]
    """From the subject towards the light; need not have unit length."""
    colour: Colour
    """Irradiance on a surface that faces it, linear RGB."""
    angular_radius: float = 0.0
    """Half the angle under which the subject sees it, radians; it softens the shadow's rim."""

    def __post_init__(self) -> None:
        length = math.hypot(*self.direction)
        if not (math.isfinite(length) and length > 0):
            raise InputError(f"light direction is {self.direction}; expected a finite vector.")
        if not 0 <= self.angular_radius < math.pi / 2:
            raise InputError(
                f"light has an angular radius of {self.angular_radius} rad; expected 0 to π/2."
            )

    @property
    def unit(self) -> Float[NumpyArray, "3"]:
        """Unit vector towards the light."""
        return np.asarray(self.direction, np.float64) / math.hypot(*self.direction)


@dataclass(frozen=True)
class Backdrop:
    """A seamless paper roll: ground and wall have one colour, so there is no horizon."""

    top: Colour = (0.56, 0.585, 0.61)
    """Linear RGB as displayed, at the upper edge of the picture."""
    bottom: Colour = (0.70, 0.705, 0.71)
    """Linear RGB as displayed, at the lower edge of the picture."""
    vignette: float = 0.22
    """How much darker the picture's corners are, 0 to 1."""


@dataclass(frozen=True)
class StudioLights:
    """Three soft lights, an even surround and a backdrop. Directions are in the world's axes."""

    key: Light = field(
        default_factory=lambda: Light((-0.60, 1.15, 0.72), (2.75, 2.58, 2.36), math.radians(14))
    )
    """The main light, from the upper left."""
    fill: Light = field(default_factory=lambda: Light((0.9, 0.35, 0.7), (0.36, 0.38, 0.42)))
    """A weak light from the other side."""
    rim: Light = field(
        default_factory=lambda: Light((0.75, 0.75, -0.85), (1.35, 1.42, 1.55), math.radians(12))
    )
    """A light from behind that outlines the body."""
    sky: Colour = (0.50, 0.53, 0.58)
    """Light from straight above, linear RGB."""
    bounce: Colour = (0.34, 0.31, 0.285)
    """Light that the floor throws back, linear RGB."""
    backdrop: Backdrop = field(default_factory=Backdrop)
    """What is behind the actors."""
    exposure: float = 0.42
    """Factor on all light before it is tone-mapped."""
    ground_shadow: float = 0.85
    """Strength of the shadow on the ground, 0 to 1."""
