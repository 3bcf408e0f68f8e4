"""Stitching triangles to a surface: least squares over edges, with a matrix that never changes.

The normal matrix AᵀA of the edges' incidence is a graph Laplacian of the mesh: sparse, symmetric,
singular for a common shift alone. One vertex is held, which makes it positive definite; it is
factored once, and a whole clip is one right-hand side. Afterwards the surface is shifted to where
the root has it: Σ_v pin_v x_v is given.
"""

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.errors import InputError

_FRAMES = 64
"""Frames solved together."""


class Stitching:
    """From edges of triangles to vertices."""

    def __init__(self, triangles: Int[NumpyArray, "F 3"], pin: Float[NumpyArray, "V"]) -> None:
        """`pin` weighs the vertices whose mean place is given; its sum must be above 0."""
        count = len(pin)
        total = float(np.sum(pin))
        if not total > 0 or not np.isfinite(pin).all():
            raise InputError(
                f"no vertex moves with the root (weights sum to {total}); the stitched surface "
                f"has no place. Give skin weights in which the root moves some vertices."
            )
        self.pin = np.asarray(pin, np.float64) / total
        rows = np.arange(2 * len(triangles))
        ones = np.ones(len(rows))
        self._incidence = csr_array(
            (
                np.concatenate([ones, -ones]),
                (
                    np.concatenate([rows, rows]),
                    np.concatenate([triangles[:, 1:].ravel(), np.repeat(triangles[:, 0], 2)]),
                ),
            ),
            shape=(len(rows), count),
        )
        self._transposed = csr_array(self._incidence.T)
        laplacian = csc_array(self._transposed @ self._incidence)
        inner = laplacian[1:, 1:]
        try:
            self._factor = splu(
                csc_array(inner),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError as error:
            raise InputError(
                "the surface has several components or vertices without triangles; triangles can "
                "be stitched to one connected surface alone. Keep its largest component."
            ) from error

    def vertices(
        self,
        edges: Float[NumpyArray, "N F 2 3"],
        places: Float[NumpyArray, "N 3"],
    ) -> Float64[NumpyArray, "N V 3"]:
        """The surfaces whose edges come closest, with pinned means at `places`, metres."""
        frames, count = len(edges), len(self.pin)
        found = np.zeros((count, frames, 3))
        for first in range(0, frames, _FRAMES):
            part = np.asarray(edges[first : first + _FRAMES], np.float64)
            columns = np.moveaxis(part.reshape(len(part), -1, 3), 0, 1).reshape(
                part.shape[1] * 2, -1
            )
            right = self._transposed @ columns
            solved = self._factor.solve(np.ascontiguousarray(right[1:]))
            found[1:, first : first + len(part)] = solved.reshape(count - 1, len(part), 3)
        shift = np.asarray(places, np.float64) - np.einsum("v,vna->na", self.pin, found)
        return np.ascontiguousarray(np.moveaxis(found + shift, 0, 1))

    def pinned_place(self, vertices: Float[NumpyArray, "N V 3"]) -> Float64[NumpyArray, "N 3"]:
        """Where a surface has what is pinned, metres."""
        return np.einsum("v,nva->na", self.pin, np.asarray(vertices, np.float64))
