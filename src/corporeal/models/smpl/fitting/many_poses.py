"""Poses of one person in many registrations at once.

The gradient is exact, with all vertices and what the pose blend shapes add; JᵀJ comes from sums
over the vertices (`turn_hessian`, `corrective_hessian`), so no vertex has a Jacobian.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.models.smpl.features import SIZES, feature_slopes, feature_values
from corporeal.models.smpl.fitting.chains import Chains, Poses, chain_many, turn_many
from corporeal.models.smpl.fitting.corrective_hessian import add_correctives, corrective_moments
from corporeal.models.smpl.fitting.linearised import SkinnedPerson
from corporeal.models.smpl.fitting.passes import influences_of, pass_over
from corporeal.models.smpl.fitting.rotation_hessian import moments_of, turn_hessians
from corporeal.numerics.many_least_squares import Slope, Unknowns, descend_many

AT_ONCE = 48
"""Registrations at a time: 8 MB of skins on the default body."""
LONGEST_TURN = 0.5
"""No joint turns further about an axis in one step, radians."""


@dataclass(frozen=True)
class Found:
    """Poses, and how well they meet the registrations."""

    poses: Poses
    distances: Float64[NumpyArray, "N"]
    """Mean distance of vertices, metres."""


def solve_poses(
    person: SkinnedPerson,
    targets: Float[NumpyArray, "N V 3"],
    start: Poses,
    *,
    iterations: int = 20,
    tolerance: float = 1e-5,
) -> Found:
    """The poses in which `person` comes closest to `targets`, from near ones.

    A registration is done when no joint would turn further than `tolerance`, radians.
    """
    problem = _Problem(person)
    found = [
        problem.solve(
            targets[i : i + AT_ONCE], start.some(slice(i, i + AT_ONCE)), iterations, tolerance
        )
        for i in range(0, len(targets), AT_ONCE)
    ]
    return Found(
        Poses(
            np.concatenate([f.poses.rotations for f in found]),
            np.concatenate([f.poses.translations for f in found]),
        ),
        np.concatenate([f.distances for f in found]),
    )


def corrected_skins(
    person: SkinnedPerson, rotations: Float[NumpyArray, "N J 3 3"]
) -> Float[NumpyArray, "N V 3"]:
    """Rest skins with their pose offsets, x = t + Σ_n f_n p_n, metres."""
    if not person.pose_offsets.any():
        return np.repeat(person.rest[None], len(rotations), axis=0)
    features = feature_values(person.features, rotations).astype(person.rest.dtype)
    # one product for all poses
    skins = features @ person.pose_offsets.reshape(len(person.pose_offsets), -1)
    return skins.reshape(len(skins), -1, 3) + person.rest


def joint_gradient(
    chains: Chains,
    torques: Float64[NumpyArray, "N J 3"],
    forces: Float64[NumpyArray, "N J 3"],
    below: Float64[NumpyArray, "J J"],
) -> Float64[NumpyArray, "N m"]:
    """Σ_{k below j} (torque_k − g_j × force_k) of every joint, then Σ_k force_k."""
    torque, force = below.T @ torques, below.T @ forces
    turns = torque - np.cross(chains.centres, force)
    return np.concatenate([turns.reshape(len(turns), -1), force[:, 0]], axis=1)


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
        self.below = np.asarray(person.below, np.float64)
        self.bare = not person.pose_offsets.any()
        if self.bare:
            self.moments = moments_of(person.rest[None], self.influences, person.parents)
        else:
            self.added = corrective_moments(person.rest, self.influences, person.pose_offsets)

    def solve(self, targets: NumpyArray, start: Poses, iterations: int, tolerance: float) -> Found:
        person, reached = self.person, np.empty(len(targets))

        def slope(state: Unknowns, which: NumpyArray) -> Slope:
            energies, gradient, reached[which] = self.slope(Poses(*state), targets[which])
            return energies, gradient

        def moved(state: Unknowns, steps: NumpyArray) -> Unknowns:
            poses = Poses(*state)
            world = chain_many(poses, person.joints, person.parents).world
            there = turn_many(poses, world, person.parents, steps)
            return there.rotations, there.translations

        state = descend_many(
            slope, self.metric, moved, (start.rotations, start.translations),
            iterations=iterations, tolerance=tolerance, longest=LONGEST_TURN,
        )  # fmt: skip
        slope(state, np.arange(len(targets)))
        return Found(Poses(*state), reached)

    def slope(self, poses: Poses, targets: NumpyArray) -> tuple[NumpyArray, NumpyArray, NumpyArray]:
        """½ Σ r² of every registration, its gradient, and the mean distance."""
        person = self.person
        chains = chain_many(poses, person.joints, person.parents)
        points = corrected_skins(person, poses.rotations)
        passed = pass_over(person.blending, self.influences, points, chains, targets)
        gradient = joint_gradient(chains, passed.torques, passed.forces, self.below)
        if not self.bare:
            slopes = feature_slopes(person.features, poses.rotations, chains.world, person.parents)
            gradient[:, 3:-3] += feature_gradient(person, passed.back, slopes)
        return 0.5 * passed.squares, gradient, passed.distances

    def metric(self, state: Unknowns) -> Float64[NumpyArray, "N m m"]:
        person, poses = self.person, Poses(*state)
        chains = chain_many(poses, person.joints, person.parents)
        if self.bare:
            return turn_hessians(self.moments, chains)
        points = corrected_skins(person, poses.rotations)
        hessians = turn_hessians(moments_of(points, self.influences, person.parents), chains)
        slopes = feature_slopes(person.features, poses.rotations, chains.world, person.parents)
        add_correctives(hessians, self.added, chains, slopes, self.below)
        return hessians
