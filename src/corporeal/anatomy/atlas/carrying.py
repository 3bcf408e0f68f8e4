"""Muscles of an atlas, carried into the template by the bones they lie on.

    x' = Σ_b w_b A_b x,   w_b ∝ 1/(d_b(x) + d₀)⁴

A_b are the placements of the bones and d_b the distances from them in the atlas's pose.
"""

from collections.abc import Mapping

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.atlas.parts import AtlasPart
from corporeal.anatomy.building.affine import Affine

SOFTNESS = 0.005
"""d₀, metres: how near a bone takes a vertex along wholly."""


class Carriers:
    """Placed bones, ready to take muscles along."""

    def __init__(
        self, bones: Mapping[str, Float64[NumpyArray, "v 3"]], placements: Mapping[str, Affine]
    ) -> None:
        """`bones` are vertices in the atlas's pose, metres; both by the template's names."""
        from scipy.spatial import KDTree

        self.placements = placements
        self._trees = {name: KDTree(vertices) for name, vertices in bones.items()}

    def carried(self, muscle: AtlasPart) -> Float64[NumpyArray, "v 3"]:
        """A muscle's vertices in the template: along with its own bones, else with all near it."""
        names = [name for name in muscle.bones if name in self._trees] or list(self._trees)
        distances = np.stack([self._trees[name].query(muscle.vertices)[0] for name in names])
        weights = (distances + SOFTNESS) ** -4.0
        weights /= weights.sum(axis=0)
        moved = np.stack([self.placements[name](muscle.vertices) for name in names])
        return np.einsum("bv,bvd->vd", weights, moved)
