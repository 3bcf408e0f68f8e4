"""Stitching triangles to a surface: least squares over edges, with a matrix that never changes.

The normal matrix AᵀA of the edges' incidence is a graph Laplacian of the mesh: sparse, symmetric,
singular for a common shift alone. One vertex is held, which makes it positive definite; it is
factored once, and a whole clip is one right-hand side. Afterwards the surface is shifted to where
the root has it: Σ_v pin_v x_v is given.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import splu

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.errors import InputError

_FRAMES = 64
"""Frames solved together."""


@dataclass(frozen=True, eq=False)
class Anchors:
    """Places that a stitched surface is held near, with what is known before any frame."""

    means: Float64[NumpyArray, "A V"]
    """P: weights of vertices, rows sum to 1."""
    answers: Float64[NumpyArray, "V A"]
    """Z: how the surface gives way to a pull on each."""
    matrix: Float64[NumpyArray, "B B"]
    """Of pulls and the common shift, B = A + 1."""


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

    def anchored(
        self,
        edges: Float[NumpyArray, "N F 2 3"],
        anchors: "Anchors",
        places: Float[NumpyArray, "N A 3"],
    ) -> Float64[NumpyArray, "N V 3"]:
        """The surfaces whose edges come closest and whose anchors come close to `places`, metres:
        argmin Σ ‖x_t,e − v_t,e‖² + λ Σ_a ‖Σ_v P_av x_v − g_a‖²."""
        frames, size = len(edges), len(anchors.means)
        free = np.moveaxis(self.vertices(edges, np.zeros((frames, 3))), 0, 1)
        free = free.reshape(len(self.pin), -1)
        wanted = np.moveaxis(np.asarray(places, np.float64), 0, 1).reshape(size, -1)
        right = np.concatenate([wanted - anchors.means @ free, np.zeros((1, free.shape[1]))])
        pulls = np.linalg.solve(anchors.matrix, right)
        found = free + anchors.answers @ pulls[:size] + pulls[size]
        return np.ascontiguousarray(np.moveaxis(found.reshape(-1, frames, 3), 1, 0))

    def anchors(self, means: Float[NumpyArray, "A V"], strength: float) -> "Anchors":
        """Weighted means of vertices that are held near given places; rows sum to 1.

        A pull y on the anchors moves the surface by Z y, Z = L⁻¹ Pᵀ, and a common shift c; pulls
        sum to 0, and P x + y/λ = g (the Woodbury form of the normal equations).
        """
        rows = np.asarray(means, np.float64)
        answers = np.zeros(rows.T.shape)
        answers[1:] = self._factor.solve(np.ascontiguousarray(rows.T[1:]))
        size = len(rows)
        matrix = np.zeros((size + 1, size + 1))
        matrix[:size, :size] = rows @ answers + np.eye(size) / strength
        matrix[:size, size] = matrix[size, :size] = 1.0
        return Anchors(rows, answers, matrix)

    def pinned_place(self, vertices: Float[NumpyArray, "N V 3"]) -> Float64[NumpyArray, "N 3"]:
        """Where a surface has what is pinned, metres."""
        return np.einsum("v,nva->na", self.pin, np.asarray(vertices, np.float64))
