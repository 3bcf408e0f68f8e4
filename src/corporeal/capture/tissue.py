"""What a person's soft tissue is like, by composition.

Stiffness is the mixture of fat and lean flesh by their shares of the soft volume (Lichtenecker's
rule, between the bounds of layers along and across), density that of two compartments (Siri 1961).
Everybody's flesh has the same damping ratio. People of one composition differ by a factor that is
drawn for each person.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from corporeal.capture.person import Person
from corporeal.capture.seeds import generator
from corporeal.physics.materials import Material

FAT_STIFFNESS: Final = 3.25e3
"""Young's modulus of fat, Pa (Samani, Zubovits and Plewes 2007: 3.25 ± 0.91 kPa, breast fat)."""
USUAL_STIFFNESS: Final = 12e3
"""Of soft flesh with the usual share of fat, Pa: what the deformers take by default."""
USUAL_FAT_SHARE: Final = 0.45
"""Share of fat in the soft volume of an average adult: 20 kg of fat, 27 kg of muscle."""
FAT_DENSITY: Final = 900.0
LEAN_DENSITY: Final = 1100.0
"""kg/m³ (Siri 1961)."""
SPREAD: Final = 0.10
"""Standard deviation of ln(stiffness) between people of one composition. Published ones are larger
(28 % in the study above), but hold the error of the measurement as well."""


@dataclass(frozen=True)
class PersonTissue:
    """A person's flesh as one soft solid."""

    stiffness: float
    """Young's modulus, Pa."""
    density: float
    """Of the whole body without air, kg/m³."""
    damping_ratio: float = Material.damping_ratio
    """Of swings, over critical damping."""

    def controls(self, mass: float) -> dict[str, float]:
        """What a deformer of flesh is told of a body of `mass` kg."""
        return {"stiffness": self.stiffness, "damping_ratio": self.damping_ratio, "mass": mass}

    def facts(self) -> Mapping[str, float]:
        """By name, for a report."""
        return {
            "stiffness": self.stiffness,
            "density": self.density,
            "damping_ratio": self.damping_ratio,
        }


def tissue_of(person: Person, seed: int | None) -> PersonTissue:
    """The soft tissue of a person; `seed` draws what composition does not say, None leaves it."""
    fat, muscle = person.composition.fat_mass, person.composition.muscle_mass
    own = 1.0
    if seed is not None:
        own = math.exp(SPREAD * generator("tissue", seed, person.name).standard_normal())
    stiffness = own * mixed_stiffness(soft_fat_share(fat, muscle))
    density = two_compartment_density(person.fat_share)
    return PersonTissue(stiffness, density)


def soft_fat_share(fat_mass: float, muscle_mass: float) -> float:
    """Share of fat in the volume of fat and muscle; masses in kg."""
    fat, lean = fat_mass / FAT_DENSITY, muscle_mass / LEAN_DENSITY
    return fat / (fat + lean) if fat + lean > 0 else USUAL_FAT_SHARE


def mixed_stiffness(fat_share: float) -> float:
    """E = E_fat^φ E_lean^(1−φ), Pa; E_lean makes the usual share φ₀ as stiff as usual flesh."""
    rest = 1.0 - USUAL_FAT_SHARE
    lean = (USUAL_STIFFNESS / FAT_STIFFNESS**USUAL_FAT_SHARE) ** (1.0 / rest)
    return FAT_STIFFNESS**fat_share * lean ** (1.0 - fat_share)


def two_compartment_density(fat_share: float) -> float:
    """1/ρ = f/ρ_fat + (1 − f)/ρ_lean, with the share f of fat in the mass; kg/m³."""
    return 1.0 / (fat_share / FAT_DENSITY + (1.0 - fat_share) / LEAN_DENSITY)
