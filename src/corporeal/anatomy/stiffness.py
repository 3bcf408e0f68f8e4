"""Warped bones that stay bones: an affine copy, and a little bending."""

import numpy as np

from corporeal._typing import Float64, NumpyArray

MOST_BENDING = 0.008
"""Farthest that a vertex leaves the affine copy of its bone, metres."""
TRUSTED = 0.003
"""Vertices that the warp moves farther than this from the affine copy count less, metres."""


def stiffened(
    rest: Float64[NumpyArray, "v 3"], warped: Float64[NumpyArray, "v 3"], rounds: int = 10
) -> Float64[NumpyArray, "v 3"]:
    """A bone between its warped places and the affine map that fits most of them.

    The surface that a warp follows slides over the bones where skin does, most at the crotch, and
    would draw a bone out. The map is found by reweighted least squares, w = 1/max(r, `TRUSTED`);
    what is left over, r, is kept up to `MOST_BENDING`: r / √(1 + (r/most)²).
    """
    middle = rest.mean(axis=0)
    rows = np.column_stack([rest - middle, np.ones(len(rest))])
    # a flat bone has no thickness to fit: a little of the warp's own scale holds it
    hold = 1e-3 * np.sqrt(len(rest)) * np.eye(4)[:3] * np.ptp(rest, axis=0).max()
    spread = np.linalg.norm(warped - warped.mean(axis=0)) / max(np.linalg.norm(rows[:, :3]), 1e-12)
    weights = np.ones(len(rest))
    copy = warped
    for _ in range(rounds):
        root = np.sqrt(weights)[:, None]
        left = np.concatenate([root * rows, hold])
        right = np.concatenate([root * warped, spread * hold[:, :3]])
        copy = rows @ np.linalg.lstsq(left, right, rcond=None)[0]
        off = np.linalg.norm(warped - copy, axis=1)
        weights = TRUSTED / np.maximum(off, TRUSTED)
    residual = warped - copy
    size = np.linalg.norm(residual, axis=1, keepdims=True)
    return copy + residual / np.sqrt(1.0 + (size / MOST_BENDING) ** 2)
