"""Prisms between two layers: their volumes, and how inverted ones are put right."""

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.physics.volumetric_mesh.prisms import split_prisms

ROUNDING = 1e-13
"""Volumes below this are zero, m³ (a ten-thousandth of a cubic millimetre)."""


TUCKS = (1, 2, 4, 8)
"""Rings of vertices that are tucked along with those that find no place."""
TUCKED = 0.004
"""How deep they are put beneath the skin, metres."""
FLAT = 1e-4
"""Least thickness that projections aim at, metres."""


class Prisms:
    """The elements between an outer and an inner surface of one triangulation.

    Only triangles with a layered corner span a prism; those along the border of the layered region
    taper to nothing on one side. `mirror` makes the elements of a symmetric surface symmetric.
    """

    def __init__(
        self,
        triangles: Int[NumpyArray, "F 3"],
        layered: Bool[NumpyArray, "V"],
        mirror: Int[NumpyArray, "V"] | None = None,
    ) -> None:
        self.triangles = triangles[layered[triangles].any(axis=1)]
        self.layered = layered
        self.tetrahedra, _ = split_prisms(self.triangles, len(layered), mirror)

    def tetrahedron_volumes(
        self, outer: Float64[NumpyArray, "V 3"], inner: Float64[NumpyArray, "V 3"]
    ) -> Float64[NumpyArray, "T"]:
        """Signed, three a prism, m³."""
        from corporeal.anatomy.prisms_cpu import tetrahedron_volumes

        return tetrahedron_volumes(np.concatenate([outer, inner]), self.tetrahedra)

    def volumes(
        self, outer: Float64[NumpyArray, "V 3"], inner: Float64[NumpyArray, "V 3"]
    ) -> Float64[NumpyArray, "F"]:
        """Signed volume of every prism, m³."""
        return self.tetrahedron_volumes(outer, inner).reshape(-1, 3).sum(axis=1)

    def inverted(
        self, outer: Float64[NumpyArray, "V 3"], inner: Float64[NumpyArray, "V 3"]
    ) -> Bool[NumpyArray, "V"]:
        """Vertices of tetrahedra with a negative volume, layered ones alone."""
        wrong = self.tetrahedron_volumes(outer, inner) < -ROUNDING
        touched = np.zeros(len(self.layered), bool)
        touched[self.tetrahedra[wrong].ravel() % len(self.layered)] = True
        return touched & self.layered


def untangle(
    prisms: Prisms,
    outer: Float64[NumpyArray, "V 3"],
    inner: Float64[NumpyArray, "V 3"],
) -> Float64[NumpyArray, "V 3"]:
    """`inner` moved where prisms are inverted, as little as possible.

    Projections first (`raised`). Where they find no place, as in skin that is pinched between the
    thighs, the inner surface is tucked beneath the skin, in wider and wider rings.
    """
    inner = raised(prisms, outer, inner)
    for rings in TUCKS:
        wrong = prisms.inverted(outer, inner)
        if not wrong.any():
            break
        trial = raised(prisms, outer, tucked(prisms, outer, inner, wrong, rings))
        if prisms.inverted(outer, trial).sum() < wrong.sum():
            inner = trial
    return inner


def raised(
    prisms: Prisms,
    outer: Float64[NumpyArray, "V 3"],
    inner: Float64[NumpyArray, "V 3"],
    rounds: int = 400,
) -> Float64[NumpyArray, "V 3"]:
    """Inner vertices moved until every tetrahedron has `FLAT` volume, or `rounds` have passed."""
    moving = np.concatenate([np.zeros(len(outer), bool), prisms.layered])
    return _raised(prisms, outer, inner, moving, rounds)[len(outer) :]


def raised_outer(
    prisms: Prisms,
    outer: Float64[NumpyArray, "V 3"],
    inner: Float64[NumpyArray, "V 3"],
    rounds: int = 400,
) -> Float64[NumpyArray, "V 3"]:
    """The same for the outer vertices over an inner surface that stays."""
    moving = np.concatenate([prisms.layered, np.zeros(len(inner), bool)])
    return _raised(prisms, outer, inner, moving, rounds)[: len(outer)]


def _raised(
    prisms: Prisms,
    outer: Float64[NumpyArray, "V 3"],
    inner: Float64[NumpyArray, "V 3"],
    moving: Bool[NumpyArray, "n"],
    rounds: int,
) -> Float64[NumpyArray, "n 3"]:
    """Outer and inner vertices, those `moving` raised."""
    points, least = np.concatenate([outer, inner]), _least_volumes(prisms, outer)
    return _projected(points, prisms.tetrahedra, least, moving, rounds)


