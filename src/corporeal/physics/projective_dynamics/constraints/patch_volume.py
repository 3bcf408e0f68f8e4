"""Volume kept patch by patch: flesh that is pressed in one place bulges in another.

Tissue is mostly water. Strain alone (Poisson's ratio 0) lets a bent or twisted limb lose volume.
Keeping the volume of every tetrahedron would lock the flesh, since there are more tetrahedra than
the free vertices have coordinates; so all tetrahedra under a patch of skin share a volume, and
elasticity spreads the bulge.

====== ============================================================ =====================
F_t    deformation gradient of a tetrahedron of the patch            `values`
c_t    1/det F_t at rest: 1, but for the stretch of a balanced rest  `rest_factors`
v_t    the tetrahedron's share of the patch's rest volume            `shares`
J      Σ_t v_t c_t det F_t, the patch's volume over that at rest
====== ============================================================ =====================

The projection is one Newton step towards J = 1:
F_t + (1 − J) c_t cof F_t / Σ_s v_s c_s² ‖cof F_s‖².
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.physics.projective_dynamics.constraints.strain import StrainConstraint, rest_edges

OVER_RELAXED = 1.8
"""How many times as far as the projection p goes, with weights as much smaller. Only one of nine
directions of a gradient changes its volume, so the full weight in all of them holds up the rest."""
LEAST_NORM = 1.5
"""Of Σ v c² ‖cof F‖², which is 3 at rest: keeps a flattened patch from being thrown open."""


@dataclass(frozen=True)
class PatchVolumeConstraint:
    """W = K V/2 ‖F − F̃‖² over the tetrahedra of a patch, F̃ towards its volume at rest."""

    matrix: csr_array
    weights: Float64[NumpyArray, "rows"]
    """K V / `OVER_RELAXED`, J, three times a tetrahedron."""
    patches: Int[NumpyArray, "T"]
    """Prism of every tetrahedron, from 0 on without gaps."""
    shares: Float64[NumpyArray, "T"]
    rest_factors: Float64[NumpyArray, "T"]

    def project(self, values: Float64[NumpyArray, "rows 3"]) -> Float64[NumpyArray, "rows 3"]:
        """p, `OVER_RELAXED` times as far from F as the nearest gradients of the rest volume."""
        gradient = values.reshape(-1, 3, 3)
        cofactors = np.cross(gradient[:, [1, 2, 0]], gradient[:, [2, 0, 1]])
        # J = Σ_t v_t c_t det F_t
        determinant = np.sum(gradient[:, 0] * cofactors[:, 0], axis=1)
        lack = 1.0 - np.bincount(self.patches, self.shares * self.rest_factors * determinant)
        # Σ_s v_s c_s² ‖cof F_s‖²
        size = np.sum(cofactors**2, axis=(1, 2))
        norm = np.bincount(self.patches, self.shares * self.rest_factors**2 * size)
        pressure = (lack / np.maximum(norm, LEAST_NORM))[self.patches] * self.rest_factors
        moved = gradient + OVER_RELAXED * pressure[:, None, None] * cofactors
        return moved.reshape(values.shape)


def patch_volume_constraint(
    strain: StrainConstraint,
    rest: Float64[NumpyArray, "V 3"],
    patches: Int[NumpyArray, "T"],
    ratio: float,
) -> PatchVolumeConstraint:
    """Volume of the patches that the tetrahedra of `strain` belong to, `ratio` times as stiff as
    their mean strain."""
    edges = rest_edges(rest, strain.tetrahedra)
    volumes = np.abs(np.linalg.det(edges)) / 6
    _, group = np.unique(patches, return_inverse=True)
    whole = np.bincount(group, volumes)[group]
    mean_stiffness = np.bincount(group, strain.weights[::3])[group] / whole
    weights = ratio / OVER_RELAXED * mean_stiffness * volumes
    return PatchVolumeConstraint(
        strain.matrix,
        np.repeat(weights, 3),
        group.astype(np.int64),
        volumes / whole,
        1.0 / np.linalg.det(strain.inverse_edges @ edges),
    )
