"""Points and normals spread evenly over a surface, ready for nearest-point queries."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.geometry.surface import triangle_area_vectors
from corporeal.geometry.volume import enclosed_volume

if TYPE_CHECKING:
    from scipy.spatial import KDTree

NORMAL_REACH = 0.15
"""Metres that opposite normals count for, halved, when the nearest point is looked for."""


@dataclass(frozen=True)
class Cloud:
    """Oriented points."""

    points: Float[NumpyArray, "n 3"]
    """Metres."""
    normals: Float[NumpyArray, "n 3"]
    """Unit, outwards."""

    def nearest(
        self, points: Float[NumpyArray, "m 3"], normals: Float[NumpyArray, "m 3"]
    ) -> Int[NumpyArray, "m"]:
        """The nearest point that also faces the same way."""
        return np.asarray(self._tree.query(np.hstack([points, NORMAL_REACH * normals]))[1])

    @cached_property
    def _tree(self) -> "KDTree":
        from scipy.spatial import KDTree

        return KDTree(np.hstack([self.points, NORMAL_REACH * self.normals]))


def sample_surface(mesh: Mesh, count: int, seed: int = 0) -> Cloud:
    """`count` points, as many a square metre everywhere. A surface that is inside out is turned."""
    vertices, triangles = np.asarray(mesh.vertices, np.float64), np.asarray(mesh.triangles)
    vectors = triangle_area_vectors(vertices, triangles)
    area = np.linalg.norm(vectors, axis=1)
    random = np.random.default_rng(seed)
    # evenly spaced places along the summed area, so that few points fall together
    places = (np.arange(count) + random.random(count)) / count * area.sum()
    chosen = np.minimum(np.searchsorted(np.cumsum(area), places), len(area) - 1)
    u, v = random.random((2, count))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    a, b, c = (vertices[triangles[chosen, k]] for k in range(3))
    points = a + u[:, None] * (b - a) + v[:, None] * (c - a)
    normals = vectors[chosen] / np.maximum(area[chosen], 1e-300)[:, None]
    outwards = -1.0 if float(enclosed_volume(vertices, triangles)) < 0 else 1.0
    return Cloud(points, outwards * normals)