def raised_between(
    prisms: Prisms,
    outer: Float64[NumpyArray, "V 3"],
    middle: Float64[NumpyArray, "V 3"],
    inner: Float64[NumpyArray, "V 3"],
    rounds: int = 400,
    where: Bool[NumpyArray, "V"] | None = None,
) -> tuple[Float64[NumpyArray, "V 3"], Float64[NumpyArray, "V 3"]]:
    """Middle and inner surface, moved until no tetrahedron on either side is flat or inverted.

    Only vertices `where` (all that are layered, if None) move, and the inner surface only where the
    middle one alone finds no place.
    """
    count, fixed = len(outer), np.zeros(len(outer), bool)
    points = np.concatenate([outer, middle, inner])
    tetrahedra = np.concatenate([prisms.tetrahedra, prisms.tetrahedra + count])
    areas = [_least_volumes(prisms, surface) for surface in (outer, middle, inner)]
    halves = [np.minimum(areas[0], areas[1]), np.minimum(areas[1], areas[2])]
    least = 0.3 * np.concatenate(halves)  # skin may be wider than what lies beneath it
    moving = prisms.layered if where is None else prisms.layered & where
    for below in (fixed, moving):
        free = np.concatenate([fixed, moving, below])
        points = _projected(points, tetrahedra, least, free, rounds)
        outer_half, inner_half = points[count : 2 * count], points[2 * count :]
        tangled = prisms.inverted(outer, outer_half) | prisms.inverted(outer_half, inner_half)
        if not tangled.any():
            break
    return points[count : 2 * count].copy(), points[2 * count :].copy()


def _least_volumes(prisms: Prisms, outer: Float64[NumpyArray, "V 3"]) -> Float64[NumpyArray, "T"]:
    """A third of a prism `FLAT` thick over each triangle, m³."""
    corner = outer[prisms.triangles]
    cross = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    return np.repeat(FLAT * np.linalg.norm(cross, axis=1) / 6.0, 3)


def _projected(
    points: Float64[NumpyArray, "n 3"],
    tetrahedra: Int[NumpyArray, "T 4"],
    least: Float64[NumpyArray, "T"],
    free: Bool[NumpyArray, "n"],
    rounds: int,
) -> Float64[NumpyArray, "n 3"]:
    """Each tetrahedron that is too small takes the shortest way out; a vertex takes the mean of its
    tetrahedra's ways, and a little more."""
    from corporeal.anatomy.prisms_cpu import raise_volumes

    ways, counts = np.zeros_like(points), np.zeros(len(points), np.int64)
    for _ in range(rounds):
        if raise_volumes(points, tetrahedra, least, free, ways, counts) == 0:
            break
        points += 1.3 * ways / np.maximum(counts, 1)[:, None]
    return points


def closed(
    prisms: Prisms,
    outer: Float64[NumpyArray, "V 3"],
    middle: Float64[NumpyArray, "V 3"],
    inner: Float64[NumpyArray, "V 3"],
    wrong: Bool[NumpyArray, "V"],
) -> tuple[Float64[NumpyArray, "V 3"], Float64[NumpyArray, "V 3"]]:
    """Middle and inner surface on the outer one where `wrong`, and where it takes for no inversion.

    For skin that crosses itself: its normals around a vertex point everywhere, so no place is
    beneath all triangles there, and layers have no thickness. Each round closes one ring more
    around what is still inverted, and ends at the latest when nothing is open.
    """
    from corporeal.geometry.surface import vertex_adjacency

    adjacency = vertex_adjacency(prisms.triangles, len(outer)).astype(np.float64)
    middle, inner = middle.copy(), inner.copy()
    while wrong.any():
        middle[wrong], inner[wrong] = outer[wrong], outer[wrong]
        still = prisms.inverted(outer, middle) | prisms.inverted(middle, inner)
        wrong = (still | (adjacency @ still > 0)) & prisms.layered
    return middle, inner


REOPENED = (1e-3, 3e-4, 1e-4)
"""Thicknesses that closed places are given again, metres: the first that inverts nothing."""


