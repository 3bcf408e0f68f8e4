"""Poses and joints of one subject together, the rest skin held.

In turns they are found slowly: a pose leans on the joints there are, and joints on the poses. Here
one Gauss–Newton step moves all poses θ_n of a subject and the joints j that they share; with

    H_n = J_θᵀJ_θ,   C_n = J_θᵀJ_j,   D = Σ_n J_jᵀJ_j

the poses are eliminated, (D + λ_J − Σ C_nᵀ H_n⁻¹ C_n) δj = …, a system of 3 J numbers. All blocks
come from moments of the rest skin (`skinning.normal_matrices`); gradients are exact.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.models.smpl.fitting.linearised import SkinnedPerson
from corporeal.models.smpl.fitting.many_poses import AT_ONCE
from corporeal.numerics.levenberg_marquardt import Damping, Trial, descend_damped
from corporeal.skinning.gradients import influences_of, rotation_gradient, skin_gradient
from corporeal.skinning.jacobians import translation_maps
from corporeal.skinning.kinematics import KinematicState, kinematic_state, rotate_joints
from corporeal.skinning.normal_matrices import (
    Moments,
    rotation_normal_matrices,
    rotation_translation_products,
    skin_moments,
)

_DAMPING = Damping(1e-6, lambda d: max(0.2 * d, 1e-6), lambda d: max(10 * d, 1e-3))
_MOST = 1e2
_FLOOR = 1e-8
_TOLERANCE = 1e-5
"""Steps shorter than this end the search: radians and metres."""


@dataclass(frozen=True)
class JointRule:
    """What holds joints besides the data, in vertices' worth of squared distance."""

    near: Float64[NumpyArray, "J 3"]
    """𝒥_I T̂: averages of the rings, metres."""
    ring: float
    """λ_J."""
    symmetry: Float64[NumpyArray, "m m"]
    """Of joints and their mirror images, λ_Y λ_U included; m = 3 J."""


@dataclass(frozen=True)
class _Slope:
    energy: float
    rotations: Float64[NumpyArray, "n m"]
    joints: Float64[NumpyArray, "p"]


class _Here(NamedTuple):
    poses: RotationPose
    joints: Float64[NumpyArray, "J 3"]
    tree: KinematicState
    slope: _Slope


def solve_poses_and_joints(
    person: SkinnedPerson,
    targets: Float[NumpyArray, "n V 3"],
    start: RotationPose,
    rule: JointRule,
    iterations: int,
) -> tuple[RotationPose, Float64[NumpyArray, "J 3"]]:
    """From near ones, without pose offsets."""
    influences, parents = influences_of(person.weights), person.parents
    moments = skin_moments(person.rest[None], influences, parents)

    def at(poses: RotationPose, joints: NumpyArray) -> _Here:
        tree = kinematic_state(poses, joints, parents)
        return _Here(poses, joints, tree, _slope(person, targets, tree, joints, moments, rule))

    def attempt(here: _Here, damping: float) -> tuple[_Here, float, float]:
        steps, shift = _step(moments, here.tree, here.slope, rule, damping)
        trial = rotate_joints(here.poses, here.tree.world_rotations, parents, steps)
        there = at(trial, here.joints + shift.reshape(-1, 3))
        return there, there.slope.energy, float(max(np.abs(steps).max(), np.abs(shift).max()))

    def ended(trial: Trial) -> str:
        if trial.length < _TOLERANCE:
            return "converged"
        return "no further descent" if trial.damping > _MOST else ""

    first = at(start, np.array(person.joints, np.float64))
    begin = first, first.slope.energy
    found = descend_damped(begin, attempt, ended, _DAMPING, iterations).here
    return found.poses, found.joints


def _slope(
    person: SkinnedPerson,
    targets: NumpyArray,
    tree: KinematicState,
    joints: NumpyArray,
    moments: Moments,
    rule: JointRule,
) -> _Slope:
    """½ Σ r² and what holds the joints, with their exact derivatives."""
    influences = influences_of(person.weights)
    off = (joints - rule.near).reshape(-1)
    flat = joints.reshape(-1)
    energy = 0.5 * rule.ring * float(off @ off) + 0.5 * float(flat @ rule.symmetry @ flat)
    by_joints = rule.ring * off + rule.symmetry @ flat
    rotations = []
    for first in range(0, len(targets), AT_ONCE):
        some = slice(first, first + AT_ONCE)
        part = tree[some]
        points = np.repeat(person.rest[None], len(part.centres), axis=0)
        found = skin_gradient(person.blending, influences, points, part, targets[some])
        energy += 0.5 * float(found.squares.sum())
        maps = translation_maps(part.world_rotations, person.parents)
        by_joints = by_joints + np.einsum("nkam,nka->m", maps, found.forces)
        rotations.append(rotation_gradient(part, found.torques, found.forces, moments.descendants))
    return _Slope(energy, np.concatenate(rotations), by_joints)


def _step(
    moments: Moments, tree: KinematicState, here: _Slope, rule: JointRule, damping: float
) -> tuple[NumpyArray, NumpyArray]:
    maps = translation_maps(tree.world_rotations, moments.parents)
    matrices = rotation_normal_matrices(moments, tree)
    size = np.arange(matrices.shape[1])
    diagonal = np.einsum("naa->na", matrices)
    matrices[:, size, size] += damping * diagonal + _FLOOR * diagonal.max(axis=1, keepdims=True)
    cross = rotation_translation_products(moments, tree, maps)
    mass = moments.values[0, :, :, 3, 3]
    rows = np.moveaxis(maps, 2, 1).reshape(-1, maps.shape[1], maps.shape[3])
    among = np.einsum("rkm,rkp->mp", rows, mass @ rows, optimize=True)
    among += rule.ring * np.eye(len(among)) + rule.symmetry
    solved = np.linalg.solve(matrices, np.concatenate([cross, here.rotations[..., None]], axis=2))
    schur = among - np.einsum("nam,nap->mp", cross, solved[..., :-1], optimize=True)
    right = here.joints - np.einsum("nam,na->m", cross, solved[..., -1])
    schur += damping * np.diag(np.diag(among))
    shift = -np.linalg.solve(schur, right)
    return -(solved[..., -1] + solved[..., :-1] @ shift), shift
