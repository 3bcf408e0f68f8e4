"""Detail carried from the template into a person: a triharmonic space warp (equation 4.15).

    d(x) = Σ_j w_j ‖x − c_j‖³ + a x + b,   d(c_i) = x_i − c_i,   Σ w_j = 0,   Σ w_j c_jᵀ = 0

The system is dense, symmetric and indefinite, and depends on the template alone: its factor is made
on first use and kept in memory (128 MB for 4 000 centres), so that every further person costs two
triangular solves and one sum over the centres a point.
"""

from functools import lru_cache

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.anatomy.bone_margin import held_inside
from corporeal.anatomy.template import LayeredTemplate
from corporeal.assets.anatomy import BoneMesh
from corporeal.body.layers import Layers
from corporeal.errors import InputError

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


BONE_CENTRES, MUSCLE_CENTRES = 4000, 5000
"""Centres of the warps for bones (on B) and for muscles (on B and M)."""
UNIT = 0.5
"""Lengths are divided by this in the system, metres, so that r³ and r⁰ are of one size."""


class TriharmonicWarp:
    """A warp with fixed centres; the values at them change from person to person."""

    def __init__(self, centres: Float64[NumpyArray, "n 3"]) -> None:
        from scipy.linalg import lu_factor

        self.middle = centres.mean(axis=0)
        self.centres = np.ascontiguousarray((centres - self.middle) / UNIT)
        n = len(centres)
        matrix = np.zeros((n + 4, n + 4))
        squared = (self.centres**2).sum(axis=1)
        squared = squared[:, None] + squared - 2 * self.centres @ self.centres.T
        matrix[:n, :n] = np.maximum(squared, 0.0) ** 1.5
        matrix[:n, n : n + 3], matrix[:n, n + 3] = self.centres, 1.0
        matrix[n:, :n] = matrix[:n, n:].T
        self._factor = lu_factor(matrix, overwrite_a=True, check_finite=False)

    def coefficients(
        self, displacements: Float64[NumpyArray, "n 3"]
    ) -> Float64[NumpyArray, "rows 3"]:
        """w_j, then a (three rows) and b, for given displacements of the centres."""
        from scipy.linalg import lu_solve

        if displacements.shape != self.centres.shape:
            raise InputError(
                f"warp has {len(self.centres)} centres and got {len(displacements)} displacements; "
                f"expected one a centre."
            )
        right = np.concatenate([displacements, np.zeros((4, 3))])
        return lu_solve(self._factor, right, check_finite=False)

    def warped(
        self, points: Float64[NumpyArray, "m 3"], coefficients: Float64[NumpyArray, "rows 3"]
    ) -> Float64[NumpyArray, "m 3"]:
        """x + d(x)."""
        from corporeal.anatomy.warp_cpu import triharmonic_sums

        local = np.ascontiguousarray((points - self.middle) / UNIT)
        weights = np.ascontiguousarray(coefficients[:-4])
        sums = triharmonic_sums(local, self.centres, weights)
        return points + sums + local @ coefficients[-4:-1] + coefficients[-1]


def farthest_points(points: Float64[NumpyArray, "m 3"], count: int) -> Int[NumpyArray, "n"]:
    """`count` points, each the farthest from all before it; all of them if there are fewer."""
    from corporeal.anatomy.warp_cpu import farthest_first

    return farthest_first(np.ascontiguousarray(points), min(count, len(points)))


@lru_cache(maxsize=2)
def bone_warp(template: LayeredTemplate) -> tuple[TriharmonicWarp, Int[NumpyArray, "n"]]:
    """The warp that follows the skeleton surface, and the template vertices at its centres."""
    chosen = farthest_points(template.bone, BONE_CENTRES)
    return TriharmonicWarp(template.bone[chosen]), chosen


@lru_cache(maxsize=1)
def muscle_warp(template: LayeredTemplate) -> tuple[TriharmonicWarp, Int[NumpyArray, "n"]]:
    """The warp between skeleton and muscle surface; centres index (B, M) one after the other."""
    both = np.concatenate([template.bone, template.muscle])
    outside = np.concatenate([np.ones(len(template.bone), bool), template.layered])
    index = np.flatnonzero(outside)
    chosen = index[farthest_points(both[index], MUSCLE_CENTRES)]
    return TriharmonicWarp(both[chosen]), chosen


def transfer_bones(layers: Layers, template: LayeredTemplate) -> tuple[BoneMesh, ...]:
    """The template's detailed bones inside a person, beneath the skin by `bone_margin.MARGIN`."""
    warp, chosen = bone_warp(template)
    coefficients = warp.coefficients(layers.bone[chosen] - template.bone[chosen])
    warped = _carried(warp, coefficients, template.bones)
    stiff = [
        BoneMesh(bone.name, stiffened(bone.vertices, moved.vertices), bone.triangles)
        for bone, moved in zip(template.bones, warped, strict=True)
    ]
    return held_inside(stiff, np.asarray(layers.skin, np.float64), template.triangles)


def transfer_muscles(layers: Layers, template: LayeredTemplate) -> tuple[BoneMesh, ...]:
    """The template's detailed muscles inside a person; none for one without an atlas."""
    if not template.muscles:
        return ()
    warp, chosen = muscle_warp(template)
    before = np.concatenate([template.bone, template.muscle])[chosen]
    after = np.concatenate([layers.bone, layers.muscle])[chosen]
    return _carried(warp, warp.coefficients(after - before), template.muscles)


def _carried(
    warp: TriharmonicWarp,
    coefficients: Float64[NumpyArray, "rows 3"],
    meshes: tuple[BoneMesh, ...],
) -> tuple[BoneMesh, ...]:
    """Meshes with all their vertices warped at once."""
    moved = warp.warped(np.concatenate([mesh.vertices for mesh in meshes]), coefficients)
    ends = np.cumsum([len(mesh.vertices) for mesh in meshes])[:-1]
    return tuple(
        BoneMesh(mesh.name, vertices, mesh.triangles)
        for mesh, vertices in zip(meshes, np.split(moved, ends), strict=True)
    )
