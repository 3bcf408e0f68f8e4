"""Tetrahedra in strips of three: six vertices in a row, each four neighbours a tetrahedron.

Any three tetrahedra that hang together face by face are a strip, as are the three of a prism.
A strip reads six vertices where three tetrahedra read twelve, and its edges are five differences.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray

MISSING = -1


@dataclass(frozen=True)
class Strips:
    """Every tetrahedron once, up to three a strip."""

    members: Int[NumpyArray, "n 3"]
    """Tetrahedra in their order along the strip; `MISSING` where there are fewer than three."""
    corners: Int[NumpyArray, "n 6"]
    """Vertices: tetrahedron k has corners k … k + 3. Those left over repeat the last one."""


def chain_strips(tetrahedra: Int[NumpyArray, "T 4"]) -> Strips:
    """Strips of neighbours with numbers near each other, so that prisms stay together."""
    from corporeal.physics.solver.cpu.strip_kernels import chain

    count = len(tetrahedra)
    members, corners = np.full((count, 3), MISSING), np.zeros((count, 6), np.int64)
    neighbours = _face_neighbours(tetrahedra)
    used = chain(tetrahedra, neighbours, np.zeros(count, bool), members, corners)
    return Strips(members[:used], corners[:used])


def strip_edges(
    tetrahedra: Int[NumpyArray, "T 4"],
    inverse_edges: Float64[NumpyArray, "T 3 3"],
    corners: Int[NumpyArray, "T 4"],
) -> Float64[NumpyArray, "T 3 3"]:
    """G for edges from corner to corner along a strip, where `inverse_edges` are for those from the
    first corner of `tetrahedra`: with edges D = T E, Fᵀ = G E = (G T⁻¹) D."""
    edge_of_corner = np.concatenate([np.zeros((1, 3)), np.eye(3)])
    own = np.argmax(corners[:, :, None] == tetrahedra[:, None, :], axis=2)
    along = np.diff(edge_of_corner[own], axis=1)
    return inverse_edges @ np.linalg.inv(along)


def _face_neighbours(tetrahedra: Int[NumpyArray, "T 4"]) -> Int[NumpyArray, "T 4"]:
    """The tetrahedron across every face, or −1; faces of three or more pair the first two."""
    faces = np.sort(
        tetrahedra[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]].reshape(-1, 3), axis=1
    )
    order = np.lexsort(faces.T)
    same = (faces[order[1:]] == faces[order[:-1]]).all(axis=1)
    same[1:] &= ~same[:-1]
    first, second = order[:-1][same], order[1:][same]
    across = np.full(faces.shape[0], -1)
    across[first], across[second] = second // 4, first // 4
    return across.reshape(-1, 4)
