"""The coarse surface that is simulated, whose vertices are a subset of the skin's.

Komaritzan 2022, section 3.2.4: half-edge collapses by the quadric error metric (Garland
and Heckbert 1997). Every region of the skin has a number of vertices of its own, so that hands and
feet, which are modelled finely, do not take the vertices from flesh that moves. A skin that is its
own mirror image gets a coarse surface that is, too.
"""

from dataclasses import replace

import numpy as np

from corporeal._typing import Array, Bool, Float, Int, NumpyArray
from corporeal.assets.coarse_surface import coarse_surface_of
from corporeal.body.checks import require_indices
from corporeal.body.mesh import Mesh
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.geometry.components import closed_seams
from corporeal.geometry.mirror import can_be_halved, mirror_map, sides
from corporeal.geometry.surface import triangle_areas
from corporeal.runtime.pytree_dataclass import pytree_dataclass

DEFAULT_VERTEX_COUNT = 4700

PART_DENSITY = {
    "head": 0.15,
    "inner_mouth": 0.01,
    "left_eye_socket": 0.01,
    "right_eye_socket": 0.01,
    "left_breast": 6.0,
    "right_breast": 6.0,
    "left_hand": 4.0,
    "right_hand": 4.0,
}
"""Wished vertices a square metre by part, against 1 for all others: the head is not simulated,
breasts move most, and fingers are thin."""


@pytree_dataclass()
class SimulationMesh:
    """A coarse surface on some of a skin's vertices."""

    vertex_indices: Int[NumpyArray, "V"]
    """Which vertices of the full mesh were kept, in ascending order."""
    triangles: Int[NumpyArray, "F 3"]
    """Corners among the kept vertices."""
    stand_ins: Int[NumpyArray, "W"] | None = None
    """Of the full mesh, where seams were closed: the vertex whose movement each one shares."""
    mirror: Int[NumpyArray, "V"] | None = None
    """Kept vertex on the other side of the plane x = 0, where the surface is its own image."""

    def check(self) -> None:
        """Raise `InputError` unless corners are among the kept vertices."""
        require_indices("simulation triangles", self.triangles, len(self.vertex_indices))
        if self.mirror is not None:
            require_indices("simulation mirror map", self.mirror, len(self.vertex_indices))

    @property
    def vertex_count(self) -> int:
        """Number V of simulated vertices."""
        return len(self.vertex_indices)

    def surface(self, vertices: Float[NumpyArray, "W 3"]) -> Mesh:
        """The coarse surface of a skin in any shape (metres)."""
        kept = np.asarray(vertices)[self.vertex_indices]
        return Mesh(kept, self.triangles, mirror=self.mirror)


def simulation_mesh(template: Template, vertex_count: int = DEFAULT_VERTEX_COUNT) -> SimulationMesh:
    """A coarse surface of about `vertex_count` vertices, spread by area over a body's parts.

    Seams (vertices that stand more than once in the same place, on open edges) are closed first, so
    that flesh holds together across them. The default body's own coarse surface ships.
    """
    mesh = template.mesh
    vertices, triangles = np.asarray(mesh.vertices), np.asarray(mesh.triangles)
    stand_ins = closed_seams(vertices, triangles)
    split = stand_ins != np.arange(len(stand_ins))
    if not split.any():
        targets = targets_of(template, vertex_count)
        return _shipped(template, targets) or decimated_template(template, targets)
    density = _density(template)
    once = np.flatnonzero(~split)
    place = np.cumsum(~split) - 1
    corners = place[stand_ins[triangles]]
    joined = Mesh(vertices[once], corners, mirror=mirror_map(vertices[once], corners))
    labels = template.part_labels[once]
    coarse = decimate(joined, labels, spread_vertices(joined, labels, density, vertex_count))
    return replace(coarse, vertex_indices=once[coarse.vertex_indices], stand_ins=stand_ins)


def targets_of(template: Template, vertex_count: int) -> Int[NumpyArray, "r"]:
    """How many vertices each part of a body without seams keeps."""
    return spread_vertices(template.mesh, template.part_labels, _density(template), vertex_count)


def decimated_template(template: Template, targets: Int[NumpyArray, "r"]) -> SimulationMesh:
    """`decimate` of a body without seams, the same on both sides wherever the body is."""
    mesh = template.mesh
    found = mesh.mirror
    if found is None:
        found = mirror_map(np.asarray(mesh.vertices), np.asarray(mesh.triangles))
    return decimate(replace(mesh, mirror=found), template.part_labels, targets)


def _density(template: Template) -> Float[NumpyArray, "r"]:
    return np.array([PART_DENSITY.get(name, 1.0) for name in template.part_names])


def _shipped(template: Template, targets: Int[NumpyArray, "r"]) -> SimulationMesh | None:
    """The coarse surface that ships, where the body and the targets are those it was made of."""
    kept = coarse_surface_of(template)
    if kept is None or not np.array_equal(targets, kept.targets):
        return None
    return SimulationMesh(kept.vertex_indices, kept.triangles, mirror=kept.mirror)