def reopened(
    prisms: Prisms,
    outer: Float64[NumpyArray, "V 3"],
    middle: Float64[NumpyArray, "V 3"],
    inner: Float64[NumpyArray, "V 3"],
) -> tuple[Float64[NumpyArray, "V 3"], Float64[NumpyArray, "V 3"]]:
    """Middle and inner surface with some thickness where they were closed, wherever there is room.

    A closed vertex goes inwards, half of the way with the middle surface, if no tetrahedron is
    inverted by it; those that would be are closed again, until none is. Those that are left are
    tried once more with the surfaces around them free to make room.
    """
    empty = prisms.layered & (np.linalg.norm(outer - inner, axis=1) == 0.0)
    inwards = inward_directions(outer, prisms.triangles)
    for thickness in REOPENED:
        trial = empty.copy()
        while trial.any():
            way = thickness * inwards * trial[:, None]
            half, whole = middle + 0.5 * way, inner + way
            wrong = (prisms.inverted(outer, half) | prisms.inverted(half, whole)) & trial
            if not wrong.any():
                middle, inner = half, whole
                break
            trial &= ~wrong
        empty = empty & ~trial
    for place in _places(prisms, empty):
        near = _with_rings(prisms, place, 2)
        for thickness in REOPENED:
            way = thickness * inwards * place[:, None]
            half, whole = raised_between(prisms, outer, middle + 0.5 * way, inner + way, where=near)
            if not (prisms.inverted(outer, half) | prisms.inverted(half, whole)).any():
                middle, inner = half, whole
                break
    return middle, inner


def _places(prisms: Prisms, chosen: Bool[NumpyArray, "V"]) -> list[Bool[NumpyArray, "V"]]:
    """The chosen vertices, neighbours together."""
    from scipy.sparse.csgraph import connected_components

    from corporeal.geometry.surface import vertex_adjacency

    members = np.flatnonzero(chosen)
    joined = vertex_adjacency(prisms.triangles, len(chosen))[members][:, members]
    count, labels = connected_components(joined, directed=False)
    every = np.arange(len(chosen))
    return [np.isin(every, members[labels == label]) for label in range(count)]


def _with_rings(prisms: Prisms, chosen: Bool[NumpyArray, "V"], rings: int) -> Bool[NumpyArray, "V"]:
    """The chosen vertices and so many rings around them."""
    for _ in range(rings):
        touched = chosen[prisms.triangles].any(axis=1)
        chosen = chosen.copy()
        chosen[prisms.triangles[touched].ravel()] = True
    return chosen


def tucked(
    prisms: Prisms,
    outer: Float64[NumpyArray, "V 3"],
    inner: Float64[NumpyArray, "V 3"],
    wrong: Bool[NumpyArray, "V"],
    rings: int,
) -> Float64[NumpyArray, "V 3"]:
    """`inner` just beneath `outer` where `wrong`, and less so in some rings of vertices around."""
    from corporeal.geometry.surface import vertex_adjacency

    adjacency = vertex_adjacency(prisms.triangles, len(outer)).astype(np.float64)
    share, reached = np.zeros(len(outer)), wrong
    for ring in range(rings + 2):  # one ring more is tucked wholly
        share = np.maximum(share, reached * min(1.0, 1.0 - (ring - 1) / (rings + 1)))
        reached = (reached | (adjacency @ reached > 0)) & prisms.layered
    way = inner - outer
    length = np.linalg.norm(way, axis=1, keepdims=True)
    short = np.minimum(length, TUCKED) * inward_directions(outer, prisms.triangles)
    return outer + way + share[:, None] * (short - way)


def inward_directions(
    vertices: Float64[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"], rounds: int = 60
) -> Float64[NumpyArray, "V 3"]:
    """Unit directions u with the largest least −u·n over the triangles around every vertex.

    From the mean of the normals, u turns away from whichever normal it opposes least.
    """
    corner = vertices[triangles]
    normals = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    vertex, face = triangles.ravel(), np.repeat(np.arange(len(triangles)), 3)
    u = np.zeros_like(vertices)
    np.subtract.at(u, vertex, normals[face])
    for round_ in range(rounds):
        u /= np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1e-30)
        along = np.einsum("nd,nd->n", u[vertex], normals[face])
        order = np.argsort(along)  # the worst triangle of a vertex is written last
        worst = np.zeros_like(vertices)
        worst[vertex[order]] = normals[face[order]]
        u = u - worst / (round_ + 3.0)
    return u / np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1e-30)
