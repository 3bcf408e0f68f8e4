"""A surface cut by a plane: what is left of it, and the lines along the cut."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.errors import InputError


@dataclass(frozen=True, eq=False)
class Plane:
    """n·x = offset; what lies before it (n·x larger) is cut away."""

    normal: Float64[NumpyArray, "3"]
    """Unit."""
    offset: float
    """Metres."""

    def before(self, points: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "n"]:
        """How far before the plane points lie, metres."""
        return points @ self.normal - self.offset


@dataclass(frozen=True, eq=False)
class CutSurface:
    """What lies behind a plane."""

    vertices: Float64[NumpyArray, "v 3"]
    """Metres: all of the surface's, then two for every segment of the cut."""
    triangles: Int[NumpyArray, "f 3"]
    """Corner indices into `vertices`."""
    section: Float64[NumpyArray, "s 2 3"]
    """Where the plane went through triangles, one segment each, metres."""


def cut(
    vertices: Float64[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"], plane: Plane
) -> CutSurface:
    """The part of a surface behind a plane; closed surfaces have a closed section."""
    if len(triangles) and triangles.max() >= len(vertices):
        raise InputError(f"triangles name vertex {triangles.max()} of {len(vertices)}.")
    height = plane.before(vertices)
    height = np.where(np.abs(height) < 1e-9, 1e-9, height)  # no vertex on the plane itself
    away = height[triangles] > 0
    count = away.sum(axis=1)
    lone_away, lone_kept = (
        _turned(triangles, away, count == 1),
        _turned(triangles, ~away, count == 2),
    )
    ends_a = _crossings(vertices, height, lone_away)
    ends_b = _crossings(vertices, height, lone_kept)
    first, second = len(vertices), len(vertices) + 2 * len(ends_a)
    a, b = first + 2 * np.arange(len(ends_a)), second + 2 * np.arange(len(ends_b))
    kept = [
        triangles[count == 0],
        np.stack([a, lone_away[:, 1], lone_away[:, 2]], axis=1),
        np.stack([a, lone_away[:, 2], a + 1], axis=1),
        np.stack([lone_kept[:, 0], b, b + 1], axis=1),
    ]
    section = np.concatenate([ends_a, ends_b])
    grown = np.concatenate([vertices, section.reshape(-1, 3)])
    return CutSurface(grown, np.concatenate(kept).astype(np.int64), section)


def _turned(
    triangles: Int[NumpyArray, "F 3"], lone: Bool[NumpyArray, "F 3"], chosen: Bool[NumpyArray, "F"]
) -> Int[NumpyArray, "n 3"]:
    """Chosen triangles, turned so that their lone corner comes first."""
    corners, where = triangles[chosen], np.argmax(lone[chosen], axis=1)
    order = (where[:, None] + np.arange(3)) % 3
    return np.take_along_axis(corners, order, axis=1)


def _crossings(
    vertices: Float64[NumpyArray, "V 3"],
    height: Float64[NumpyArray, "V"],
    triangles: Int[NumpyArray, "n 3"],
) -> Float64[NumpyArray, "n 2 3"]:
    """Where the plane meets the two edges at every triangle's first corner."""
    a, others = triangles[:, :1], triangles[:, 1:]
    share = height[a] / (height[a] - height[others])
    return vertices[a] + share[..., None] * (vertices[others] - vertices[a])
