"""What training knows of a skin beforehand: all of it, or every few vertices.

Poses, joints and all that is shared by many vertices are found as well from a quarter of them;
rest skins, weights and pose blend shapes of the others follow vertex by vertex.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import KDTree

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.template import Template
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes
from corporeal.models.smpl.training.initial import InitialModel, four_influences, initial_model

_LEAST_RING = 6
"""A joint with fewer ring vertices among the kept ones keeps its whole ring."""
_NEAREST = 3
"""Kept vertices that a vertex in between takes its first guess from."""


@dataclass(frozen=True)
class TrainingSurface:
    """A skin, or some of its vertices."""

    start: InitialModel
    """Weights and rings to begin with."""
    mirror: Int[NumpyArray, "V"] | None
    """Vertex on the other side; None where nobody knows."""
    joint_names: tuple[str, ...]
    """Of the template's skeleton."""
    indices: Int[NumpyArray, "V"]
    """The vertices' numbers in the whole skin."""
    rest: Float64[NumpyArray, "V 3"]
    """The template's, metres."""

    @property
    def vertex_count(self) -> int:
        """Number V of vertices."""
        return len(self.indices)


def whole_surface(template: Template) -> TrainingSurface:
    """All vertices of a rigged template."""
    mesh = template.mesh
    return TrainingSurface(
        initial_model(template),
        mesh.mirror,
        template.skeleton.names,
        np.arange(mesh.vertex_count),
        np.asarray(mesh.vertices, np.float64),
    )


def thinned(whole: TrainingSurface, stride: int) -> TrainingSurface:
    """About every `stride`-th vertex, with its mirror image, and some of every ring."""
    count, start = whole.vertex_count, whole.start
    kept = np.arange(0, count, stride if whole.mirror is None else 2 * stride)
    rings = start.regressor[:, kept] > 0
    few = rings.sum(axis=1) < _LEAST_RING
    kept = np.union1d(kept, np.flatnonzero((start.regressor[few] > 0).any(axis=0)))
    if whole.mirror is not None:
        kept = np.union1d(kept, whole.mirror[kept])
    places = np.full(count, -1)
    places[kept] = np.arange(len(kept))
    mirror = None if whole.mirror is None else places[whole.mirror[kept]]
    fewer = replace(
        start,
        parts=start.parts[kept],
        regressor=_rings_of_some(start.regressor, whole.rest, kept),
        weights=start.weights[kept],
        diffused=start.diffused[kept],
    )
    return TrainingSurface(fewer, mirror, whole.joint_names, kept, whole.rest[kept])


def _rings_of_some(
    regressor: Float64[NumpyArray, "J V"],
    rest: Float64[NumpyArray, "V 3"],
    kept: Int[NumpyArray, "v"],
) -> Float64[NumpyArray, "J v"]:
    """Shares of the kept ring vertices, as equal as gives the template's ring averages."""
    fewer = np.zeros((len(regressor), len(kept)))
    wanted = np.concatenate([regressor @ rest, np.ones((len(regressor), 1))], axis=1)
    for joint, row in enumerate(regressor[:, kept]):
        used = np.flatnonzero(row > 0)
        columns = np.concatenate([rest[kept[used]], np.ones((len(used), 1))], axis=1).T
        shares = np.full(len(used), 1 / len(used))
        off = wanted[joint] - columns @ shares
        fewer[joint, used] = shares + np.linalg.lstsq(columns, off, rcond=None)[0]
    return fewer


def some_vertices(meshes: PosedMeshes, surface: TrainingSurface) -> PosedMeshes:
    """The same registrations, of these vertices."""
    return PosedMeshes(np.ascontiguousarray(meshes.vertices[:, surface.indices]), meshes.subjects)


def estimate_of_some(estimate: Estimate, surface: TrainingSurface) -> Estimate:
    """What is known of these vertices."""
    return replace(
        estimate,
        rest_shapes=estimate.rest_shapes[:, surface.indices],
        weights=estimate.weights[surface.indices],
        pose_offsets=np.ascontiguousarray(estimate.pose_offsets[:, surface.indices]),
    )


def estimate_of_all(estimate: Estimate, surface: TrainingSurface, template: Template) -> Estimate:
    """A first guess of all vertices, from the nearest ones of the same part that are known.

    Rest skins differ from the template by what those do; weights and pose offsets are theirs.
    """
    rest = np.asarray(template.mesh.vertices, np.float64)
    distances, near = map(np.asarray, KDTree(rest[surface.indices]).query(rest, k=_NEAREST))
    shares = 1 / np.maximum(distances, 1e-6)
    shares = shares / shares.sum(axis=1, keepdims=True)
    moved = estimate.rest_shapes - rest[surface.indices]
    offsets = np.zeros((len(estimate.pose_offsets), len(rest), 3), estimate.dtype)
    rest_shapes, weights = (
        np.tile(rest, (len(moved), 1, 1)),
        np.zeros((len(rest), estimate.weights.shape[1])),
    )
    for column in range(_NEAREST):
        share, who = shares[:, column], near[:, column]
        rest_shapes += share[:, None] * moved[:, who]
        weights += share[:, None] * estimate.weights[who]
        offsets += share[:, None].astype(estimate.dtype) * estimate.pose_offsets[:, who]
    four = four_influences(weights)
    return replace(estimate, rest_shapes=rest_shapes, weights=four, pose_offsets=offsets)
