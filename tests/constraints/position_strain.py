"""Strain fitted to positions (equation 2.20): the usual ARAP energy, for comparison alone.

It keeps absolute, not relative, differences small, so that elements of unequal size stretch
unequally (figure 2.4), and its rotation depends on the element's shape (section 2.2.2).
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.physics.solver.polar import closest_rotations


@dataclass(frozen=True)
class PositionStrainConstraint:
    """W = k/2 ‖E − R Ē‖² over the mean-centred corners of polyhedral elements."""

    matrix: csr_array
    """Q, corners of every element without their mean."""
    weights: Float64[NumpyArray, "rows"]
    """Stiffness k, N/m."""
    rest_corners: Float64[NumpyArray, "elements corners 3"]
    """Ēᵀ: mean-centred corners at rest, metres."""

    def project(self, values: Float64[NumpyArray, "rows 3"]) -> Float64[NumpyArray, "rows 3"]:
        """p = (R Ē)ᵀ, with R the rotation closest to H = E Ēᵀ."""
        corners = values.reshape(self.rest_corners.shape)
        # H_e = Σ_c x_ec x̄_ecᵀ
        rotations = closest_rotations(np.einsum("eci,ecj->eij", corners, self.rest_corners))
        return np.einsum("eij,ecj->eci", rotations, self.rest_corners).reshape(values.shape)


def position_strain_constraint(
    rest: Float64[NumpyArray, "V 3"],
    elements: Int[NumpyArray, "elements corners"],
    stiffness: float,
) -> PositionStrainConstraint:
    """The as-rigid-as-possible energy of polyhedra, `stiffness` in N/m."""
    count, size = elements.shape
    centred = rest[elements] - rest[elements].mean(axis=1, keepdims=True)
    block = np.eye(size) - 1.0 / size
    rows = np.arange(count * size).reshape(count, size, 1)
    shape = (count, size, size)
    values = np.broadcast_to(block, shape).ravel()
    rows = np.broadcast_to(rows, shape).ravel()
    columns = np.broadcast_to(elements[:, None, :], shape).ravel()
    matrix = csr_array((values, (rows, columns)), shape=(count * size, len(rest)))
    return PositionStrainConstraint(matrix, np.full(count * size, float(stiffness)), centred)
