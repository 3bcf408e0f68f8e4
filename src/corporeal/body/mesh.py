"""A surface: vertices, and the faces that join them."""

import numpy as np

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.body.checks import require_finite, require_indices, require_within
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass

FARTHEST = 1e9
"""Largest coordinate of a vertex, in whatever unit it came: a kilometre in micrometres."""


@pytree_dataclass()
class Mesh:
    """A triangle surface. Vertex order never changes: nothing here merges, drops or reorders."""

    vertices: Float[Array, "V 3"]
    """Positions, metres."""
    triangles: Int[NumpyArray, "F 3"]
    """Corner indices, counter-clockwise seen from outside."""
    quads: Int[NumpyArray, "Q 4"] | None = None
    """The faces as they were authored; where present, triangles 2i and 2i+1 are quad i, split."""
    uv: Float[NumpyArray, "U 2"] | None = None
    """Texture coordinates, v up; seams make U differ from V."""
    uv_triangles: Int[NumpyArray, "F 3"] | None = None
    """Texture coordinate of every triangle corner."""
    mirror: Int[NumpyArray, "V"] | None = None
    """Index of the vertex on the other side of the plane x = 0."""

    def check(self) -> None:
        """Raise `InputError` unless numbers are finite, indices in range and quads match
        triangles."""
        require_finite("mesh vertices", self.vertices)
        require_within("mesh vertices", self.vertices, FARTHEST)
        count = self.vertices.shape[0]
        require_indices("mesh triangles", self.triangles, count)
        if self.quads is not None:
            require_indices("mesh quads", self.quads, count)
            if 2 * len(self.quads) != len(self.triangles):
                raise InputError(
                    f"mesh has {len(self.quads)} quads and {len(self.triangles)} triangles; "
                    f"expected two triangles a quad. Use triangles_from_quads."
                )
        if (self.uv is None) != (self.uv_triangles is None):
            raise InputError("mesh has only one of uv and uv_triangles; give both or neither.")
        if self.uv is not None and self.uv_triangles is not None:
            require_finite("mesh texture coordinates", self.uv)
            require_indices("mesh uv_triangles", self.uv_triangles, len(self.uv))
        if self.mirror is not None:
            require_indices("mesh mirror map", self.mirror, count)
            if not np.array_equal(self.mirror[self.mirror], np.arange(count)):
                raise InputError("mesh mirror map is not its own inverse; expected an involution.")

    @property
    def vertex_count(self) -> int:
        """Number V of vertices."""
        return self.vertices.shape[0]


def triangles_from_quads(quads: Int[NumpyArray, "Q 4"]) -> Int[NumpyArray, "F 3"]:
    """Split quad i into triangles 2i = (0, 1, 2) and 2i+1 = (0, 2, 3)."""
    return quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
