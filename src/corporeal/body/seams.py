"""Texture seams, opened: engines keep one texture coordinate a vertex."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.mesh import Mesh


@dataclass(frozen=True)
class EngineSurface:
    """A mesh as an engine wants it: one texture coordinate a vertex."""

    source: Int[NumpyArray, "v"]
    """Original vertex of every vertex; the first V are 0 … V−1."""
    triangles: Int[NumpyArray, "F 3"]
    """Corner indices into the v vertices."""
    uv: Float[NumpyArray, "v 2"] | None
    """Texture coordinates, v down."""


def split_seams(mesh: Mesh) -> EngineSurface:
    """Give every vertex one texture coordinate, by appending copies for further ones."""
    count = mesh.vertex_count
    if mesh.uv is None or mesh.uv_triangles is None:
        return EngineSurface(np.arange(count), mesh.triangles, None)
    # pairs of vertex and coordinate as one number each: ten times faster than rows
    coded = mesh.triangles.ravel().astype(np.int64) * len(mesh.uv) + mesh.uv_triangles.ravel()
    found, corner_pair = np.unique(coded, return_inverse=True)
    pairs = np.stack(np.divmod(found, len(mesh.uv)), axis=1)
    first = np.r_[True, pairs[1:, 0] != pairs[:-1, 0]]
    slot = np.where(first, pairs[:, 0], count + np.cumsum(~first) - 1)
    source = np.r_[np.arange(count), pairs[~first, 0]]
    uv = np.zeros((len(source), 2), np.float32)
    uv[slot] = mesh.uv[pairs[:, 1]] * [1, -1] + [0, 1]
    return EngineSurface(source, slot[corner_pair].reshape(-1, 3), uv)
