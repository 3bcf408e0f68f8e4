"""A head as hair sees it: distance of skin and hairline in every direction from its middle."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.appearance.regions import FACE_CHART, scalp_field, vertex_uv
from corporeal.assets.default_body import load_default_body
from corporeal.assets.looks import masks

_SPLITS = 5
"""Parts that a triangle's edge is split in, so that directions are dense."""


@dataclass(frozen=True, eq=False)
class Head:
    """The outside of a head, by direction."""

    centre: Float[NumpyArray, "3"]
    """A point inside the skull, metres."""
    directions: Float[NumpyArray, "m 3"]
    """Unit vectors from there to points of the skin."""
    radii: Float[NumpyArray, "m"]
    """Their distance, metres."""
    above: Float[NumpyArray, "m"]
    """How far above the hairline they are, metres."""
    ear_height: float
    """Of the ears' middle, metres."""

    def seen(
        self, directions: Float[NumpyArray, "n 3"]
    ) -> tuple[Float[NumpyArray, "n"], Float[NumpyArray, "n"]]:
        """Distance of the skin and height above the hairline in other directions, metres."""
        from scipy.spatial import KDTree

        apart, near = KDTree(self.directions).query(directions, k=10)
        weights = np.exp(-((apart / (apart[:, 4:5] + 0.03)) ** 2))
        weights /= weights.sum(axis=1, keepdims=True)
        return (weights * self.radii[near]).sum(axis=1), (weights * self.above[near]).sum(axis=1)


def head_of(rest_vertices: Float[NumpyArray, "V 3"], recession: float = 0.0) -> Head:
    """The head of a body in the default topology, ears left out; `recession` of the hairline at the
    temples, metres."""
    template = load_default_body().template
    uv = vertex_uv(template.mesh)
    vertices = np.asarray(rest_vertices, np.float64)
    above = scalp_field(vertices, uv, recession)
    size = len(masks()["ears"])
    at = np.clip((uv * [1, -1] + [0, 1]) * size, 0, size - 1).astype(int)
    ears = masks()["ears"][at[:, 1], at[:, 0]] > 0.5
    inside = (
        (uv[:, 0] > FACE_CHART[0])
        & (uv[:, 1] > FACE_CHART[1])
        & (uv[:, 1] < FACE_CHART[3])
        & (above > -0.12)
        & np.isin(template.part_labels, [template.part_names.index(n) for n in ("head", "neck")])
    )
    triangles = template.mesh.triangles
    usable = inside[triangles].all(axis=1) & ~ears[triangles].any(axis=1)
    scalp = vertices[inside & (above > 0.0)]
    ear = vertices[ears, 1].mean() if ears.any() else scalp[:, 1].min()
    centre = np.array([0.0, 0.55 * ear + 0.45 * scalp[:, 1].max(), np.median(scalp[:, 2])])
    centre[2] = 0.5 * (scalp[:, 2].min() + scalp[:, 2].max())
    shares = _spread()
    corners = triangles[usable]
    points = np.einsum("pk,fki->fpi", shares, vertices[corners]).reshape(-1, 3) - centre
    heights = np.einsum("pk,fk->fp", shares, above[corners]).ravel()
    radii = np.linalg.norm(points, axis=1)
    return Head(centre, points / radii[:, None], radii, heights, float(ear))


def _spread() -> Float[NumpyArray, "p 3"]:
    """Barycentric coordinates evenly over a triangle."""
    rows = [(i, j, _SPLITS - i - j) for i in range(_SPLITS + 1) for j in range(_SPLITS + 1 - i)]
    return np.array(rows) / _SPLITS


@dataclass(frozen=True, eq=False)
class PolarGrid:
    """Directions around a pole: rows from the pole outwards, columns around it."""

    rows: int
    """From the pole to the end."""
    columns: int
    """Around, the last one again the first."""
    polar: Float[NumpyArray, "r c"]
    """Angle from the pole, radians."""
    around: Float[NumpyArray, "r c"]
    """Angle around it, 0 to 2π; 0 where the face is."""
    directions: Float[NumpyArray, "r c 3"]
    """Unit vectors."""


def polar_grid(pole: Float[NumpyArray, "3"], rows: int, columns: int, end: float) -> PolarGrid:
    """A grid around `pole` out to the angle `end`, radians."""
    pole = np.asarray(pole, np.float64) / np.linalg.norm(pole)
    front = np.array([0.0, 0.0, 1.0]) if abs(pole[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    front = front - (front @ pole) * pole
    front /= np.linalg.norm(front)
    side = np.cross(pole, front)
    polar, around = np.meshgrid(
        end * np.linspace(0, 1, rows) ** 0.9, np.linspace(0, 2 * np.pi, columns), indexing="ij"
    )
    ring = np.cos(around)[..., None] * front + np.sin(around)[..., None] * side
    directions = np.cos(polar)[..., None] * pole + np.sin(polar)[..., None] * ring
    return PolarGrid(rows, columns, polar, around, directions)


def grid_triangles(rows: int, columns: int) -> NumpyArray:
    """Triangles of a grid of rows and columns, counter-clockwise with rows down and columns right,
    seen from the front."""
    i, j = np.mgrid[0 : rows - 1, 0 : columns - 1]
    a = (i * columns + j).ravel()
    b, c, d = a + 1, a + columns, a + columns + 1
    return np.concatenate([np.stack([a, c, b], 1), np.stack([b, c, d], 1)]).astype(np.int32)
