"""Small solids of tetrahedra for the physics tests."""

import itertools

import numpy as np


def grid(shape: tuple[int, int, int], size: tuple[float, float, float]) -> np.ndarray:
    """Corners of a box of `shape` cells with one corner at the origin, (nx+1)(ny+1)(nz+1) × 3."""
    axes = [np.linspace(0, s, n + 1) for n, s in zip(shape, size, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def cells(shape: tuple[int, int, int]) -> np.ndarray:
    """The eight corners of every cell of `grid`, in the order of their bits xyz."""
    index = np.arange(np.prod(np.add(shape, 1))).reshape(np.add(shape, 1))
    corners = [
        index[x : x + shape[0], y : y + shape[1], z : z + shape[2]].ravel()
        for x, y, z in itertools.product((0, 1), repeat=3)
    ]
    return np.stack(corners, axis=1)


def bar(
    shape: tuple[int, int, int], size: tuple[float, float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """A box cut into six tetrahedra a cell (Kuhn), with positive volumes."""
    rest, boxes = grid(shape, size), cells(shape)
    paths = []
    for order in itertools.permutations((4, 2, 1)):
        path = [0, order[0], order[0] + order[1], 7]
        paths.append(boxes[:, path])
    tetrahedra = np.concatenate(paths)
    corners = rest[tetrahedra]
    negative = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0
    tetrahedra[negative] = tetrahedra[negative][:, [0, 1, 3, 2]]
    return rest, tetrahedra
