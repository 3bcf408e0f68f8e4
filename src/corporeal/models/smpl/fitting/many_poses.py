"""Poses of one person in many registrations at once.

The gradient is exact, with all vertices and what the pose blend shapes add; JᵀJ comes from sums
over the vertices (`skinning.normal_matrices`, `corrective_hessian`), so no vertex has a Jacobian.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.models.smpl.features import SIZES, feature_slopes
from corporeal.models.smpl.fitting.corrective_hessian import add_correctives, corrective_moments
from corporeal.models.smpl.fitting.linearised import SkinnedPerson
from corporeal.numerics.many_least_squares import Slope, Unknowns, descend_many
from corporeal.skinning.gradients import influences_of, rotation_gradient, skin_gradient
from corporeal.skinning.kinematics import rotate_joints
from corporeal.skinning.normal_matrices import rotation_normal_matrices, skin_moments

AT_ONCE = 48
"""Registrations at a time: 8 MB of skins on the default body."""
LONGEST_TURN = 0.5
"""No joint turns further about an axis in one step, radians."""


@dataclass(frozen=True)
class Found:
    """Poses, and how well they meet the registrations."""

    poses: RotationPose
    """Pose of every registration."""
    distances: Float64[NumpyArray, "N"]
    """Mean distance of vertices, metres."""


def solve_poses(
    person: SkinnedPerson,
    targets: Float[NumpyArray, "N V 3"],
    start: RotationPose,
    *,
    iterations: int = 20,
    tolerance: float = 1e-5,
) -> Found:
    """The poses in which `person` comes closest to `targets`, from near ones.

    A registration is done when no joint would turn further than `tolerance`, radians.
    """
    problem = _Problem(person)
    found = [
        problem.solve(targets[i : i + AT_ONCE], start[i : i + AT_ONCE], iterations, tolerance)
        for i in range(0, len(targets), AT_ONCE)
    ]
    return Found(
        RotationPose(
            np.concatenate([f.poses.rotations for f in found]),
            np.concatenate([f.poses.translation for f in found]),
        ),
        np.concatenate([f.distances for f in found]),
    )


def feature_gradient(
    person: SkinnedPerson,
    back: Float[NumpyArray, "N V 3"],
    slopes: Float64[NumpyArray, "N k f 3"],
) -> Float64[NumpyArray, "N m"]:
    """What pose blend shapes add to the gradient by every joint but the root; m = 3 (J − 1)."""
    flat = person.pose_offsets.reshape(len(person.pose_offsets), -1)
    # ∂E/∂f_n = Σ_v p_nv · Bᵀ r
    by_features = (back.reshape(len(back), -1) @ flat.T).astype(np.float64)
    by_features = by_features.reshape(len(back), -1, 1, SIZES[person.features])
    return (by_features @ slopes).reshape(len(back), -1)


class _Problem:
    """One person, with the sums over its vertices."""

    def __init__(self, person: SkinnedPerson) -> None:
        self.person = person
        self.influences = influences_of(person.weights)
        if person.bare:
            self.moments = skin_moments(person.rest[None], self.influences, person.parents)
        else:
            self.added = corrective_moments(person.rest, self.influences, person.pose_offsets)

    def solve(
        self, targets: NumpyArray, start: RotationPose, iterations: int, tolerance: float
    ) -> Found:
        person, reached = self.person, np.empty(len(targets))

        def slope(state: Unknowns, which: NumpyArray) -> Slope:
            energies, gradient, reached[which] = self.slope(RotationPose(*state), targets[which])
            return energies, gradient

        def moved(state: Unknowns, steps: NumpyArray) -> Unknowns:
            poses = RotationPose(*state)
            world = person.kinematics(poses).world_rotations
            there = rotate_joints(poses, world, person.parents, steps)
            return there.rotations, there.translation

        state = descend_many(
            slope, self.metric, moved, (start.rotations, start.translation),
            iterations=iterations, tolerance=tolerance, longest=LONGEST_TURN,
        )  # fmt: skip
        slope(state, np.arange(len(targets)))
        return Found(RotationPose(*state), reached)

    def slope(
        self, poses: RotationPose, targets: NumpyArray
    ) -> tuple[NumpyArray, NumpyArray, NumpyArray]:
        """½ Σ r² of every registration, its gradient, and the mean distance."""
        person = self.person
        tree, points = person.kinematics(poses), person.corrected(poses.rotations)
        found = skin_gradient(person.blending, self.influences, points, tree, targets)
        gradient = rotation_gradient(tree, found.torques, found.forces, person.descendants)
        if not person.bare:
            slopes = feature_slopes(
                person.features, poses.rotations, tree.world_rotations, person.parents
            )
            gradient[:, 3:-3] += feature_gradient(person, found.back, slopes)
        return 0.5 * found.squares, gradient, found.distances

    def metric(self, state: Unknowns) -> Float64[NumpyArray, "N m m"]:
        person, poses = self.person, RotationPose(*state)
        tree = person.kinematics(poses)
        if person.bare:
            return rotation_normal_matrices(self.moments, tree)
        points = person.corrected(poses.rotations)
        moments = skin_moments(points, self.influences, person.parents)
        matrices = rotation_normal_matrices(moments, tree)
        slopes = feature_slopes(
            person.features, poses.rotations, tree.world_rotations, person.parents
        )
        add_correctives(matrices, self.added, tree, slopes, person.descendants)
        return matrices
