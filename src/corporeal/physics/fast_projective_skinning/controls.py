"""What projective skinning can be told."""

from dataclasses import dataclass
from typing import Literal

from corporeal.body.controls import Controls, control
from corporeal.physics.materials import Material

LARGEST_STEP = 1 / 120
"""Seconds: frames are divided into steps of at most this, so that a 5 Hz jiggle keeps frequency and
amplitude within 5 % at every frame rate."""

Collisions = Literal["off", "local", "global"]
COLLISIONS: tuple[Collisions, ...] = ("off", "local", "global")
"""Values of the control, from fewest contacts to most."""
StressFree = Literal["sculpted", "t-pose"]
STRESS_FREE: tuple[StressFree, ...] = ("sculpted", "t-pose")
"""Poses in which flesh may be without stress but for what its weight asks for."""


@dataclass(frozen=True, kw_only=True)
class ProjectiveControls(Controls):
    """Controls of two-layer flesh: what the simulation goes by, and what flags and sliders set."""

    stiffness: float = control(
        12e3,
        low=1e3,
        high=1e6,
        slider=(1e3, 2e5),
        logarithmic=True,
        unit="Pa",
        help="Young's modulus of soft flesh",
    )
    damping_ratio: float = control(
        Material.damping_ratio,
        low=0.0,
        high=1.0,
        slider=(0.0, 0.5),
        help="damping of swings from 1 to 10 Hz over critical damping, at least; 0: none",
    )
    gravity: float = control(
        9.81,
        low=0.0,
        high=100.0,
        slider=(0.0, 30.0),
        unit="m/s²",
        help="downward pull; the stress-free pose is in balance",
    )
    mass: float = control(
        0.0,
        low=0.0,
        high=1e4,
        slider=(0.0, 200.0),
        unit="kg",
        help="mass of the whole body; 0: as water of its volume",
    )
    volume: float = control(
        50.0,
        low=0.0,
        high=200.0,
        help="volume preservation: bulk modulus over Young's modulus; 0: none",
    )
    collisions: Collisions = control(  # noqa: RUF009
        "off",
        help="contact of skin with skin",
        choices={"off": "none", "local": "at joints", "global": "anywhere"},
    )
    ground: bool = control(False, help="flesh rests on the floor y = 0", off="there is no floor")
    iterations: int = control(
        5,
        low=1.0,
        high=1000.0,
        slider=(1.0, 40.0),
        advanced=True,
        help="local-global iterations a step of 1/120 s",
    )
    bone_radii: float = control(
        1.0,
        low=0.1,
        high=1.3,
        advanced=True,
        help="factor on the bones' radii, of 3/4 of the way to the skin",
    )
    tissue: float = control(
        1.0,
        low=0.0,
        high=1.0,
        advanced=True,
        help="1: stiffness by body part and depth; 0: the same everywhere",
    )
    sliding: bool = control(
        True, advanced=True, help="skin slides over joints", off="skin sticks to the bones"
    )
    stress_free: StressFree = control(  # noqa: RUF009
        "sculpted",
        advanced=True,
        help="pose in which flesh is without stress, and in balance under gravity",
        choices={
            "sculpted": "the one that the surface was sculpted in, where that is known",
            "t-pose": "the zero pose, as in Komaritzan 2022",
        },
    )
    untangled: bool = control(
        True,
        advanced=True,
        help="elements stay right side out; anchors in folds give way",
        off="flesh may turn inside out, as that of Komaritzan 2022",
    )
    dynamics: bool = control(
        True,
        advanced=True,
        help="flesh has momentum and jiggles",
        off="every frame is in static balance, without momentum",
        off_flag="static",
    )
    loop: bool = control(
        False,
        advanced=True,
        live=False,
        help="the clip repeats, its last frame being the first again",
        off="the clip is played once",
    )

    def material(self, body_volume: float) -> Material:
        """The flesh of a body of `body_volume` m³."""
        density = self.mass / body_volume if self.mass > 0 else Material.density
        return Material(self.stiffness, density, self.damping_ratio)
