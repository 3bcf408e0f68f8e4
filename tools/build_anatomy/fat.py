"""How much fat the template holds, from people of its size (NHANES 2017–2018, DXA)."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corporeal.body.measurements import Measurements
from corporeal.body.tissues import FAT_IN_MUSCLE, HEAD_AND_HAND_FAT

AGE = 30.0
"""Of the template, years."""


@dataclass(frozen=True)
class RegionalFat:
    """Kilograms."""

    trunk: float
    limbs: float


def expected_fat(table: Path, sex: str, measured: Measurements) -> RegionalFat:
    """Linear regression of total and trunk fat on age, height, weight and waist."""
    with table.open() as file:
        rows = [row for row in csv.DictReader(file) if _usable(row, sex)]
    people = np.array([[1.0] + [float(row[k]) for k in FEATURES] for row in rows])
    weight = people[:, 1 + FEATURES.index("weight_kg")]
    total = np.array([float(row["dxa_total_pct_fat"]) for row in rows]) / 100 * weight
    trunk = np.array([float(row["dxa_trunk_fat_g"]) for row in rows]) / 1000
    slopes = np.linalg.lstsq(people, np.stack([total, trunk], axis=1), rcond=None)[0]
    waist = measured["waist_circumference"]
    body = np.array([1.0, AGE, 100 * measured.stature, measured.mass, 100 * waist])
    fat, trunk_fat = body @ slopes
    between = FAT_IN_MUSCLE * MUSCLE_SHARE[sex] * measured.mass
    limbs = fat - trunk_fat - HEAD_AND_HAND_FAT - MUSCLE_OF_LIMBS * between
    return RegionalFat(float(trunk_fat - (1 - MUSCLE_OF_LIMBS) * between), float(limbs))


MUSCLE_SHARE = {"female": 0.306, "male": 0.384}
"""Muscle over body mass (Janssen 2000)."""
MUSCLE_OF_LIMBS = 0.75
"""Share of it in the limbs."""


FEATURES = ("age_y", "height_cm", "weight_kg", "waist_cm")


def _usable(row: dict[str, str], sex: str) -> bool:
    wanted = (*FEATURES, "dxa_total_pct_fat", "dxa_trunk_fat_g")
    return row["sex"].lower() == sex and all(row[k] for k in wanted) and float(row["age_y"]) >= 18
