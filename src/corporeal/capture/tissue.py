"""What a person's soft tissue is like, by composition and age.

Each tissue has one modulus (`body.tissues`); a person's differ from it by a factor that is drawn,
and muscle's by the fat that grows into it with age. Flesh that is simulated in layers is told those
two moduli, and nothing of the person's shares of fat and muscle, which its layers have. Flesh that
is one solid is told their mixture by volume (Lichtenecker's rule, between the bounds of layers
along and across). Density is that of two compartments (Siri 1961); everybody has the same damping
ratio.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from corporeal.body.tissues import FAT, LIPID_SHARE, MUSCLE
from corporeal.capture.person import Person
from corporeal.capture.seeds import generator
from corporeal.physics.materials import Material

USUAL_FAT_SHARE: Final = 0.5
"""Share of fat tissue in the soft volume of an average adult: 20 kg of fat, 27 kg of muscle."""
LIPID_DENSITY: Final = 900.0
FAT_FREE_DENSITY: Final = 1100.0
"""kg/m³, of all fat and of all the rest of a body, bones among it (Siri 1961)."""
SPREAD: Final = 0.10
"""Standard deviation of ln(modulus) between people of one composition. Published ones are larger
(28 % in Samani 2007's fat), but hold the error of the measurement as well."""
YOUNG: Final = 25.0
"""Years: age of the people whose muscle was measured."""
FAT_INTO_MUSCLE: Final = 0.05 / 45.0
"""Share of fat that muscle takes up a year after `YOUNG`: from 5 to 9 % of its volume at 21 years
to 9 to 14 % at 71 (Yoshiko 2017)."""


@dataclass(frozen=True)
class PersonTissue:
    """A person's fat and muscle, and both as one soft solid."""

    fat_modulus: float
    """Young's modulus of fat tissue, Pa."""
    muscle_modulus: float
    """Young's modulus of muscle in motion, Pa."""
    stiffness: float
    """Young's modulus of fat and muscle as one solid, Pa."""
    density: float
    """Of the whole body without air, kg/m³."""
    damping_ratio: float = Material.damping_ratio
    """Of swings, over critical damping."""

    def controls(self, mass: float, layered: bool) -> dict[str, float]:
        """What a deformer of flesh, in layers or as one solid, is told of a body of `mass` kg."""
        common = {"damping_ratio": self.damping_ratio, "mass": mass}
        if not layered:
            return {"stiffness": self.stiffness, **common}
        ratio = self.muscle_modulus / self.fat_modulus
        return {"stiffness": self.fat_modulus, "muscle": ratio, **common}

    def facts(self) -> Mapping[str, float]:
        """By name, for a report."""
        return {
            "fat_modulus": self.fat_modulus,
            "muscle_modulus": self.muscle_modulus,
            "stiffness": self.stiffness,
            "density": self.density,
            "damping_ratio": self.damping_ratio,
        }


def tissue_of(person: Person, seed: int | None, spread: float = SPREAD) -> PersonTissue:
    """The soft tissue of a person; `seed` draws what composition does not say, with a standard
    deviation `spread` of ln(modulus), None leaves it."""
    own = 1.0
    if seed is not None:
        own = math.exp(spread * generator("tissue", seed, person.name).standard_normal())
    fat, muscle = own * FAT.modulus, own * aged_muscle(person.age)
    share = soft_fat_share(person.composition.fat_mass, person.composition.muscle_mass)
    density = two_compartment_density(person.fat_share)
    return PersonTissue(fat, muscle, mixed_stiffness(share, fat, muscle), density)


def aged_muscle(age: float) -> float:
    """Modulus of muscle at an age in years, Pa, with the fat that has grown into it."""
    taken_up = FAT_INTO_MUSCLE * max(age - YOUNG, 0.0)
    return mixed_stiffness(taken_up, FAT.modulus, MUSCLE.modulus)


def soft_fat_share(fat_mass: float, muscle_mass: float) -> float:
    """Share of fat tissue in the volume of fat tissue and muscle; masses of fat and muscle, kg."""
    fat, muscle = fat_mass / LIPID_SHARE / FAT.density, muscle_mass / MUSCLE.density
    return fat / (fat + muscle) if fat + muscle > 0 else USUAL_FAT_SHARE


def mixed_stiffness(fat_share: float, fat_modulus: float, muscle_modulus: float) -> float:
    """E = E_fat^φ E_muscle^(1−φ) of a share φ of fat in the volume, Pa."""
    return fat_modulus**fat_share * muscle_modulus ** (1.0 - fat_share)


def two_compartment_density(fat_share: float) -> float:
    """1/ρ = f/ρ_fat + (1 − f)/ρ_lean, with the share f of fat in the mass; kg/m³."""
    return 1.0 / (fat_share / LIPID_DENSITY + (1.0 - fat_share) / FAT_FREE_DENSITY)
