"""A scan made ready: metres, y up, one person, points evenly spaced, normals outwards."""

from dataclasses import dataclass, field

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray

_BESIDE = 3.0
"""Distance up to which other points lie on a surface, spacings of its points."""


@dataclass(frozen=True, eq=False)
class ScanSurface:
    """Oriented points that the body is laid onto."""

    points: Float64[NumpyArray, "n 3"]
    """Metres, y up."""
    normals: Float64[NumpyArray, "n 3"]
    """Unit, outwards."""
    weights: Float64[NumpyArray, "n"]
    """How much a point counts: confidence, 0 to 1."""
    spacing: float
    """Metres between neighbours, about."""
    colours: Float64[NumpyArray, "n 3"] | None = None
    """sRGB, 0 to 1; None where the scan has none."""
    landmarks: dict[str, Float64[NumpyArray, "3"]] = field(default_factory=dict)
    """Known places by name, metres."""

    def with_points(self, points: Float64[NumpyArray, "m 3"]) -> "ScanSurface":
        """Those of other points that lie on the same surface, each with the normal and weight of
        its neighbour."""
        from scipy.spatial import KDTree

        reach = _BESIDE * self.spacing
        away, near = KDTree(self.points).query(points, distance_upper_bound=reach)
        kept = np.isfinite(away)
        near = np.asarray(near)[kept]
        spacing = self.spacing * float(np.sqrt(len(self.points) / max(len(near), 1)))
        return ScanSurface(points[kept], self.normals[near], self.weights[near], spacing)

    def some(self, count: int, seed: int = 0) -> "ScanSurface":
        """About `count` of the points, spread evenly."""
        if count >= len(self.points):
            return self
        kept = spread_subset(self.points, count, seed)
        return ScanSurface(
            self.points[kept],
            self.normals[kept],
            self.weights[kept],
            self.spacing * float(np.sqrt(len(self.points) / len(kept))),
            None if self.colours is None else self.colours[kept],
            self.landmarks,
        )


def cell_means(
    points: Float64[NumpyArray, "n 3"],
    size: float,
    *values: NumpyArray,
    kinds: Int[NumpyArray, "n"] | None = None,
) -> tuple[NumpyArray, ...]:
    """Means of points, and of values that go with them, over cubes of this size; of different kinds
    (from 0) apart."""
    cells = np.floor((points - points.min(axis=0)) / size).astype(np.int64)
    spans = cells.max(axis=0) + 1
    keys = (cells[:, 0] * spans[1] + cells[:, 1]) * spans[2] + cells[:, 2]
    if kinds is not None:
        keys = keys * (int(kinds.max(initial=0)) + 1) + kinds
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)

    def mean(array: NumpyArray) -> NumpyArray:
        columns = array.reshape(len(array), -1).T
        sums = np.stack([np.bincount(inverse, column) for column in columns], axis=1)
        return (sums / counts[:, None]).reshape(-1, *array.shape[1:])

    return tuple(mean(np.asarray(array, np.float64)) for array in (points, *values))


def thinned(
    points: Float64[NumpyArray, "n 3"],
    count: int,
    *values: NumpyArray,
    kinds: Int[NumpyArray, "n"] | None = None,
) -> tuple[float, tuple[NumpyArray, ...]]:
    """Cell size and cell means such that about `count` points are left."""
    extent = float(np.linalg.norm(np.ptp(points, axis=0)))
    size = extent / 400.0
    found = cell_means(points, size, *values, kinds=kinds)
    for _ in range(4):
        ratio = len(found[0]) / count
        if 0.8 < ratio < 1.25 or (ratio < 1 and len(found[0]) > 0.9 * len(points)):
            break
        size *= float(np.sqrt(ratio))
        found = cell_means(points, size, *values, kinds=kinds)
    return size, found


def spread_subset(points: Float64[NumpyArray, "n 3"], count: int, seed: int = 0) -> NumpyArray:
    """Indices of about `count` points, one from each of as many cubes."""
    size = float(np.linalg.norm(np.ptp(points, axis=0))) / 60.0
    random = np.random.default_rng(seed)
    order = random.permutation(len(points))
    chosen = order[:count]
    for _ in range(5):
        cells = np.floor((points[order] - points.min(axis=0)) / size).astype(np.int64)
        spans = cells.max(axis=0) + 1
        keys = (cells[:, 0] * spans[1] + cells[:, 1]) * spans[2] + cells[:, 2]
        chosen = order[np.unique(keys, return_index=True)[1]]
        ratio = len(chosen) / count
        if 0.8 < ratio < 1.2:
            break
        size *= float(np.sqrt(ratio))
    return np.sort(chosen)
