"""Skeletal muscle mass from published relations.

Muscle here is skeletal muscle as whole-body magnetic resonance measures it, the fat between muscles
included: not fat-free mass, and not the "muscle mass" of impedance scales, which is larger.
"""

from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray

KIM_ERROR: Final = 1.58
"""Standard error of `muscle_from_limbs` about magnetic resonance, kg (Kim et al. 2002)."""
HEAD_FAT_FREE: Final = {"female": 0.8 * 0.0668 * 61.9, "male": 0.8 * 0.0694 * 73.0}
"""Fat-free mass of the head, kg: share of body mass of de Leva (1996) at his mean body, of which a
fifth is taken as fat."""
LIMB_MINERAL: Final = 0.055
"""Bone mineral as a share of the limbs' fat-free mass."""


def limb_lean_mass(
    fat_free_mass: Float[NumpyArray, "n"], trunk_fat_free_mass: Float[NumpyArray, "n"], sex: str
) -> Float[NumpyArray, "n"]:
    """Appendicular lean soft tissue, kg: what is neither fat, trunk, head nor bone mineral."""
    limbs = fat_free_mass - trunk_fat_free_mass - HEAD_FAT_FREE[sex]
    return (1 - LIMB_MINERAL) * limbs


def muscle_from_limbs(
    limb_lean: Float[NumpyArray, "n"], age: Float[NumpyArray, "n"], sex: str
) -> Float[NumpyArray, "n"]:
    """Whole-body skeletal muscle, kg, from the limbs' lean soft tissue by DXA.

    SM = 1.13 L − 0.02 age + 0.61 [male] + 0.97: Kim et al. 2002 (Am J Clin Nutr 76:378), model 3,
    321 adults of BMI below 35, R² = 0.96.
    """
    return 1.13 * limb_lean - 0.02 * age + 0.61 * (sex == "male") + 0.97


def muscle_from_size(
    mass: Float[NumpyArray, "n"],
    stature: Float[NumpyArray, "n"],
    age: Float[NumpyArray, "n"],
    sex: str,
) -> Float[NumpyArray, "n"]:
    """Skeletal muscle, kg, from body size alone: the comparison, for people who are not obese.

    SM = 0.244 m + 7.80 h + 6.6 [male] − 0.098 age − 3.3: Lee et al. 2000 (Am J Clin Nutr 72:796),
    244 adults of BMI below 30, error 2.8 kg; its term for ancestry is left at zero.
    """
    return 0.244 * mass + 7.80 * stature + 6.6 * (sex == "male") - 0.098 * age - 3.3


def trunk_fat_free(
    trunk_fat: Float[NumpyArray, "n"], trunk_percentage: Float[NumpyArray, "n"]
) -> Float[NumpyArray, "n"]:
    """Fat-free mass of the trunk, kg, from its fat (kg) and fat percentage."""
    return trunk_fat * (100.0 / np.asarray(trunk_percentage) - 1.0)
