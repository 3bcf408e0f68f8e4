"""The skin over more or less fat (equations 4.16 to 4.18).

    E_grow(S) = w_vol E_vol(S) + w_reg E_reg(S, S̄) + w_rest E_rest(S, S̄)

========== ================================================================== =============
E_vol      Σ_j V̄_j (vol(t_j) − V_j)² over the tetrahedra of fat (4.18)         `volume_ways`
E_reg      change of mean curvature (4.2)                                      `SurfaceEnergy`
E_rest     Σ A_i ‖x_i − x̄_i‖² (4.17)                                           `w_rest`
========== ================================================================== =============

Static local–global iteration over the skin alone: each tetrahedron wishes its skin corners where it
would have its volume, by the shortest way; one constant matrix joins the wishes with curvature.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import splu

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.prisms import Prisms
from corporeal.anatomy.surface_energy import SurfaceEnergy


@dataclass(frozen=True)
class GrowthSettings:
    """How skin follows what is under it."""

    pressure: float = 0.3
    """Share of even swelling along the normals (Saito et al. 2015); 0 grows depots alone."""
    w_reg: float = 2e-7
    """Of E_reg, m⁴; volumes have weight 1."""
    w_rest: float = 0.01
    """Of E_rest outside the growing region; a thousandth of it inside."""
    iterations: int = 15
    """Local–global steps."""


class SkinSolver:
    """One body's skin; the matrix is factored once for all amounts."""

    def __init__(
        self,
        skin: Float64[NumpyArray, "V 3"],
        prisms: Prisms,
        field: Float64[NumpyArray, "V"],
        settings: GrowthSettings,
    ) -> None:
        self.skin, self.prisms, self.settings = skin, prisms, settings
        self.energy = SurfaceEnergy(skin, prisms.triangles, prisms.layered)
        free = self.energy.free
        self._pull = self.energy.areas[free]
        self._rest = settings.w_rest * ((1.001 - field) * self.energy.areas)[free]
        matrix = settings.w_reg * self.energy.bending + diags_array(self._pull + self._rest)
        self._factor = splu(csc_array(csr_array(matrix)))

    def solve(
        self,
        start: Float64[NumpyArray, "V 3"],
        muscle: Float64[NumpyArray, "V 3"],
        volumes: Float64[NumpyArray, "T"],
        swelling: Float64[NumpyArray, "V 3"] | None = None,
    ) -> Float64[NumpyArray, "V 3"]:
        """Skin whose fat over `muscle` has `volumes` (a tetrahedron, m³) as nearly as it can.

        `swelling` are ways from the rest skin that a share `pressure` of every target takes.
        """
        from corporeal.anatomy.growth.growth_cpu import volume_ways

        count, free = len(start), self.energy.free
        points = np.concatenate([start, muscle])
        ways, weights = np.zeros_like(start), np.zeros(count)
        share = 0.0 if swelling is None else self.settings.pressure
        even = self.skin if swelling is None else self.skin + swelling
        for _ in range(self.settings.iterations):
            volume_ways(points, self.prisms.tetrahedra, volumes, count, ways, weights)
            wish = points[:count] + ways / np.maximum(weights, 1e-30)[:, None]
            target = (1 - share) * wish + share * even
            right = self.settings.w_reg * self.energy.right_side(points[:count])
            right += self._pull[:, None] * target[free] + self._rest[:, None] * self.skin[free]
            points[free] = self._factor.solve(right)
        return points[:count].copy()
