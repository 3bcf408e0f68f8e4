"""Any surface of triangles that encloses something."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
from corporeal.geometry.surface import triangle_area_vectors
from corporeal.geometry.surface_tree import SurfaceTree
from corporeal.geometry.volume import enclosed_volume
from corporeal.physics.contact.colliders.shape import Distances

_ON_SURFACE = 1e-9
"""Metres: nearer than this the direction to the closest point is rounding."""


class MeshSolid:
    """What a mesh encloses, by the winding number: small holes and overlaps do no harm."""

    def __init__(self, mesh: Mesh) -> None:
        """Triangles turn counter-clockwise seen from outside; metres."""
        vertices = np.asarray(mesh.vertices, np.float64)
        triangles = np.asarray(mesh.triangles, np.int64)
        volume = float(enclosed_volume(vertices, triangles)) if len(triangles) else 0.0
        if not volume > 0.0:
            raise InputError(
                f"collider mesh encloses {volume:.3g} m³; expected a closed surface whose "
                f"triangles turn counter-clockwise seen from outside. Flip or close it."
            )
        self._tree = SurfaceTree(vertices, triangles)
        self._area_vectors = np.asarray(triangle_area_vectors(vertices, triangles))

    def distances(self, points: Float64[NumpyArray, "n 3"]) -> Distances:
        """From the closest point of the surface."""
        closest, triangles = self._tree.closest(points)
        away = points - closest
        distance = np.linalg.norm(away, axis=1)
        sign = np.where(self._tree.winding(points) > 0.5, -1.0, 1.0)
        far = (distance > _ON_SURFACE)[:, None]
        normals = np.where(far, sign[:, None] * away, self._area_vectors[triangles])
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        return sign * distance, normals / np.maximum(length, np.finfo(np.float64).tiny)
