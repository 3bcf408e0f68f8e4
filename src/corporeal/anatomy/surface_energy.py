"""Minimises w_reg E_reg + Σ w_i A_i ‖x_i − t_i‖² over one surface (equations 4.1 to 4.3).

====== =============================================================== ====================
E_reg  Σ A_i ‖Δx_i − R_i Δx̄_i‖², change of mean curvature (4.2)        `bending`
E_fit  Σ w_i A_i ‖x_i − t_i‖², distance from targets (4.3)              `targets`, `weights`
====== =============================================================== ====================

Local step: R_i Δx̄_i is Δx_i scaled to the length of Δx̄_i. Global step: (w_reg Lᵀ A⁻¹ L + W A) x =
w_reg Lᵀ (R Δx̄) + W A t over the free vertices: sparse, symmetric positive definite, constant while
weights are.
"""

import numpy as np
from scipy.sparse import csr_array, diags_array

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.geometry.laplacian import cotangent_laplacian


class SurfaceEnergy:
    """One triangulation with fixed vertices, whose rest curvature can be replaced."""

    def __init__(
        self,
        rest: Float64[NumpyArray, "V 3"],
        triangles: Int[NumpyArray, "F 3"],
        free: Bool[NumpyArray, "V"],
    ) -> None:
        self.free = np.flatnonzero(free)
        self.fixed = np.flatnonzero(~free)
        near = free[triangles].any(axis=1)
        laplacian, areas = cotangent_laplacian(rest, triangles[near])
        rows = np.flatnonzero(free)
        self.areas = np.where(areas > 0, areas, 1.0)
        self._laplacian = csr_array(laplacian[rows])
        self._inverse_areas = 1.0 / self.areas[rows]
        self._free_columns = csr_array(self._laplacian[:, self.free])
        self._bending = csr_array(
            self._free_columns.T @ diags_array(self._inverse_areas) @ self._free_columns
        )
        self.set_rest(rest)

    def set_rest(self, rest: Float64[NumpyArray, "V 3"]) -> None:
        """Take the curvatures of `rest` as those to keep."""
        self._rest_lengths = np.linalg.norm(self._laplacian @ rest, axis=1)

    def curvature_targets(self, x: Float64[NumpyArray, "V 3"]) -> Float64[NumpyArray, "f 3"]:
        """A R Δx̄, the integrated Laplacian at its rest length."""
        now = self._laplacian @ x
        length = np.maximum(np.linalg.norm(now, axis=1), 1e-12)
        return now * (self._rest_lengths / length)[:, None]

    def right_side(self, x: Float64[NumpyArray, "V 3"]) -> Float64[NumpyArray, "f 3"]:
        """Lᵀ A⁻¹ (A R Δx̄ − L_fixed x_fixed) for the positions of the moment."""
        known = self._laplacian[:, self.fixed] @ x[self.fixed]
        wanted = self._inverse_areas[:, None] * (self.curvature_targets(x) - known)
        return self._free_columns.T @ wanted

    def solver(self, w_reg: float, weights: Float64[NumpyArray, "V"]) -> "SurfaceSolver":
        """Factor the matrix for these weights (w_i, without the areas)."""
        return SurfaceSolver(self, w_reg, weights)

    @property
    def bending(self) -> csr_array:
        """Lᵀ A⁻¹ L over the free vertices."""
        return self._bending


class SurfaceSolver:
    """Local–global steps with one factor."""

    def __init__(
        self, energy: SurfaceEnergy, w_reg: float, weights: Float64[NumpyArray, "V"]
    ) -> None:
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        self._energy, self._w_reg = energy, w_reg
        self._pull = (weights * energy.areas)[energy.free]
        matrix = csc_array(w_reg * energy.bending + diags_array(self._pull))
        self._factor = splu(matrix)

    def step(
        self, x: Float64[NumpyArray, "V 3"], targets: Float64[NumpyArray, "V 3"]
    ) -> Float64[NumpyArray, "V 3"]:
        """One local and one global step."""
        energy = self._energy
        right = self._w_reg * energy.right_side(x) + self._pull[:, None] * targets[energy.free]
        moved = x.copy()
        moved[energy.free] = self._factor.solve(right)
        return moved
