"""From skin triangles and their inner copies to tetrahedra.

Komaritzan 2022, section 3.2.1, "Volumetric Tissue Mesh" and figure 3.4. Where it
flips random arrows until no triangle is cyclic, every edge points from its smaller to its larger
vertex index here: an order has no cycles, so the configuration is valid at once, on any mesh. Where
a surface is its own mirror image, a vertex and its image have one place in the order, so that the
tetrahedra are mirror images, too.
"""

import numpy as np

from corporeal._typing import Bool, Float, Int, NumpyArray

THINNEST = 0.02
"""A tetrahedron is degenerate where an altitude is below this share of its skin triangle's mean
edge."""
SMALLEST_TRIANGLE = 0.1
"""Triangles count as at least so large, as a share of the skin's mean edge: where all three corners
lie in one place, elements are just as thin."""


def split_prisms(
    triangles: Int[NumpyArray, "F 3"],
    vertex_count: int,
    mirror: Int[NumpyArray, "V"] | None = None,
) -> tuple[Int[NumpyArray, "T 4"], Int[NumpyArray, "T"]]:
    """Three tetrahedra a prism, and the triangle each came from; inner copy of v is v + V.

    With corners a < b < c the quads' diagonals are a–b', b–c' and a–c', so both prisms at an edge
    split its quad the same way. Corners are ordered so that volumes are positive where the inner
    copy lies behind its triangle (opposite to the outward normal). With the `mirror` image of every
    vertex, the smaller index of the two decides, and then the vertex's own: no edge joins the two
    unless it crosses the plane.
    """
    number = np.arange(vertex_count)
    if mirror is not None:
        number = 2 * np.minimum(number, mirror) + (number > mirror)
    order = np.argsort(number[triangles], axis=1)
    a, b, c = np.take_along_axis(triangles, order, axis=1).T
    inner_a, inner_b, inner_c = a + vertex_count, b + vertex_count, c + vertex_count
    corners = np.stack(
        [[a, b, c, inner_c], [a, b, inner_c, inner_b], [a, inner_b, inner_c, inner_a]], axis=0
    )
    tetrahedra = corners.transpose(2, 0, 1).reshape(-1, 4)
    # a, b, c run counter-clockwise seen from outside when the sorting permutation is even: then the
    # fourth corner, inside, gives a negative determinant, and two corners are swapped
    even = (order[:, 1] - order[:, 0]) % 3 == 1
    swap = np.repeat(even, 3)
    tetrahedra[swap] = tetrahedra[swap][:, [0, 1, 3, 2]]
    return tetrahedra, np.repeat(np.arange(len(triangles)), 3)


def signed_volumes(
    points: Float[NumpyArray, "n 3"], tetrahedra: Int[NumpyArray, "T 4"]
) -> Float[NumpyArray, "T"]:
    """det(x₁−x₀, x₂−x₀, x₃−x₀)/6, m³."""
    corner = points[tetrahedra]
    edges = corner[:, 1:] - corner[:, :1]
    return np.sum(np.cross(edges[:, 0], edges[:, 1]) * edges[:, 2], axis=1) / 6.0


def smallest_altitudes(
    points: Float[NumpyArray, "n 3"], tetrahedra: Int[NumpyArray, "T 4"]
) -> Float[NumpyArray, "T"]:
    """3 |V| / A for the largest face of every tetrahedron, metres; 0 if it has no area."""
    corner = points[tetrahedra]
    volume = np.abs(signed_volumes(points, tetrahedra))
    largest = np.zeros(len(tetrahedra))
    for i, j, k in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)):
        face = np.cross(corner[:, j] - corner[:, i], corner[:, k] - corner[:, i])
        largest = np.maximum(largest, 0.5 * np.linalg.norm(face, axis=1))
    return np.divide(3.0 * volume, largest, out=np.zeros_like(volume), where=largest > 0)


def degenerate_elements(
    points: Float[NumpyArray, "n 3"],
    tetrahedra: Int[NumpyArray, "T 4"],
    triangles: Int[NumpyArray, "F 3"],
    owners: Int[NumpyArray, "T"],
) -> Bool[NumpyArray, "T"]:
    """Elements too thin to have a usable rest shape.

    An element of altitudes h or more has a volume of 0.2 h³ or more: one of less is tiny, and its
    computed altitude mere rounding.
    """
    sides = points[triangles] - points[np.roll(triangles, 1, axis=1)]
    edge = np.linalg.norm(sides, axis=-1).mean(axis=1)
    least = THINNEST * np.maximum(edge, SMALLEST_TRIANGLE * edge.mean())[owners]
    tiny = np.abs(signed_volumes(points, tetrahedra)) <= 0.2 * least**3
    return tiny | (smallest_altitudes(points, tetrahedra) <= least)
