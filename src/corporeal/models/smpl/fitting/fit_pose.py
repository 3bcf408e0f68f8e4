"""Pose and shape of a model that best meet a registered mesh.

`fit_pose` turns a known person; `fit_pose_and_shape` finds the person too. Both minimise squared
distances of vertices, or of edges (eq. 15), which do not ask where the body stands or how wide its
parts are, so that an average person will do to find a pose. The search starts from the rotation
that carries each part's edges best (Kabsch 1976), wherever the mesh is turned to.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.pose import RotationPose
from corporeal.errors import InputError
from corporeal.geometry.alignment import nearest_rotation, paired_products, turns_known
from corporeal.geometry.surface import unique_edges
from corporeal.models.smpl.fitting.linearised import Posed, SkinnedPerson
from corporeal.numerics.gauss_newton import Normal, descend
from corporeal.skinning.kinematics import rotate_joints

Distance = Literal["vertices", "edges"]

_ANGLE_TOLERANCE = 1e-5
"""Steps shorter than this end the search: radians, metres and shape coefficients together."""
_RADIUS = 1.0
"""First length of a step that is trusted."""


@dataclass(frozen=True)
class PoseFit:
    """A pose, and how well it meets the mesh."""

    pose: RotationPose
    """Joint rotations and translation."""
    mean_distance: float
    """Of vertices, metres."""
    converged: bool
    """Whether the last step was smaller than the tolerance."""


@dataclass(frozen=True)
class PersonFit:
    """A pose and a shape, and how well they meet the mesh."""

    pose: RotationPose
    """Joint rotations and translation."""
    betas: Float[NumpyArray, "S"]
    """Shape coefficients, in standard deviations."""
    mean_distance: float
    """Of vertices, metres."""
    converged: bool
    """Whether the last step was smaller than the tolerance."""


def edge_differences(triangles: Int[NumpyArray, "F 3"], vertex_count: int) -> csr_array:
    """E×V: one row an edge, end less start; every edge once."""
    pairs = unique_edges(triangles)
    rows = np.repeat(np.arange(len(pairs)), 2)
    signs = np.tile([-1.0, 1.0], len(pairs))
    return csr_array((signs, (rows, pairs.reshape(-1))), shape=(len(pairs), vertex_count))


def first_pose(
    person: SkinnedPerson, target: Float[NumpyArray, "V 3"], edges: csr_array
) -> RotationPose:
    """Each part turned by the rotation that carries its edges best onto the target's."""
    before, after = edges @ person.rest, edges @ target
    ends = edges.indices.reshape(-1, 2)
    world = np.tile(np.eye(3), (len(person.parents), 1, 1))
    rotations = world.copy()
    for k, parent in enumerate(person.parents):
        share = person.weights[ends[:, 0], k] * person.weights[ends[:, 1], k]
        products = paired_products(before, after, share)
        above = np.eye(3) if parent < 0 else world[parent]
        world[k] = nearest_rotation(products) if turns_known(products) else above
        rotations[k] = above.T @ world[k]
    start = RotationPose(rotations, np.zeros(3))
    return replace(start, translation=np.mean(target - person.posed(start).vertices, axis=0))


def fit_pose(
    person: SkinnedPerson,
    target: Float[NumpyArray, "V 3"],
    edges: csr_array,
    *,
    start: RotationPose | None = None,
    by: Distance = "vertices",
    iterations: int = 50,
) -> PoseFit:
    """The pose in which `person` comes closest to `target`."""
    _require_mesh(person, target)
    measure = _measure(target.astype(person.rest.dtype), edges, by)

    def normal(state: RotationPose) -> Normal:
        posed = person.posed(state)
        return measure.normal(posed.vertices, posed.by_pose())

    def energy(state: RotationPose) -> float:
        return measure.energy(person.posed(state).vertices)

    def moved(state: RotationPose, step: NumpyArray) -> RotationPose:
        world = person.kinematics(state).world_rotations
        return rotate_joints(state, world, person.parents, step)

    found = descend(
        first_pose(person, target, edges) if start is None else start,
        normal,
        energy,
        moved,
        radius=_RADIUS,
        tolerance=_ANGLE_TOLERANCE,
        iterations=iterations,
    )
    pose = found.point
    if by == "edges":  # which say nothing of the place
        off = np.mean(target - person.posed(pose).vertices, axis=0)
        pose = replace(pose, translation=pose.translation + off)
    return PoseFit(pose, _mean_distance(person.posed(pose), target), found.converged)


