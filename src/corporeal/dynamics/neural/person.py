"""Who somebody is, in the few numbers that a network is told: shape and tissue."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.assets.learned_smpl import learned_smpl
from corporeal.body.tissues import FAT, MUSCLE
from corporeal.physics.materials import Material

SHAPE_COUNT: Final = 10
"""Coefficients of the shape space of the SMPL that ships."""
PERSON_SIZE: Final = SHAPE_COUNT + 3
"""Numbers a person."""


@dataclass(frozen=True)
class Tissue:
    """What flesh is like, as captures record it."""

    stiffness: float = FAT.modulus
    """Young's modulus of fat, Pa."""
    muscle: float = MUSCLE.modulus / FAT.modulus
    """That of muscle over that of fat."""
    damping_ratio: float = Material.damping_ratio
    """Of swings, over critical damping."""

    @staticmethod
    def from_materials(materials: Mapping[str, float]) -> "Tissue":
        """From what a deformer was told; what it was not told is usual."""
        usual = Tissue()
        return Tissue(
            float(materials.get("stiffness", usual.stiffness)),
            float(materials.get("muscle", usual.muscle)),
            float(materials.get("damping_ratio", usual.damping_ratio)),
        )


def person_numbers(
    rest_vertices: Float[NumpyArray, "V 3"], tissue: Tissue
) -> Float64[NumpyArray, "q"]:
    """Shape coefficients by least squares, wherever the body stands, and logarithms of tissue."""
    mean, solve = _shape_solver()
    away = np.asarray(rest_vertices, np.float64) - mean
    away = away - away.mean(axis=0)
    usual = Tissue()
    ratios = (
        tissue.stiffness / usual.stiffness,
        tissue.muscle / usual.muscle,
        tissue.damping_ratio / usual.damping_ratio,
    )
    return np.concatenate([solve @ away.reshape(-1), np.log(ratios)])


@cache
def _shape_solver() -> tuple[NumpyArray, NumpyArray]:
    """Mean shape and (SᵀS)⁻¹Sᵀ of the shipped shape space, without translation."""
    learned = learned_smpl("smpl")
    shapes = np.asarray(learned.shape_offsets[:SHAPE_COUNT], np.float64)
    shapes = (shapes - shapes.mean(axis=1, keepdims=True)).reshape(SHAPE_COUNT, -1)
    return np.asarray(learned.mean_vertices, np.float64), np.linalg.solve(shapes @ shapes.T, shapes)
