"""Which muscle surface holds the wanted fat and muscle (equations 4.12 to 4.14).

=========== ============================================================== ==================
m_FL, m_ML  mass of the fat layer and of the muscle layer                   `fat_layer`, …
m_VAT       visceral fat: growth of the abdominal cavity                    `visceral`
m_skin      2 mm of skin, which is not fat                                  `skin`
m_crotch    what the fat layer holds at the crotch that is not fat          `crotch`
m_abd       the abdominal cavity, which is not muscle                       `abdominal`
m_h         κ h², muscle without a layer (heart, face, hands, diaphragm)    `missing_muscle`
FM, MM      λ (m_FL + m_VAT − m_skin − m_crotch),  m_ML − m_abd + m_h       `fat_mass`, …
=========== ============================================================== ==================

λ is not that of Komaritzan 2022 (1): fat tissue is not all fat, and fat mass by X-ray is fat alone.
"""

from dataclasses import dataclass

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.lines import on_lines
from corporeal.anatomy.prisms import Prisms
from corporeal.body.composition import Composition

FAT_DENSITY, MUSCLE_DENSITY = 900.0, 1100.0
"""kg/m³ (Komaritzan 2022)."""
SKIN_THICKNESS = 0.002
"""Metres."""
LIPID_SHARE = 0.9
"""λ: fat in fat tissue, by mass. From 0.8 in the lean to over 0.9 in the obese."""
MISSING_MUSCLE = {"male": 0.7, "female": 2.5}
"""κ, kg/m², fitted with λ to the composition predicted for bodies of all sizes; Komaritzan 2022 has
1.5 and 1.0, for muscle mass by impedance and fat tissue that is all fat."""


@dataclass(frozen=True)
class Corrections:
    """What layers hold that is neither fat nor muscle, or lack, kg."""

    visceral: float
    """m_VAT, visceral fat: growth of the abdominal cavity, kg."""
    skin: float
    """m_skin, skin that the fat layer holds, kg."""
    crotch: float
    """m_crotch, what the fat layer holds between the legs that is no fat, kg."""
    abdominal: float
    """m_abd, the abdominal cavity, which is not muscle, kg."""
    missing_muscle: float
    """m_h = κ h², muscle without a layer: heart, face, hands, diaphragm, kg."""

    def fat_mass(self, fat_layer: float) -> float:
        """FM = λ (m_FL + m_VAT − m_skin − m_crotch) (4.12)."""
        return LIPID_SHARE * (fat_layer + self.visceral - self.skin - self.crotch)

    def muscle_mass(self, muscle_layer: float) -> float:
        """MM = m_ML − m_abd + m_h (4.13)."""
        return muscle_layer - self.abdominal + self.missing_muscle


def best_fat_layer(wanted: Composition, soft_volume: float, known: Corrections) -> float:
    """m_FL that misses both wanted masses least (4.14), kg; `soft_volume` V_ST in m³.

    With ρ = ρ_M/ρ_F, the root of λ (FM − FM*) = ρ (MM − MM*).
    """
    ratio, share = MUSCLE_DENSITY / FAT_DENSITY, LIPID_SHARE
    fat = wanted.fat_mass - share * (known.visceral - known.skin - known.crotch)
    muscle = soft_volume * MUSCLE_DENSITY - known.abdominal + known.missing_muscle
    return (share * fat + ratio * (muscle - wanted.muscle_mass)) / (share**2 + ratio**2)


def balanced_share(
    prisms: Prisms,
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    limits: tuple[Float64[NumpyArray, "V"], Float64[NumpyArray, "V"]],
    fat_layer: float,
) -> tuple[float, float]:
    """Share t of the maximum surface at which the fat layer weighs `fat_layer`, and what it weighs.

    β = (1 − t) β_min + t β_max; fat falls with t, so bisection finds it, or the nearer end.
    """

    def mass(share: float) -> float:
        return fat_at(share, prisms, skin, bone, limits)

    low, high = 0.0, 1.0
    if mass(low) <= fat_layer:
        return low, mass(low)
    if mass(high) >= fat_layer:
        return high, mass(high)
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if mass(middle) > fat_layer else (low, middle)
    share = (low + high) / 2
    return share, mass(share)


def fat_at(
    share: float,
    prisms: Prisms,
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    limits: tuple[Float64[NumpyArray, "V"], Float64[NumpyArray, "V"]],
) -> float:
    """Mass of the fat layer at a share of the maximum muscle surface, kg: most at 0, least at 1."""
    beta = (1 - share) * limits[0] + share * limits[1]
    muscle = on_lines(beta, skin, bone, prisms.layered)
    return FAT_DENSITY * float(prisms.volumes(skin, muscle).sum())
