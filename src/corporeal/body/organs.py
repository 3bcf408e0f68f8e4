"""Organs, blood, gut content, skeleton and air of a person: neither fat nor muscle nor skin.

Masses of the reference woman (1.63 m, 60 kg) and man (1.76 m, 73 kg) are those of ICRP 89, as two
public tables print them (J Nucl Med; Turner, Atoms, Radiation and Radiation Protection). How they
follow size: the liver and blood by their own published relations, the skeleton with the square of
stature, the others with the body's surface (Mosteller 1987), an assumption; the brain does not.
"""

from math import exp, sqrt
from types import MappingProxyType
from typing import Final

REFERENCE: Final = MappingProxyType({"female": (1.63, 60.0), "male": (1.76, 73.0)})
"""Stature (m) and mass (kg) of the reference adults (ICRP 89)."""

BRAIN: Final = MappingProxyType({"female": 1.3, "male": 1.45})
"""kg (ICRP 89)."""
SKELETON: Final = MappingProxyType({"female": 7.8, "male": 10.5})
"""With marrow and cartilage, kg (ICRP 89)."""
REFERENCE_ORGANS: Final = MappingProxyType(
    {
        "heart with its blood": {"female": 0.62, "male": 0.84},
        "lungs with their blood": {"female": 0.95, "male": 1.2},
        "kidneys, adrenals": {"female": 0.289, "male": 0.324},
        "spleen, pancreas, gall bladder": {"female": 0.306, "male": 0.358},
        "oesophagus, stomach, intestines": {"female": 1.135, "male": 1.21},
        "content of stomach and intestines": {"female": 0.83, "male": 0.9},
        "glands, bladder, womb or prostate": {"female": 0.238, "male": 0.197},
    }
)
"""kg (ICRP 89), of organs that are taken to grow with the body's surface."""
VESSEL_BLOOD: Final = 0.24
"""Share of all blood that is in large arteries (0.06) and veins (0.18): ICRP 89, from memory. What
is in heart and lungs is counted with them; what perfuses the other tissues, with those."""
AIR: Final = MappingProxyType({"female": 2.68e-3, "male": 3.3e-3})
"""Functional residual capacity of the reference adults, m³: ICRP 89, from memory."""
AIR_FALL: Final = 0.0288
"""Of the logarithm of that air per unit of body mass index: at 30 it is 75 % of that at 20, falling
exponentially (Jones and Nzekwu 2006, abstract)."""
ORGAN_DENSITY, BLOOD_DENSITY, SKELETON_DENSITY = 1050.0, 1060.0, 1300.0
"""kg/m³ (ICRU 46, ICRP 89; the skeleton with its marrow, from memory)."""


def organ_masses(sex: str, stature: float, mass: float) -> dict[str, float]:
    """Every named organ's mass, kg; brain, skeleton and the blood of large vessels among them."""
    reference = REFERENCE[sex]
    grown = sqrt(stature * mass / (reference[0] * reference[1]))  # surfaces after Mosteller
    return {
        "brain": BRAIN[sex],
        "skeleton": SKELETON[sex] * (stature / reference[0]) ** 2,
        "liver": liver_mass(sex, mass),
        "blood of large vessels": VESSEL_BLOOD * BLOOD_DENSITY * blood_volume(sex, stature, mass),
        **{name: grown * masses[sex] for name, masses in REFERENCE_ORGANS.items()},
    }


def liver_mass(sex: str, mass: float, age: float = 40.0) -> float:
    """kg of a person of 16 to 50 years: 728 autopsies (Chouker 2004, abstract)."""
    return 0.452 + 0.01634 * mass + 0.01185 * age - 0.166 * (sex == "female")


def blood_volume(sex: str, stature: float, mass: float) -> float:
    """m³ (Nadler, Hidalgo and Bloch 1962)."""
    if sex == "male":
        return 1e-3 * (0.3669 * stature**3 + 0.03219 * mass + 0.6041)
    return 1e-3 * (0.3561 * stature**3 + 0.03308 * mass + 0.1833)


def lung_air(sex: str, stature: float, mass: float) -> float:
    """Air in the lungs after a quiet breath, m³: with the cube of stature, less in the heavy."""
    tall, heavy = REFERENCE[sex]
    more = mass / stature**2 - heavy / tall**2
    return AIR[sex] * (stature / tall) ** 3 * exp(-AIR_FALL * more)


def organ_volume(sex: str, stature: float, mass: float) -> float:
    """Of all named organs, the skeleton and the air in the lungs, m³."""
    masses = organ_masses(sex, stature, mass)
    skeleton = masses.pop("skeleton")
    soft = sum(masses.values()) / ORGAN_DENSITY
    return soft + skeleton / SKELETON_DENSITY + lung_air(sex, stature, mass)


def living_volume(sex: str, stature: float, mass: float, fat_mass: float) -> float:
    """Volume of a person with so much fat and air in the lungs, m³.

    V = m (4.50 + F/m) / 4950 + air: Siri 1961 for the tissues. With 1 010 kg/m³ whatever a body is
    made of, surfaces of women are 3 % smaller than this, of very thin women 4 %.
    """
    return (4.50 * mass + fat_mass) / 4950.0 + lung_air(sex, stature, mass)
