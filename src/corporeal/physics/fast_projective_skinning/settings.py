"""The knobs of projective skinning, and their values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from corporeal._typing import Array
from corporeal.body.parameter import Parameter
from corporeal.errors import InputError
from corporeal.physics.materials import Material

LARGEST_STEP = 1 / 120
"""Seconds: frames are divided into steps of at most this, so that a 5 Hz jiggle keeps frequency and
amplitude within 5 % at every frame rate."""

Collisions = Literal["off", "local", "global"]
COLLISIONS: tuple[Collisions, ...] = ("off", "local", "global")
"""Names of the control's numbers, from 0 on."""

CONTROLS = (
    Parameter("stiffness", 1e3, 1e6, 12e3, "Young's modulus of soft flesh", "Pa"),
    Parameter("mass", 0.0, 1e4, 0.0, "mass of the whole body; 0: as water of its volume", "kg"),
    Parameter("damping", 0.0, 1e3, 10.0, "drag of flesh against its bone", "1/s"),
    Parameter("gravity", 0.0, 100.0, 9.81, "downward pull; the rest shape is in balance", "m/s²"),
    Parameter("iterations", 1.0, 1000.0, 5.0, "local-global iterations a step of 1/120 s"),
    Parameter(
        "bone_radii", 0.1, 1.3, 1.0, "factor on the bones' radii, of 3/4 of the way to the skin"
    ),
    Parameter(
        "tissue", 0.0, 1.0, 1.0, "1: stiffness by body part and depth; 0: the same everywhere"
    ),
    Parameter(
        "volume",
        0.0,
        200.0,
        50.0,
        "how many times stiffer against losing volume; 0: as Komaritzan 2022",
    ),
    Parameter("sliding", 0.0, 1.0, 1.0, "1: skin slides over joints; 0: it sticks to the bones"),
    Parameter(
        "dynamics", 0.0, 1.0, 1.0, "1: momentum and jiggle; 0: every frame in static balance"
    ),
    Parameter("ground", 0.0, 1.0, 0.0, "1: flesh rests on the floor y = 0; 0: there is none"),
    Parameter(
        "collisions", 0.0, 2.0, 0.0, "skin on skin: 0 off, 1 local (at joints), 2 global (anywhere)"
    ),
    Parameter("loop", 0.0, 1.0, 0.0, "1: the clip repeats, its last frame being the first again"),
)


@dataclass(frozen=True)
class ProjectiveSettings:
    """One value for every control."""

    stiffness: float = 12e3
    """Pa."""
    mass: float = 0.0
    """Whole body, kg; 0 takes 1000 kg/m³."""
    damping: float = 10.0
    """1/s."""
    gravity: float = 9.81
    """m/s²."""
    iterations: int = 5
    """Local–global iterations a step."""
    bone_radii: float = 1.0
    """Factor on the automatic radii."""
    tissue: float = 1.0
    """Power of the tissue map: 0 is one stiffness for all flesh."""
    volume: float = 50.0
    """Bulk modulus over Young's modulus; 0 lets flesh lose volume."""
    sliding: bool = True
    dynamics: bool = True
    ground: bool = False
    collisions: Collisions = "off"
    """Of skin with skin: none, at joints, anywhere."""
    loop: bool = False

    @classmethod
    def from_controls(cls, controls: Mapping[str, Array] | None) -> "ProjectiveSettings":
        """Settings of named controls; what is not named keeps its default."""
        return cls.from_numbers(control_numbers("projective", CONTROLS, controls))

    @classmethod
    def from_numbers(cls, given: Mapping[str, float]) -> "ProjectiveSettings":
        """Settings of checked numbers by control."""
        return cls(
            stiffness=given.get("stiffness", cls.stiffness),
            mass=given.get("mass", cls.mass),
            damping=given.get("damping", cls.damping),
            gravity=given.get("gravity", cls.gravity),
            iterations=round(given.get("iterations", cls.iterations)),
            bone_radii=given.get("bone_radii", cls.bone_radii),
            tissue=given.get("tissue", cls.tissue),
            volume=given.get("volume", cls.volume),
            sliding=given.get("sliding", 1.0) >= 0.5,
            dynamics=given.get("dynamics", 1.0) >= 0.5,
            ground=given.get("ground", 0.0) >= 0.5,
            collisions=COLLISIONS[round(given.get("collisions", 0.0))],
            loop=given.get("loop", 0.0) >= 0.5,
        )

    def material(self, body_volume: float) -> Material:
        """The flesh of a body of `body_volume` m³."""
        density = self.mass / body_volume if self.mass > 0 else Material.density
        return Material(self.stiffness, density, self.damping)


def control_numbers(
    deformer: str, rows: tuple[Parameter, ...], controls: Mapping[str, Array] | None
) -> dict[str, float]:
    """The number of every control given to a deformer, in the range of its row."""
    known = {row.name: row for row in rows}
    for name in controls or {}:
        if name not in known:
            raise InputError(
                f"deformer {deformer!r} has no control {name!r}; it has {', '.join(known)}."
            )
    return {name: _number(known[name], value) for name, value in (controls or {}).items()}


def _number(row: Parameter, value: Array) -> float:
    """The one number of a control, in its range."""
    numbers = np.asarray(value, np.float64).ravel()
    if numbers.size != 1 or not row.low <= numbers[0] <= row.high:
        raise InputError(
            f"control {row.name!r} is {value}; expected one number from {row.low:g} to "
            f"{row.high:g} {row.unit}".rstrip()
            + "."
        )
    return float(numbers[0])
