"""The tissues of a body: modulus, density and damping of each, in one place, with their sources.

A modulus here is Young's modulus at small strain, Pa: that of one tissue alone, everywhere in the
body. What a body's flesh is like as a whole follows from how much of each lies where, and is never
put into these numbers. Published moduli spread fourfold and more with method, depth and strain, so
each says how it was measured.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np


@dataclass(frozen=True)
class Tissue:
    """One soft tissue."""

    modulus: float
    """Young's modulus at small strain, Pa."""
    density: float
    """kg/m³."""
    damping_ratio: float
    """Of free swings, over critical damping."""


FAT: Final = Tissue(3.25e3, 920.0, 0.12)
"""Fat tissue below the skin. Modulus: 3.25 ± 0.91 kPa, excised breast fat, indented by some
per cent (Samani, Zubovits and Plewes 2007); in vivo 2.2 kPa (3 × 0.75) in the buttock and 9 kPa
(3 × 3.0) in the thigh by magnetic resonance elastography at 50 to 120 Hz, 26 kPa under the lightest
press (Isogai 2022). Density: 920 to 940 (Kay and Laby); two parts, lipid of 900 and the rest of
1 060, make 920 at `LIPID_SHARE`. Damping: below 0.2, as loss is below 0.4 of storage (Krouskop
1998)."""

MUSCLE: Final = Tissue(36e3, 1060.0, 0.12)
"""Skeletal muscle in motion. Modulus: three times the shear modulus, 3.7 to 4.2 kPa at rest (thigh,
magnetic resonance elastography, Bensamoun 2006, Chakouch 2015: 11 to 13 kPa) and 50 kPa or more at
full effort; it grows in proportion to effort (Wang 2014, vastus intermedius), so that 36 kPa is
muscle at about a sixth of it. Density: 1 060 (Mendez and Keys 1960). Damping: as of fat; that of
muscle rises with effort (Wakeling 2001), and no number was found."""

GLAND: Final = Tissue(1.9e3, 980.0, 0.2)
"""A breast as a whole: fat, gland, ligaments and the skin that holds them, since layers have no
skin of their own. Modulus: twice the shear modulus of 0.96 kPa of living breasts that were pulled
(Suh 2024; the energy of flesh here has E = 2 G); a layer of 6 cm then swings at 4 Hz in shear,
√(G/ρ)/4t, where breasts are found to resonate (Chen 2013). Without its skin a breast is softer, 0.2
and 0.3 kPa by the shapes it takes prone, supine and tilted (Mîra 2018, whose skin has 4 kPa), small
samples are stiffer, 1.9 to 3.3 kPa (elastography, indentation). Density: 980 ± 50, weighed (Chan
2019). Damping: 0.215 in free vibration (Chen 2013)."""

SKIN: Final = Tissue(4e3, 1100.0, 0.12)
"""Epidermis and dermis. Modulus: 4 kPa on a breast that hangs (Mîra 2018), at strains below those
at which its fibres are straight; excised back skin then has 1.2 MPa and more (Ní Annaidh 2012).
Layers hold it as the outermost part of the fat, without a modulus of its own. Density: 1 100
(ICRP 89)."""

SKIN_TENSION: Final = 500.0
"""Modulus times thickness of the skin in its plane, N/m, for strains between those that take up its
slack and those at which its fibres are straight: 0.3 to 0.4 MPa over `SKIN_THICKNESS`. Published
moduli of skin are from 5 kPa to 140 MPa (a review: Kalra 2016); of 300, 500 and 1 000 N/m it is the
least with which the thighs of a heavy woman show no lumps after a landing."""

LIPID_SHARE: Final = 0.85
"""Fat in fat tissue, by mass: 0.80 in the reference adult (ICRP 89), over 0.9 in the obese."""

SKIN_THICKNESS: Final = {"female": 0.0013, "male": 0.0016}
"""Metres: skin of 2.3 and 3.3 kg (ICRP 89) over 1.66 and 1.90 m²."""

UNLAYERED_MUSCLE: Final = {
    "iliacus and psoas": 0.034,
    "diaphragm, between the ribs": 0.030,
    "between tibia and fibula, radius and ulna": 0.015,
    "head": 0.012,
    "subscapularis": 0.012,
    "pelvic floor, deep rotators of the hip": 0.007,
    "hands": 0.006,
}
"""Skeletal muscle that lies inside the bone surface or where no layers are, as shares of all of it.
Iliacus and psoas: 0.45 l a side (Handsfield 2014), subscapularis 0.16 l (Holzbaur 2007), of 27 l;
what a bone surface that bridges two bones encloses; the others from masses of single muscles, known
to a third."""

TENDON_SHARE: Final = 0.05
"""Tendons, fasciae, vessels and nerves between the muscles over the mass of muscle: about 1.5 kg in
the reference man. An estimate, known to a factor of two."""

GENITAL_MASS: Final = {"female": 0.0, "male": 0.2}
"""Of testes, scrotum and penis, which lie in the fat layer and are no fat, kg; what covers a
woman's pubic bone is fat."""

HEAD_AND_HAND_FAT: Final = 0.8
"""Fat of head, hands and toes, which have no layers, kg."""

FAT_IN_MUSCLE: Final = 0.05
"""Least fat within and between muscles over the mass of muscle, in the lean: 5 to 9 % of the
thigh's volume in the young (Yoshiko 2017), of which a part is not lipid."""

FAT_BENEATH_FASCIA: Final = {
    "female": ((7.9, 0.068), (11.2, 0.10), (15.7, 0.2054)),
    "male": ((7.7, 0.0687),),
}
"""Area of fat beneath the fascia of the thigh over that of muscle, by fat mass index (kg/m²), from
computed tomography: 9 cm² of 90 and 131 at 73 years and body mass index 27 (Goodpaster 2003), 23 of
112 in women at 34.8 (PMC2828653); women's first is `FAT_IN_MUSCLE`. Held beyond both ends. The same
table has 18 of 156 for men at 32.4; left out, since heavy men's organs find more room than is named
without it (docs/evaluation/tissue.md). Fat mass indices are those predicted for such people."""

MUSCLE_OF_LEGS, MUSCLE_OF_TRUNK = 0.55, 0.25
"""Shares of all muscle: 52 and 55 % of men's and women's lie in the lower body (Janssen 2000)."""


def unlayered_muscle(muscle_mass: float) -> float:
    """Muscle in no layer of a person with `muscle_mass`, kg."""
    return sum(UNLAYERED_MUSCLE.values()) * muscle_mass


def fat_in_muscle(sex: str, fat_index: float) -> float:
    """Fat within and between muscles over the mass of muscle, of people with a fat mass index of
    `fat_index` kg/m²: in the legs as in the thigh, elsewhere as in the lean."""
    indices, areas = zip(*FAT_BENEATH_FASCIA[sex], strict=True)
    lipid = LIPID_SHARE * FAT.density / MUSCLE.density
    legs = max(FAT_IN_MUSCLE, lipid * float(np.interp(fat_index, indices, areas)))
    return MUSCLE_OF_LEGS * legs + (1.0 - MUSCLE_OF_LEGS) * FAT_IN_MUSCLE


def unlayered_fat(muscle_mass: float, share: float = FAT_IN_MUSCLE) -> float:
    """Fat in no fat layer of a person with `muscle_mass`, kg: of head and hands, and in muscle, of
    which it is `share`."""
    return HEAD_AND_HAND_FAT + share * muscle_mass
