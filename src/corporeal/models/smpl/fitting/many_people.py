"""Poses and shapes of a model that best meet many registrations, each by itself.

As `many_poses`, with shape coefficients beside the turns: they move rest skin and joints, both
linearly. Gradients are exact, of all vertices; JᵀJ is that of a thinned skin, times as many. (From
sums over the mean skin, as for poses alone, it would not be positive: people differ by more than
pose offsets do.)
"""

from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.pose import RotationPose
from corporeal.errors import InputError
from corporeal.models.smpl.features import feature_slopes
from corporeal.models.smpl.fitting.fit_pose import person_of
from corporeal.models.smpl.fitting.linearised import SkinnedPerson
from corporeal.models.smpl.fitting.many_poses import AT_ONCE, LONGEST_TURN, feature_gradient
from corporeal.numerics.many_least_squares import Slope, Unknowns, descend_many
from corporeal.skinning.gradients import influences_of, rotation_gradient, skin_gradient
from corporeal.skinning.jacobians import translation_maps
from corporeal.skinning.kinematics import KinematicState, kinematic_state, rotate_joints

_THINNED = 1500
"""About so many vertices have a Jacobian."""


@dataclass(frozen=True)
class FoundPeople:
    """Poses and shapes, and how well they meet the registrations."""

    poses: RotationPose
    """Pose of every registration."""
    betas: Float64[NumpyArray, "N S"]
    """Shape coefficients of every registration."""
    distances: Float64[NumpyArray, "N"]
    """Mean distance of vertices, metres."""


def solve_people(
    model: LinearBodyModel,
    targets: Float[NumpyArray, "N V 3"],
    start: RotationPose,
    shape_count: int,
    *,
    betas: Float64[NumpyArray, "N S"] | None = None,
    iterations: int = 20,
    tolerance: float = 1e-4,
) -> FoundPeople:
    """Poses and the first `shape_count` coefficients of every registration, from near poses.

    One is done when no step is larger than `tolerance`: radians, metres, coefficients.
    """
    if not 0 <= shape_count <= model.shape_count:
        raise InputError(
            f"asked for {shape_count} shape coefficients; the model has {model.shape_count}."
        )
    problem = _Problem(model, shape_count, np.dtype(targets.dtype))
    first = np.zeros((len(targets), shape_count)) if betas is None else betas
    found = []
    for i in range(0, len(targets), AT_ONCE):
        some = slice(i, i + AT_ONCE)
        found.append(problem.solve(targets[some], start[some], first[some], iterations, tolerance))
    return FoundPeople(
        RotationPose(
            np.concatenate([f.poses.rotations for f in found]),
            np.concatenate([f.poses.translation for f in found]),
        ),
        np.concatenate([f.betas for f in found]),
        np.concatenate([f.distances for f in found]),
    )


