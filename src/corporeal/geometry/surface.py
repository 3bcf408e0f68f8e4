"""Triangle surfaces: edges, neighbours, normals, areas.

Normals and areas are written against the array API and take NumPy, JAX or PyTorch vertices;
topology is NumPy alone, since triangles are.
"""

from typing import TYPE_CHECKING

import numpy as np
from array_api_compat import array_namespace

from corporeal._typing import Array, Float, Int, NumpyArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def unique_edges(triangles: Int[NumpyArray, "F 3"]) -> Int[NumpyArray, "E 2"]:
    """Every edge once, smaller index first, in lexicographic order."""
    directed = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    return np.unique(np.sort(directed, axis=1), axis=0)


def mean_side(vertices: Float[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]) -> float:
    """Mean length of all triangles' sides, metres: edges between two triangles count twice."""
    sides = vertices[triangles] - vertices[np.roll(triangles, 1, axis=1)]
    return float(np.linalg.norm(sides, axis=-1).mean())


def edge_triangles(
    triangles: Int[NumpyArray, "F 3"],
) -> tuple[Int[NumpyArray, "E 2"], Int[NumpyArray, "E 2"]]:
    """Edges, and the two triangles at each of them; −1 where an edge has one triangle.

    Of a third and further triangle at a non-manifold edge nothing is told.
    """
    directed = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    owner = np.repeat(np.arange(len(triangles)), 3)
    edges, inverse = np.unique(directed, axis=0, return_inverse=True)
    order = np.argsort(inverse.reshape(-1), kind="stable")
    first = np.searchsorted(inverse.reshape(-1)[order], np.arange(len(edges)))
    count = np.bincount(inverse.reshape(-1), minlength=len(edges))
    pairs = np.full((len(edges), 2), -1, owner.dtype)
    pairs[:, 0] = owner[order[first]]
    shared = count > 1
    pairs[shared, 1] = owner[order[first[shared] + 1]]
    return edges, pairs


def vertex_adjacency(triangles: Int[NumpyArray, "F 3"], vertex_count: int) -> "csr_array":
    """Symmetric sparse matrix, V × V, that is 1 where an edge joins two vertices."""
    from scipy.sparse import csr_array

    edges = unique_edges(triangles)
    rows = np.concatenate([edges[:, 0], edges[:, 1]])
    columns = np.concatenate([edges[:, 1], edges[:, 0]])
    ones = np.ones(len(rows), np.int8)
    return csr_array((ones, (rows, columns)), shape=(vertex_count, vertex_count))


def triangle_area_vectors(
    vertices: Float[Array, "*batch V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Float[Array, "*batch F 3"]:
    """Outward normals whose length is the triangle's area, m²."""
    xp = array_namespace(vertices)
    corner = [vertices[..., triangles[:, k], :] for k in range(3)]
    return 0.5 * xp.linalg.cross(corner[1] - corner[0], corner[2] - corner[0])


def triangle_areas(
    vertices: Float[Array, "*batch V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Float[Array, "*batch F"]:
    """Area of every triangle, m²."""
    xp = array_namespace(vertices)
    return xp.linalg.vector_norm(triangle_area_vectors(vertices, triangles), axis=-1)


def surface_area(
    vertices: Float[Array, "*batch V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Float[Array, "*batch"]:
    """Area of the whole surface, m²."""
    xp = array_namespace(vertices)
    return xp.sum(triangle_areas(vertices, triangles), axis=-1)


def vertex_normals(
    vertices: Float[NumpyArray, "*batch V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Float[NumpyArray, "*batch V 3"]:
    """Unit normals at the vertices: neighbouring triangles, weighted by area.

    A vertex of no triangle, or whose neighbours cancel, gets the zero vector.
    """
    from scipy.sparse import csr_array

    count, flat = vertices.shape[-2], vertices.reshape(-1, *vertices.shape[-2:])
    owners = np.tile(np.arange(len(triangles)), 3)
    ones = np.ones(3 * len(triangles), vertices.dtype)
    gather = csr_array((ones, (triangles.T.reshape(-1), owners)), shape=(count, len(triangles)))
    area_vectors = triangle_area_vectors(flat, triangles)
    normals = np.stack([gather @ vectors for vectors in area_vectors]).reshape(vertices.shape)
    length = np.linalg.norm(normals, axis=-1, keepdims=True)
    return np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)