def spread_vertices(
    mesh: Mesh,
    regions: Int[NumpyArray, "V"],
    density: Float[NumpyArray, "r"],
    vertex_count: int,
) -> Int[NumpyArray, "r"]:
    """How many vertices each region keeps: area times `density`, but no more than it has.

    Vertices of no triangle cannot be collapsed; they are kept besides.
    """
    triangles = np.asarray(mesh.triangles)
    area = np.asarray(triangle_areas(np.asarray(mesh.vertices, np.float64), triangles))
    corner_area = np.bincount(regions[triangles].ravel(), np.repeat(area / 3.0, 3), len(density))
    present = np.bincount(regions[np.unique(triangles)], minlength=len(density))
    loose = np.bincount(regions, minlength=len(density)) - present
    if vertex_count >= present.sum():
        return present + loose
    wish = density * corner_area
    low, high = 0.0, float(present.max()) / max(float(wish[wish > 0].min(initial=1.0)), 1e-12)
    for _ in range(200):  # the sum grows with the factor: halve the interval
        factor = 0.5 * (low + high)
        if np.minimum(factor * wish, present).sum() < vertex_count:
            low = factor
        else:
            high = factor
    return np.minimum(np.ceil(high * wish), present).astype(np.int64) + loose


def decimate(
    mesh: Mesh, regions: Int[NumpyArray, "V"], targets: Int[NumpyArray, "r"]
) -> SimulationMesh:
    """Collapse half-edges until no region has more vertices than its target, or none is allowed.

    A collapse is refused where it would change the topology, turn a triangle over or make a sliver;
    so a region may keep more than asked for. Where the mesh has a mirror map that its regions share
    and a row of edges on the plane, mirrored edges collapse together.
    """
    require_indices("regions", regions, len(targets))
    if len(regions) != mesh.vertex_count:
        raise InputError(
            f"{len(regions)} region labels came for {mesh.vertex_count} vertices; "
            f"expected one a vertex."
        )
    if mesh.mirror is not None:
        side = sides(np.asarray(mesh.vertices), mesh.mirror)
        if can_be_halved(mesh.triangles, side) and _are_mirrored(regions, mesh.mirror):
            return _decimate_half(mesh, mesh.mirror, side, regions, targets)
    plain, ones = np.zeros(mesh.vertex_count, bool), np.ones(mesh.vertex_count, np.int64)
    kept, triangles = _collapse(mesh.vertices, mesh.triangles, regions, targets, plain, ones)
    place = np.cumsum(kept) - 1
    return SimulationMesh(np.flatnonzero(kept), place[triangles])


def _decimate_half(
    mesh: Mesh,
    mirror: Int[NumpyArray, "V"],
    side: Int[NumpyArray, "V"],
    regions: Int[NumpyArray, "V"],
    targets: Int[NumpyArray, "r"],
) -> SimulationMesh:
    """What is left of the half x ≥ 0 and its mirror image."""
    half = np.flatnonzero(side >= 0)
    place = np.zeros(len(side), np.int64)
    place[half] = np.arange(len(half))
    own = np.asarray(mesh.triangles)
    own = place[own[(side[own] > 0).any(axis=1)]]
    middle = side[half] == 0
    twice = (regions[mirror[half]] == regions[half]) & ~middle
    kept, triangles = _collapse(
        np.asarray(mesh.vertices)[half], own, regions[half], targets, middle, 1 + twice
    )
    chosen, triangles = half[kept], half[triangles]
    indices = np.union1d(chosen, mirror[chosen])
    place[indices] = np.arange(len(indices))
    both = np.concatenate([triangles, mirror[triangles][:, ::-1]])
    return SimulationMesh(indices, place[both], mirror=place[mirror[indices]])


def _are_mirrored(regions: Int[NumpyArray, "V"], mirror: Int[NumpyArray, "V"]) -> bool:
    """Whether the mirror image of every region is one region."""
    pairs = np.unique(np.stack([regions, regions[mirror]], axis=1), axis=0)
    return len(pairs) == len(np.unique(regions))


def _collapse(
    vertices: Float[Array, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    regions: Int[NumpyArray, "V"],
    targets: Int[NumpyArray, "r"],
    middle: Bool[NumpyArray, "V"],
    counts: Int[NumpyArray, "V"],
) -> tuple[Bool[NumpyArray, "V"], Int[NumpyArray, "G 3"]]:
    """`collapse_edges` of whatever types come."""
    from corporeal.geometry.decimation_cpu import collapse_edges

    return collapse_edges(
        np.ascontiguousarray(vertices, np.float64),
        np.ascontiguousarray(triangles, np.int64),
        np.ascontiguousarray(regions, np.int64),
        np.ascontiguousarray(targets, np.int64),
        np.ascontiguousarray(middle),
        np.ascontiguousarray(counts, np.int64),
    )