class _Problem:
    """A model, with the sums over its mean skin."""

    def __init__(self, model: LinearBodyModel, count: int, dtype: np.dtype) -> None:
        self.mean: SkinnedPerson = person_of(model, dtype=dtype)
        self.shapes = model.shape_offsets[:count].astype(dtype)
        self.joints = model.joint_regressor @ model.mean_vertices
        offsets = np.tensordot(model.shape_offsets[:count], model.joint_regressor, axes=(1, 1))
        self.joint_offsets = np.swapaxes(offsets, 1, 2)  # S J 3
        self.influences = influences_of(self.mean.weights)
        self.stride = max(1, model.vertex_count // _THINNED)
        some = slice(None, None, self.stride)
        self.thin = replace(
            self.mean,
            rest=self.mean.rest[some],
            weights=self.mean.weights[some],
            pose_offsets=np.ascontiguousarray(self.mean.pose_offsets[:, some]),
        )
        self.thin_shapes = np.ascontiguousarray(self.shapes[:, some])

    def solve(
        self,
        targets: NumpyArray,
        start: RotationPose,
        betas: NumpyArray,
        iterations: int,
        tolerance: float,
    ) -> FoundPeople:
        parents, reached = self.mean.parents, np.empty(len(targets))

        def slope(state: Unknowns, which: NumpyArray) -> Slope:
            energies, gradient, reached[which] = self._slope(state, targets[which])
            return energies, gradient

        def moved(state: Unknowns, steps: NumpyArray) -> Unknowns:
            rotation_vectors = steps.shape[1] - betas.shape[1]
            world = self._tree(state).world_rotations
            there = rotate_joints(
                RotationPose(*state[:2]), world, parents, steps[:, :rotation_vectors]
            )
            return there.rotations, there.translation, state[2] + steps[:, rotation_vectors:]

        state = descend_many(
            slope, self._metric, moved, (start.rotations, start.translation, betas),
            iterations=iterations, tolerance=tolerance, longest=2 * LONGEST_TURN,
        )  # fmt: skip
        slope(state, np.arange(len(targets)))
        return FoundPeople(RotationPose(*state[:2]), state[2], reached)

    def _tree(self, state: Unknowns) -> KinematicState:
        joints = self.joints + np.tensordot(state[2], self.joint_offsets, axes=1)
        return kinematic_state(RotationPose(*state[:2]), joints, self.mean.parents)

    def _points(self, state: Unknowns) -> NumpyArray:
        flat = self.shapes.reshape(len(self.shapes), -1)
        shaped = state[2].astype(flat.dtype) @ flat
        return self.mean.corrected(state[0]) + shaped.reshape(len(shaped), -1, 3)

    def _shifts(self, tree: KinematicState) -> Float64[NumpyArray, "N J 3 S"]:
        """∂τ_k by every coefficient, through the joints."""
        maps = translation_maps(tree.world_rotations, self.mean.parents)
        return maps @ self.joint_offsets.reshape(len(self.joint_offsets), -1).T

    def _slope(
        self, state: Unknowns, targets: NumpyArray
    ) -> tuple[NumpyArray, NumpyArray, NumpyArray]:
        tree, mean = self._tree(state), self.mean
        found = skin_gradient(mean.blending, self.influences, self._points(state), tree, targets)
        rotation_vectors = rotation_gradient(tree, found.torques, found.forces, mean.descendants)
        if not mean.bare:
            slopes = feature_slopes(mean.features, state[0], tree.world_rotations, mean.parents)
            rotation_vectors[:, 3:-3] += feature_gradient(mean, found.back, slopes)
        flat = self.shapes.reshape(len(self.shapes), -1)
        shape = (found.back.reshape(len(targets), -1) @ flat.T).astype(np.float64)
        shape += np.einsum("nka,nkas->ns", found.forces, self._shifts(tree))
        return (
            0.5 * found.squares,
            np.concatenate([rotation_vectors, shape], axis=1),
            found.distances,
        )

    def _metric(self, state: Unknowns) -> Float64[NumpyArray, "N m m"]:
        result = []
        for rotations, translation, betas in zip(*state, strict=True):
            own = betas.astype(self.thin.rest.dtype)
            person = self.thin.with_shape(
                self.thin.rest + np.tensordot(own, self.thin_shapes, axes=1),
                self.joints + np.tensordot(betas, self.joint_offsets, axes=1),
            )
            posed = person.posed(RotationPose(rotations, translation))
            shape = posed.by_shape(self.thin_shapes, self.joint_offsets)
            slope = np.concatenate([posed.by_pose(), shape], axis=2)
            rows = slope.reshape(-1, slope.shape[2]).astype(self.thin.rest.dtype)
            result.append(self.stride * (rows.T @ rows).astype(np.float64))
        return np.stack(result)


def shaped_person(
    model: LinearBodyModel, betas: Float64[NumpyArray, "s"], dtype: np.dtype
) -> SkinnedPerson:
    """One person of a model in the precision of the registrations, joints in full."""
    person = person_of(model, betas, dtype)
    return replace(person, joints=model.joint_regressor @ np.asarray(person.rest, np.float64))
