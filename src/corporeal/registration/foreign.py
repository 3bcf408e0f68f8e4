"""Between a surface of another topology and the body registered to it: values, landmarks, places.

Every vertex of one has its nearest point on the other, told by a triangle and barycentric
coordinates: values a vertex go both ways, and a point on the body stays there when the body moves.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float, Float64, Int, NumpyArray
from corporeal.errors import InputError
from corporeal.registration.coupled_stage import matches


@dataclass(frozen=True, eq=False)
class Attached:
    """Points on a surface, which move with it."""

    triangles: Int[NumpyArray, "n 3"]
    """Corners of the triangle that each lies on."""
    shares: Float64[NumpyArray, "n 3"]
    """Barycentric coordinates."""
    distances: Float64[NumpyArray, "n"]
    """Of the points from the surface, in its unit."""

    def on(self, values: Float[NumpyArray, "V *c"]) -> Float64[NumpyArray, "n *c"]:
        """Values a vertex of the surface, at the points: places, colours, weights."""
        values = np.asarray(values, np.float64)
        return np.einsum("nk,nk...->n...", self.shares, values[self.triangles])

    def within(self, reach: float) -> Bool[NumpyArray, "n"]:
        """Points that lie so near; the others have no partner, such as a limb that is missing."""
        return self.distances <= reach


def attach(
    points: Float64[NumpyArray, "n 3"],
    vertices: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
) -> Attached:
    """The nearest points of a surface to points, in one unit and axes."""
    if len(triangles) == 0:
        raise InputError("the surface has no triangles; expected some to attach points to.")
    found = matches(vertices, triangles, np.ascontiguousarray(points, np.float64))
    apart = np.linalg.norm(found.feet - points, axis=1)
    return Attached(found.triangles, found.shares, apart)


def carried_landmarks(
    landmarks: dict[str, Float64[NumpyArray, "3"]],
    vertices: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    moved: Float64[NumpyArray, "V 3"],
) -> dict[str, Float64[NumpyArray, "3"]]:
    """Landmarks of a scan on the registered body, where that body is `moved` to."""
    if not landmarks:
        return {}
    held = attach(np.stack(list(landmarks.values())), vertices, triangles)
    return dict(zip(landmarks, held.on(moved), strict=True))
