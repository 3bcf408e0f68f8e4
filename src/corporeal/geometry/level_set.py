"""A surface of quads where a sampled function is zero (naive surface nets, Gibson 1998)."""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray


def zero_surface(
    values: Float[NumpyArray, "X Y Z"], origin: Float[NumpyArray, "3"], spacing: float
) -> tuple[Float[NumpyArray, "V 3"], Int[NumpyArray, "Q 4"]]:
    """Vertices (metres) and quads, seen from outside counter-clockwise; values are below 0 inside.

    One vertex a cell that the surface passes, at the mean of its crossings with the cell's edges;
    one quad a grid edge that it crosses. The surface must not reach the border of the grid.
    """
    inside = values < 0
    shape = np.array(values.shape) - 1
    total, count = np.zeros((*shape, 3)), np.zeros(shape)
    crossings = []
    for axis in range(3):
        low, high = _ends(values, axis)
        crossed = (low < 0) != (high < 0)
        share = np.divide(low, low - high, out=np.zeros_like(low), where=crossed)
        at = np.argwhere(crossed)
        points = at.astype(np.float64)
        points[:, axis] += share[crossed]
        for cell in _cells_around(at, axis):
            held = np.all((cell >= 0) & (cell < shape), axis=1)
            np.add.at(total, tuple(cell[held].T), points[held])
            np.add.at(count, tuple(cell[held].T), 1.0)
        crossings.append((axis, at, inside[tuple(at.T)]))
    number = np.full(shape, -1)
    used = count > 0
    number[used] = np.arange(int(used.sum()))
    vertices = origin + spacing * total[used] / count[used][:, None]
    quads = [_quads(number, axis, at, leaving) for axis, at, leaving in crossings]
    return vertices, np.concatenate(quads)


def _ends(values: Float[NumpyArray, "X Y Z"], axis: int) -> tuple[NumpyArray, NumpyArray]:
    moved = np.moveaxis(values, axis, 0)
    return np.moveaxis(moved[:-1], 0, axis), np.moveaxis(moved[1:], 0, axis)


def _cells_around(at: Int[NumpyArray, "n 3"], axis: int) -> list[Int[NumpyArray, "n 3"]]:
    """The four cells at a grid edge, going round it."""
    one, other = np.eye(3, dtype=np.int64)[[(axis + 1) % 3, (axis + 2) % 3]]
    return [at - one - other, at - other, at, at - one]


def _quads(
    number: Int[NumpyArray, "x y z"], axis: int, at: Int[NumpyArray, "n 3"], leaving: NumpyArray
) -> Int[NumpyArray, "n 4"]:
    corners = np.stack([number[tuple(cell.T)] for cell in _cells_around(at, axis)], axis=1)
    return np.where(leaving[:, None], corners, corners[:, ::-1])