def fit_pose_and_shape(
    model: LinearBodyModel,
    target: Float[NumpyArray, "V 3"],
    edges: csr_array,
    *,
    shape_count: int | None = None,
    start: RotationPose | None = None,
    by: Distance = "vertices",
    iterations: int = 50,
) -> PersonFit:
    """Pose and the first `shape_count` coefficients with which the model comes closest."""
    count = model.shape_count if shape_count is None else shape_count
    if not 0 <= count <= model.shape_count:
        raise InputError(
            f"asked for {count} shape coefficients; the model has {model.shape_count}."
        )
    shapes = model.shape_offsets[:count]
    joint_offsets = np.einsum("jv,sva->sja", model.joint_regressor, shapes, optimize=True)
    mean = person_of(model)
    measure = _measure(target.astype(mean.rest.dtype), edges, by)

    def shaped(betas: NumpyArray) -> SkinnedPerson:
        rest = mean.rest + np.tensordot(betas, shapes, axes=1)
        joints = mean.joints + np.tensordot(betas, joint_offsets, axes=1)
        return mean.with_shape(rest, joints)

    def posed(point: tuple[RotationPose, NumpyArray]) -> Posed:
        return shaped(point[1]).posed(point[0])

    def normal(point: tuple[RotationPose, NumpyArray]) -> Normal:
        here = posed(point)
        slopes = (here.by_pose(), here.by_shape(shapes, joint_offsets))
        return measure.normal(here.vertices, np.concatenate(slopes, axis=2))

    def moved(
        point: tuple[RotationPose, NumpyArray], step: NumpyArray
    ) -> tuple[RotationPose, NumpyArray]:
        size = len(step) - count
        world = shaped(point[1]).kinematics(point[0]).world_rotations
        pose = rotate_joints(point[0], world, model.parents, step[:size])
        return pose, point[1] + step[size:]

    if start is None:
        start = fit_pose(mean, target, edges, by="edges", iterations=20).pose
    found = descend(
        (start, np.zeros(count)),
        normal,
        lambda point: measure.energy(posed(point).vertices),
        moved,
        radius=_RADIUS,
        tolerance=_ANGLE_TOLERANCE,
        iterations=iterations,
    )
    pose, betas = found.point
    return PersonFit(pose, betas, _mean_distance(posed(found.point), target), found.converged)


def person_of(
    model: LinearBodyModel, betas: Float[NumpyArray, "s"] | None = None, dtype: Any = np.float64
) -> SkinnedPerson:
    """One person of a model; the average one without `betas`."""
    rest = model.mean_vertices
    if betas is not None:
        rest = rest + np.tensordot(betas, model.shape_offsets[: len(betas)], axes=1)
    return SkinnedPerson(
        rest.astype(dtype),
        (model.joint_regressor @ rest).astype(dtype),
        model.weights.dense().astype(dtype),
        model.pose_offsets.astype(dtype),
        model.parents,
        model.blending,
    )


@dataclass(frozen=True)
class _Measure:
    """½ ‖S (x − target)‖², S being the differences along edges, or nothing."""

    target: NumpyArray
    sample: Callable[[NumpyArray], NumpyArray]

    def energy(self, vertices: NumpyArray) -> float:
        return 0.5 * float(np.sum(np.square(self.sample(vertices - self.target), dtype=np.float64)))

    def normal(self, vertices: NumpyArray, slope: NumpyArray) -> Normal:
        size = slope.shape[2]
        rows = self.sample(slope.reshape(len(slope), -1)).reshape(-1, size)
        off = self.sample(vertices - self.target).reshape(-1)
        return Normal(
            (rows.T @ rows).astype(np.float64), (rows.T @ off).astype(np.float64), _half_square(off)
        )


def _measure(target: NumpyArray, edges: csr_array, by: Distance) -> _Measure:
    if by == "vertices":
        return _Measure(target, lambda values: values)
    matrix = csr_array(edges.astype(target.dtype))
    return _Measure(target, lambda values: matrix @ values)


def _half_square(values: NumpyArray) -> float:
    return 0.5 * float(np.sum(np.square(values, dtype=np.float64)))


def _mean_distance(posed: Posed, target: NumpyArray) -> float:
    return float(np.mean(np.linalg.norm(posed.vertices - target, axis=1)))


def _require_mesh(person: SkinnedPerson, target: NumpyArray) -> None:
    if target.shape != person.rest.shape:
        raise InputError(
            f"the mesh has {target.shape[0]} vertices; the model has {person.rest.shape[0]}. "
            f"Register it to the model's topology first."
        )
    if not np.isfinite(target).all():
        raise InputError(
            f"the mesh holds {int((~np.isfinite(target)).sum())} numbers that are not finite; "
            f"expected none."
        )
