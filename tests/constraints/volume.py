"""Tetrahedral volume: the same Q as strain, projected to the nearest gradient of given volume."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.polar import rotation_variant_svd

_ITERATIONS = 40
"""Steps towards the nearest point of σ₁σ₂σ₃ = target: 1e-9 from stretches of 0.4 to 1.8."""


@dataclass(frozen=True)
class VolumeConstraint:
    """W = K V/2 ‖F − F̃‖², with F̃ the nearest gradient whose determinant is `target`."""

    matrix: csr_array
    """Q, the rows of Fᵀ of every tetrahedron, 1/m."""
    weights: Float64[NumpyArray, "rows"]
    """Stiffness times volume, J, three times a tetrahedron."""
    target: float
    """Volume wanted over rest volume; 1 keeps it, more blows up."""

    def project(self, values: Float64[NumpyArray, "rows 3"]) -> Float64[NumpyArray, "rows 3"]:
        """p = U Σ̃ Vᵀ, with Σ̃ nearest to Σ on σ₁σ₂σ₃ = target."""
        left, stretch, right = rotation_variant_svd(values.reshape(-1, 3, 3))
        nearest = nearest_of_volume(stretch, self.target)
        return ((left * nearest[:, None, :]) @ right).reshape(values.shape)


def volume_constraint(
    rest: Float64[NumpyArray, "V 3"],
    tetrahedra: Int[NumpyArray, "T 4"],
    stiffness: float | Float64[NumpyArray, "T"],
    target: float = 1.0,
) -> VolumeConstraint:
    """Volume kept with `stiffness` in Pa (one, or one a tetrahedron)."""
    strain = strain_constraint(rest, tetrahedra, stiffness)
    return VolumeConstraint(strain.matrix, strain.weights, target)


def nearest_of_volume(
    stretch: Float64[NumpyArray, "T 3"], target: float
) -> Float64[NumpyArray, "T 3"]:
    """min ‖d‖² such that Π(σ + d) = target, by d ← ∇C (∇C·d − C)/‖∇C‖² (Bouaziz et al. 2014)."""
    offset = np.zeros_like(stretch)
    for _ in range(_ITERATIONS):
        s = stretch + offset
        constraint = s.prod(axis=1) - target
        gradient = np.stack([s[:, 1] * s[:, 2], s[:, 0] * s[:, 2], s[:, 0] * s[:, 1]], axis=1)
        norm = np.maximum((gradient**2).sum(axis=1), 1e-9)
        offset = gradient * (((gradient * offset).sum(axis=1) - constraint) / norm)[:, None]
    return stretch + offset
