"""Which muscle surface holds the wanted fat and muscle (equations 4.12 to 4.14).

=========== ============================================================== ==================
m_FL, m_ML  mass of the fat layer and of the muscle layer                   `fat_layer`, …
m_VAT       visceral fat: growth of the abdominal cavity                    `visceral`
m_skin      skin, which is not fat                                          `skin`
m_crotch    male genitals, which the fat layer holds                        `genital`
m_abd       the abdominal cavity: organs (`organ_room`) and visceral fat    `abdominal`
m_tendon    tendons, fasciae, vessels of the muscle layer                   `tendon`
m_h         muscle without a layer, by name in `body.tissues`               `unlayered_muscle`
m_f         fat without a layer: of head and hands, in muscle               `unlayered_fat`
FM          λ (m_FL + m_VAT − m_skin − m_crotch) + m_f                      `fat_mass`
MM          m_ML − m_abd − m_tendon + m_h                                   `muscle_mass`
=========== ============================================================== ==================

λ is not that of Komaritzan 2022 (1): fat tissue is not all fat, and fat mass by X-ray is fat alone.
Nor is m_h its κ h²: what has no layer is named, with published masses.
"""

from collections.abc import Callable
from dataclasses import dataclass

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.building.muscle import vertex_volumes
from corporeal.anatomy.lines import on_lines
from corporeal.anatomy.prisms import Prisms
from corporeal.body.composition import Composition
from corporeal.body.tissues import FAT, LIPID_SHARE, MUSCLE

FAT_DENSITY, MUSCLE_DENSITY = FAT.density, MUSCLE.density
"""kg/m³."""


@dataclass(frozen=True)
class Corrections:
    """What layers hold that is neither fat nor muscle, or lack, kg."""

    visceral: float
    """m_VAT, visceral fat: growth of the abdominal cavity, kg."""
    skin: float
    """m_skin, skin that the fat layer holds, at the density of fat, kg."""
    genital: float
    """m_crotch, male genitals, which the fat layer holds, kg."""
    abdominal: float
    """m_abd, the abdominal cavity (organs, visceral fat) at the density of muscle, kg."""
    tendon: float
    """m_tendon, tendons, fasciae, vessels and nerves of the muscle layer, kg."""
    unlayered_muscle: float
    """m_h, muscle that lies in no layer, kg."""
    unlayered_fat: float
    """m_f, fat that lies in no fat layer and is not visceral, kg."""
    trunk_muscle_fat: float = 0.0
    """Of that, in the muscles of the trunk, kg."""

    def fat_mass(self, fat_layer: float) -> float:
        """FM = λ (m_FL + m_VAT − m_skin − m_crotch) + m_f (4.12)."""
        return LIPID_SHARE * (fat_layer + self.visceral - self.skin - self.genital) + (
            self.unlayered_fat
        )

    def muscle_mass(self, muscle_layer: float) -> float:
        """MM = m_ML − m_abd − m_tendon + m_h (4.13)."""
        return muscle_layer - self.abdominal - self.tendon + self.unlayered_muscle


def best_fat_layer(wanted: Composition, soft_volume: float, known: Corrections) -> float:
    """m_FL that misses both wanted masses least (4.14), kg; `soft_volume` V_ST in m³.

    With ρ = ρ_M/ρ_F, the root of λ (FM − FM*) = ρ (MM − MM*).
    """
    ratio, share = MUSCLE_DENSITY / FAT_DENSITY, LIPID_SHARE
    inside = known.visceral - known.skin - known.genital
    fat = wanted.fat_mass - known.unlayered_fat - share * inside
    muscle = known.muscle_mass(soft_volume * MUSCLE_DENSITY)
    return (share * fat + ratio * (muscle - wanted.muscle_mass)) / (share**2 + ratio**2)


