"""Total deformations of a registration with smooth neighbours (Pons-Moll 2015, eq. 12), pose given.

The least squares have nine unknowns a triangle; the matrix holds Q_t(θ) and the blended R*_t, which
is not orthogonal, so it changes every frame: sparse, symmetric, positive definite for λ > 0. It is
solved by conjugate gradients from the frame before, preconditioned by the factor of the matrix with
R* and Q the identity, where the three rows of T fall apart and share one matrix of 3F unknowns;
that one never changes and is factored once.
"""

import numpy as np
from scipy.sparse import block_diag, coo_array, csc_array, eye_array, kron
from scipy.sparse.linalg import splu

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.errors import InputError, SolverError


def triangle_neighbours(triangles: Int[NumpyArray, "F 3"]) -> Int[NumpyArray, "n 2"]:
    """Pairs of triangles that share an edge."""
    corners = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    edges = np.sort(corners, axis=1)
    owner = np.repeat(np.arange(len(triangles)), 3)
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    same = (np.diff(edges[order], axis=0) == 0).all(axis=1)
    return np.stack([owner[order][:-1][same], owner[order][1:][same]], axis=1)


class Decomposition:
    """Solves for T, frame by frame."""

    def __init__(
        self,
        triangles: Int[NumpyArray, "F 3"],
        template_edges: Float64[NumpyArray, "F 3 2"],
        smoothness: float = 1e-5,
    ) -> None:
        """`smoothness` is λ, m²: edges are in metres, deformations have no unit."""
        if not smoothness > 0:
            raise InputError(
                f"the smoothness of a decomposition is {smoothness} m²; expected above 0, since "
                f"two edges do not determine a deformation."
            )
        self._edges, self.smoothness = template_edges, smoothness
        pairs, count = triangle_neighbours(triangles), len(triangles)
        rows = np.repeat(np.arange(len(pairs)), 2)
        signs = np.tile([1.0, -1.0], len(pairs))
        apart = coo_array((signs, (rows, pairs.ravel())), shape=(len(pairs), count)).tocsr()
        self._laplacian = smoothness * (apart.T @ apart).tocsr()
        own = np.einsum("tae,tbe->tab", template_edges, template_edges)
        whole = csc_array(block_diag(list(own)) + kron(self._laplacian, eye_array(3)))
        self._factor = splu(
            whole, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )  # fmt: skip
        self.iterations = 0
        """Of the last solve."""

    def solve(
        self,
        R: Float64[NumpyArray, "F 3 3"],
        Q: Float64[NumpyArray, "F 3 3"],
        edges: Float64[NumpyArray, "F 2 3"],
        start: Float64[NumpyArray, "F 3 3"] | None = None,
        tolerance: float = 1e-10,
        most: int = 500,
    ) -> Float64[NumpyArray, "F 3 3"]:
        """T of one frame; the residual falls to `tolerance` of the right-hand side's."""
        columns = Q @ self._edges
        turned = np.swapaxes(R, -1, -2)
        left = turned @ R
        outer = columns @ np.swapaxes(columns, -1, -2)
        right = turned @ np.swapaxes(edges, -1, -2) @ np.swapaxes(columns, -1, -2)

        def product(T: NumpyArray) -> NumpyArray:
            # RᵀR T (Qv̂)(Qv̂)ᵀ + λ Σ_adj (T − T′)
            flat = self._laplacian @ T.reshape(len(T), 9)
            return left @ T @ outer + flat.reshape(T.shape)

        def precondition(T: NumpyArray) -> NumpyArray:
            # rows of T are the columns of the right-hand side
            flat = np.ascontiguousarray(np.swapaxes(T, 1, 2).reshape(-1, 3))
            return np.swapaxes(self._factor.solve(flat).reshape(T.shape), 1, 2)

        found = np.broadcast_to(np.eye(3), right.shape).copy() if start is None else start.copy()
        residual = right - product(found)
        way = precondition(residual)
        power = float(np.sum(residual * way))
        least = tolerance * float(np.linalg.norm(right))
        for iteration in range(most):
            if float(np.linalg.norm(residual)) <= least:
                self.iterations = iteration
                return found
            image = product(way)
            length = power / float(np.sum(way * image))
            found += length * way
            residual -= length * image
            fresh = precondition(residual)
            after = float(np.sum(residual * fresh))
            way = fresh + (after / power) * way
            power = after
        raise SolverError(
            f"the decomposition of a frame did not settle in {most} iterations (residual "
            f"{np.linalg.norm(residual):.2e} of {least:.2e}); its pose may be far off."
        )
