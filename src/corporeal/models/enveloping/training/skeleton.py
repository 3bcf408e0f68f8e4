"""Bone parameters of all people, given everything else (eq. 9 and 13).

Skins and joint centres are linear in the joints while rotations are held, and joints in b but for
the carrying angles, so this is one Gauss–Newton step for b̄ and W_b together: person β adds
y_β y_βᵀ ⊗ H_β, with H_β from sums over its vertices.
"""

from dataclasses import replace

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.enveloping import coordinates
from corporeal.models.enveloping.training.problem import (
    Estimate,
    Problem,
    Scans,
    skins,
)

_RIDGE = 1e-6
"""Share of the mean diagonal, for what no scan tells."""


def landmark_joints(problem: Problem, scans: Scans) -> Float64[NumpyArray, "B J 3"]:
    """h: joint centres of everybody's standing scan, from its surface, metres."""
    standing = np.asarray(scans.vertices[scans.standing], np.float64)
    return np.einsum("jv,bva->bja", problem.regressor, standing, optimize=True)


def with_bones(problem: Problem, scans: Scans, estimate: Estimate) -> Estimate:
    """The estimate with better bone parameters."""
    rig = problem.rig
    y, size = coordinates(estimate.x), rig.layout.size
    count = len(estimate.bones)
    normal = np.zeros((count * size, count * size))
    right = np.zeros(count * size)
    told = landmark_joints(problem, scans)
    pull = estimate.variances.observation / estimate.variances.joints
    for person in range(scans.person_count):
        b = y[person] @ estimate.bones
        slopes = rig.layout.slopes(b).reshape(-1, size)
        hessian, gradient = np.zeros((size, size)), np.zeros(size)
        own = scans.of_person(person)
        state = rig.state(estimate.pose(own), rig.layout.joints_of(b))
        maps = rig.translation_maps(state.world_rotations) @ slopes  # n L 3 b
        off = skins(problem, estimate, scans, own).vertices - scans.vertices[own]
        for n, scan in enumerate(own):
            seen = scans.confidence[scan].astype(np.float64)
            shares = estimate.weights * seen[:, None]
            mass = estimate.weights.T @ shares
            pulled = np.tensordot(mass, maps[n], axes=1)
            hessian += np.einsum("lap,laq->pq", maps[n], pulled, optimize=True)
            force = shares.T @ np.where(seen[:, None] > 0, off[n], 0.0)
            gradient += np.einsum("lap,la->p", maps[n], force)
        place = int(np.flatnonzero(own == scans.standing[person])[0])
        gap, by = _landmarks(problem, state, place, slopes, told[person])
        hessian += pull * by.T @ by
        gradient += pull * by.T @ gap
        normal += np.kron(np.outer(y[person], y[person]), hessian)
        right += np.kron(y[person], gradient)
    normal += _RIDGE * np.trace(normal) / len(normal) * np.eye(len(normal))
    step = -np.linalg.solve(normal, right).reshape(count, size)
    return replace(estimate, bones=estimate.bones + step)


def _landmarks(
    problem: Problem, state, place: int, slopes: NumpyArray, told: NumpyArray
) -> tuple[NumpyArray, NumpyArray]:
    """What joint centres miss of h, and its derivative by b."""
    rig, count = problem.rig, problem.rig.joint_count
    world = state.world_rotations[place]
    gap = (state.centres[place, :count] - told).reshape(-1)
    joints = slopes.reshape(count, 3, -1)
    by = np.empty_like(joints)
    for k, parent in enumerate(rig.layout.parents):
        bone = joints[k] if parent < 0 else joints[k] - joints[parent]
        by[k] = bone if parent < 0 else by[parent] + world[parent] @ bone
    return gap, by.reshape(len(gap), -1)


def skeleton_squares(problem: Problem, scans: Scans, estimate: Estimate) -> float:
    """Σ ‖h − centre‖² of all people, m²."""
    joints = estimate.joints(problem)
    state = problem.rig.state(estimate.pose(scans.standing), joints)
    off = state.centres[:, : problem.rig.joint_count] - landmark_joints(problem, scans)
    return float(np.sum(off**2))