@dataclass(frozen=True, eq=False)
class FatBalance:
    """The muscle surfaces between minimum and maximum, and the fat that they leave by region.

    β = (1 − t) β_min + t β_max, with one t on the trunk and one on the limbs.
    """

    prisms: Prisms
    """Between skin and muscle surface."""
    skin: Float64[NumpyArray, "V 3"]
    """Metres."""
    bone: Float64[NumpyArray, "V 3"]
    """Metres."""
    limits: tuple[Float64[NumpyArray, "V"], Float64[NumpyArray, "V"]]
    """β of the minimum and of the maximum muscle surface."""
    trunk: Float64[NumpyArray, "V"]
    """How much of every vertex is trunk, 0 to 1; the rest is limb."""

    def beta(self, trunk: float, limbs: float) -> Float64[NumpyArray, "V"]:
        """β at shares t of trunk and limbs."""
        share = trunk * self.trunk + limbs * (1.0 - self.trunk)
        return (1 - share) * self.limits[0] + share * self.limits[1]

    def fat(self, trunk: float, limbs: float) -> tuple[float, float]:
        """Mass of the fat layer on trunk and limbs, kg: most at 0, least at 1."""
        muscle = on_lines(self.beta(trunk, limbs), self.skin, self.bone, self.prisms.layered)
        masses = FAT_DENSITY * vertex_volumes(self.prisms, self.skin, muscle)
        return float(masses @ self.trunk), float(masses @ (1.0 - self.trunk))

    def met(self, wanted: float, trunk_share: float) -> tuple[float, float]:
        """t of trunk and limbs at which the fat layer weighs `wanted` kg, `trunk_share` of it on
        the trunk as far as it can; what one region cannot hold, or must, the other makes up for."""
        trunk, limbs = 0.5, 0.5
        for _ in range(3):  # the regions share prisms at their border
            trunk = _root(lambda t, other=limbs: self.fat(t, other)[0], trunk_share * wanted)
            limbs = _root(lambda t, other=trunk: sum(self.fat(other, t)), wanted)
        return _root(lambda t: sum(self.fat(t, limbs)), wanted), limbs


def _root(falling: Callable[[float], float], wanted: float) -> float:
    """Where a function that falls from 0 to 1 is `wanted`, or the nearer end, by bisection."""
    low, high = 0.0, 1.0
    if falling(low) <= wanted:
        return low
    if falling(high) >= wanted:
        return high
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > wanted else (low, middle)
    return (low + high) / 2


TRUNK_FAT = {
    "female": (-3.53754, 0.04205, 0.24692, 9.38105, 0.08321),
    "male": (-2.65673, 0.06863, 0.21735, 7.26582, 0.18665),
}
"""Coefficients of 1, a, x, r and x r of the trunk's fat over squared stature, kg/m², with decades a
past 40 years, the fat mass index x in kg/m² and the waist over stature r: 814 women and 856 men of
18 to 59 years (NHANES 2017–2018, X-ray; `tools/fit_trunk_fat.py`), deviation 1.5 and 1.7 kg."""
TRUNK_SHARES = {"female": (0.35, 0.64), "male": (0.38, 0.64)}
"""Least and most that the trunk has of anybody's fat: nineteen in twenty of those people have more
than the first, all but a few less than the second. Without the first, the straight lines above give
the very slim less than any of them has."""
TRUNK_AGES = (18.0, 60.0)
"""Years between which the people were; younger and older ones count as these."""
USUAL_AGE = 40.0
"""Of a person whose age nobody tells, years."""


def trunk_fat_share(
    sex: str, fat_mass: float, stature: float, waist: float, age: float = USUAL_AGE
) -> float:
    """Share of a person's fat that lies on and in the trunk; masses in kg, stature and waist (just
    above the hip bone) in metres, age in years."""
    index, girth = fat_mass / stature**2, waist / stature
    decades = (min(max(age, TRUNK_AGES[0]), TRUNK_AGES[1]) - USUAL_AGE) / 10.0
    terms = (1.0, decades, index, girth, index * girth)
    trunk = sum(c * term for c, term in zip(TRUNK_FAT[sex], terms, strict=True))
    least, most = TRUNK_SHARES[sex]
    return min(max(trunk / max(index, 1e-9), least), most)


def trunk_layer_share(
    sex: str,
    wanted: Composition,
    stature: float,
    waist: float,
    known: Corrections,
    age: float = USUAL_AGE,
) -> float:
    """Share of the fat layer that lies on the trunk: without visceral fat, with the trunk's skin,
    without the fat in the trunk's muscle. Fat of head and hands is the limbs'."""
    share = trunk_fat_share(sex, wanted.fat_mass, stature, waist, age)
    beside = known.skin + known.genital
    between = known.trunk_muscle_fat
    trunk = (share * wanted.fat_mass - between) / LIPID_SHARE - known.visceral + TRUNK_SKIN * beside
    limbs = ((1.0 - share) * wanted.fat_mass - known.unlayered_fat + between) / LIPID_SHARE
    trunk, limbs = max(trunk, 0.0), max(limbs, 0.0) + (1.0 - TRUNK_SKIN) * beside
    return trunk / (trunk + limbs)


TRUNK_SKIN = 0.36
"""The trunk's part of the skin without the head: 36 of 90 (rule of nines), less shoulders."""
