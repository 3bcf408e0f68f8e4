"""Tetrahedral strain, fitted to deformation gradients (equations 2.15 and 2.16).

====== ======================================================= =============================
Ē      rest edges of a tetrahedron, one a row                   `rest_edges`
G      inverse of the unloaded edges: Ē⁻¹, or X Ē⁻¹             `inverse_edges`
B₃     corner → edge differences                                in `gradient_matrix`
F      deformation gradient; Q z = Fᵀ                           `values`
R      rotation closest to F; p = Rᵀ                            `project`
====== ======================================================= =============================
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.checks import require_indices
from corporeal.errors import InputError
from corporeal.physics.solver.polar import closest_rotations


@dataclass(frozen=True)
class StrainConstraint:
    """W = E V/2 ‖F − R‖², three rows a tetrahedron."""

    matrix: csr_array
    """Q, the rows of Fᵀ of every tetrahedron, 1/m."""
    weights: Float64[NumpyArray, "rows"]
    """Stiffness times volume, J, three times a tetrahedron."""
    tetrahedra: Int[NumpyArray, "T 4"]
    """Corner indices."""
    inverse_edges: Float64[NumpyArray, "T 3 3"]
    """G, with Fᵀ = G E for the edges E (rows) of the moment, 1/m."""

    def project(self, values: Float64[NumpyArray, "rows 3"]) -> Float64[NumpyArray, "rows 3"]:
        """p = Rᵀ of every tetrahedron, by singular values: never a reflection."""
        return closest_rotations(values.reshape(-1, 3, 3)).reshape(-1, 3)


def strain_constraint(
    rest: Float64[NumpyArray, "V 3"],
    tetrahedra: Int[NumpyArray, "T 4"],
    stiffness: float | Float64[NumpyArray, "T"],
    natural_stretch: Float64[NumpyArray, "T 3 3"] | None = None,
) -> StrainConstraint:
    """Strain of `tetrahedra`, with `stiffness` in Pa (one, or one a tetrahedron).

    `natural_stretch` X is the stretch, symmetric, that each tetrahedron has in `rest` (see
    `prestress`); without it the rest shape is free of stress.
    """
    require_indices("tetrahedra", tetrahedra, len(rest))
    edges = rest_edges(rest, tetrahedra)
    volumes = np.abs(np.linalg.det(edges)) / 6
    if not (volumes > 0).all():
        raise InputError(
            f"{int((volumes <= 0).sum())} of {len(volumes)} tetrahedra have no volume (first: "
            f"{int(np.argmin(volumes))}); leave them out."
        )
    inverse = np.linalg.inv(edges)
    if natural_stretch is not None:
        inverse = natural_stretch @ inverse
    weights = np.repeat(np.broadcast_to(stiffness, volumes.shape) * volumes, 3)
    matrix = gradient_matrix(inverse, tetrahedra, len(rest))
    return StrainConstraint(matrix, weights, tetrahedra, inverse)


def rest_edges(
    rest: Float64[NumpyArray, "V 3"], tetrahedra: Int[NumpyArray, "T 4"]
) -> Float64[NumpyArray, "T 3 3"]:
    """Ē: from the first corner to the other three, one a row, metres."""
    corners = rest[tetrahedra]
    return corners[:, 1:] - corners[:, :1]


def gradient_matrix(
    inverse_edges: Float64[NumpyArray, "T d d"],
    simplices: Int[NumpyArray, "T corners"],
    vertex_count: int,
) -> csr_array:
    """Q = G B S: the transposed deformation gradients of all tetrahedra (d = 3) or triangles
    (d = 2), d rows each."""
    count, rows_each, _ = inverse_edges.shape
    first = -inverse_edges.sum(axis=2, keepdims=True)
    values = np.concatenate([first, inverse_edges], axis=2)
    columns = np.broadcast_to(simplices[:, None, :], values.shape)
    rows = np.arange(rows_each * count).reshape(count, rows_each, 1)
    rows = np.broadcast_to(rows, values.shape)
    return csr_array(
        (values.ravel(), (rows.ravel(), columns.ravel())), shape=(rows_each * count, vertex_count)
    )
