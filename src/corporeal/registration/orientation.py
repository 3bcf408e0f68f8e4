"""Normals of clouds of points, all outwards.

The normal of a point is that of the plane through its neighbours; its sign s is what is looked for.
Two things tell it, neither alone: a point that a far camera sees faces that camera, and bodies
bulge, so that points lie beyond the middle of their surroundings. Every point has a vote u of both,
which is wrong here and there (in armpits, behind holes); neighbours agree. So s solves

    Σ_ij a_ij (s_i − σ_ij s_j)² + λ Σ_i (s_i − u_i)²  →  min,     σ_ij = sign(n_i · n_j)

over the neighbourhood graph, a_ij small across sharp bends (the graph of Hoppe et al. 1992, whose
spanning tree carries one wrong turn over a whole leg). The matrix is sparse, symmetric and positive
definite. A shell is seen from both sides alike: there its bulge decides.
"""

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray

_NEIGHBOURS = 12
_SURROUNDINGS = 0.05
"""Radius of the surroundings whose middle tells outwards from inwards, share of the extent."""
_VIEWS = 24
"""Far cameras, half of them facing the other half."""
_CELL = 0.008
"""Size of a camera's pixels, share of the extent."""
_DEPTH = 0.02
"""How far behind the nearest point of a pixel points count as seen, share of the extent."""
_BULGE = 1.0
"""Weight of the bulge's vote against the cameras'."""
_UNARY = 0.01
"""λ, against the neighbours of a point."""
_CONSISTENT = 0.9
"""Given normals whose signs agree with the found ones up to so much, or less than its rest, keep
their own signs."""
_STEPS = 80
"""Iterations of conjugate gradients at most."""


def outward_normals(
    points: Float64[NumpyArray, "n 3"], normals: Float64[NumpyArray, "n 3"] | None = None
) -> Float64[NumpyArray, "n 3"]:
    """Unit normals of points that lie on surfaces, outwards; `normals` that are known keep their
    directions, and their relative signs unless a good part of them is turned over."""
    from scipy.spatial import KDTree

    near = np.asarray(KDTree(points).query(points, min(_NEIGHBOURS, len(points)))[1])
    near = near.reshape(len(points), -1)
    if normals is None:
        found = _plane_normals(points, near)
    else:
        found = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    signs = _signs(found, near, _votes(points, found))
    if normals is not None:
        agree = float((signs > 0).mean())
        if not 1.0 - _CONSISTENT < agree < _CONSISTENT:
            signs = np.full(len(points), 1.0 if agree > 0.5 else -1.0)
    return found * signs[:, None]


def _plane_normals(
    points: Float64[NumpyArray, "n 3"], near: Int[NumpyArray, "n k"]
) -> Float64[NumpyArray, "n 3"]:
    """The direction in which neighbours spread least."""
    around = points[near] - points[near].mean(axis=1, keepdims=True)
    return np.linalg.eigh(np.einsum("nka,nkb->nab", around, around))[1][:, :, 0]


def _votes(
    points: Float64[NumpyArray, "n 3"], normals: Float64[NumpyArray, "n 3"]
) -> Float64[NumpyArray, "n"]:
    """u, −1 to 1: positive where the normal seems to face outwards."""
    extent = float(np.ptp(points, axis=0).max())
    ways = _directions()
    seen = np.stack([_seen(points, way, _CELL * extent, _DEPTH * extent) for way in ways])
    bulge = points - _surroundings(points, _SURROUNDINGS * extent)
    beyond = np.tanh(4.0 / (_SURROUNDINGS * extent) * np.sum(bulge * normals, axis=1))
    return np.tanh(np.sum((seen.T @ ways) * normals, axis=1)) + _BULGE * beyond


def _directions() -> Float64[NumpyArray, "v 3"]:
    """Unit vectors spread over the sphere, each with its opposite."""
    half = _VIEWS // 2
    heights = (np.arange(half) + 0.5) / half
    turns = np.pi * (1.0 + np.sqrt(5.0)) * np.arange(half)
    level = np.sqrt(1.0 - heights**2)
    found = np.stack([level * np.cos(turns), heights, level * np.sin(turns)], axis=1)
    return np.concatenate([found, -found])


def _seen(
    points: Float64[NumpyArray, "n 3"], way: Float64[NumpyArray, "3"], cell: float, depth: float
) -> NumpyArray:
    """Whether a far camera in the direction `way` sees each point: none lies far before it."""
    aside = np.cross(way, np.eye(3)[np.argmin(np.abs(way))])
    aside /= np.linalg.norm(aside)
    flat = points @ np.stack([aside, np.cross(way, aside)], axis=1)
    pixels = np.floor((flat - flat.min(axis=0)) / cell).astype(np.int64) + 1
    wide = int(pixels[:, 1].max()) + 2
    keys = pixels[:, 0] * wide + pixels[:, 1]
    near = points @ way
    nearest = np.full((int(pixels[:, 0].max()) + 2) * wide, -np.inf)
    np.maximum.at(nearest, keys, near)
    grid = nearest.reshape(-1, wide)
    # a pixel without points between others does not let a camera look through
    padded = np.pad(grid, 1, constant_values=-np.inf)
    across = np.maximum(np.maximum(padded[:-2], padded[2:]), padded[1:-1])
    grid = np.maximum(np.maximum(across[:, :-2], across[:, 2:]), across[:, 1:-1])
    return near > grid.reshape(-1)[keys] - depth


def _surroundings(points: Float64[NumpyArray, "n 3"], radius: float) -> Float64[NumpyArray, "n 3"]:
    """Middle of the points about each point, every small cube counting once."""
    from scipy.spatial import KDTree

    from corporeal.registration.scan_surface import cell_means

    (cells,) = cell_means(points, 0.25 * radius)
    near = KDTree(cells).query_ball_point(cells, radius)
    middles = np.stack([cells[group].mean(axis=0) for group in near])
    return middles[np.asarray(KDTree(cells).query(points)[1])]


def _signs(
    normals: Float64[NumpyArray, "n 3"],
    near: Int[NumpyArray, "n k"],
    votes: Float64[NumpyArray, "n"],
) -> Float64[NumpyArray, "n"]:
    """±1 a point, such that neighbours agree and most votes are heard."""
    from scipy.sparse import csr_array, diags_array
    from scipy.sparse.linalg import cg

    count = len(normals)
    rows = np.repeat(np.arange(count), near.shape[1] - 1)
    columns = near[:, 1:].reshape(-1)
    cosines = np.sum(normals[rows] * normals[columns], axis=1)
    graph = csr_array((cosines**3, (rows, columns)), shape=(count, count))
    graph = 0.5 * (graph + graph.T)
    degree = np.asarray(abs(graph).sum(axis=1)).reshape(-1)
    matrix = csr_array(diags_array(degree + _UNARY * near.shape[1]) - graph)
    solved = cg(
        matrix, _UNARY * near.shape[1] * votes, x0=votes, rtol=1e-3, maxiter=_STEPS,
        M=diags_array(1.0 / (degree + _UNARY * near.shape[1])),
    )[0]  # fmt: skip
    return np.where(solved < 0, -1.0, 1.0)
