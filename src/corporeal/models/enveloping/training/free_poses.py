"""Poses that follow while dress shapes and offsets are solved for.

A bone that is turned a little, and offsets of the whole region turned back, are nearly the same
skin: solved for in turns, poses and offsets creep along that valley for dozens of rounds. So the
linear problem B u ≈ m lets every scan's pose move by δ, B u + J δ ≈ m, and δ is eliminated:

    ‖P (B u − m)‖²,   P = I − J (JᵀJ + D)⁻¹ Jᵀ,

the variable projection of Golub and Pereyra 1973 with the derivatives of Kaufman 1975: what turns
change in the weights of key angles is left out of J. J is never formed. With S the weights and
R v = S ⊗ (v̄, 1), a pose's turns move influences by 3 × 4 matrices M δ, and J = R M.
"""

from dataclasses import replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.geometry.rotations import cross_matrix
from corporeal.models.enveloping.training.people import LONGEST_TURN, damping
from corporeal.models.enveloping.training.problem import (
    Estimate,
    Problem,
    Scans,
    corrected_rest,
)
from corporeal.skinning.kinematics import KinematicState, rotate_joints

_AT_ONCE = 32


class FreePoses:
    """J of every scan, with the factor of its normal matrix."""

    def __init__(self, problem: Problem, scans: Scans, estimate: Estimate) -> None:
        count = len(scans.people)
        self._roots = np.sqrt(scans.confidence).astype(np.float32)
        self._weights = csr_array(estimate.weights.astype(np.float32))
        self._back = csr_array(self._weights.T)
        self._count = estimate.weights.shape[1]
        joints = estimate.joints(problem)[scans.people]
        self._state = problem.rig.state(estimate.pose(np.arange(count)), joints)
        self._rest = np.ones((*scans.confidence.shape, 4), np.float32)
        for first in range(0, count, _AT_ONCE):
            some = np.arange(first, min(first + _AT_ONCE, count))
            self._rest[some, :, :3] = corrected_rest(problem, estimate, scans, some)
        self._motions, self._factors = [], []
        for n in range(count):
            motion = influence_motions(problem, self._state[n], estimate.rotations[n])
            self._motions.append(motion.astype(np.float32))
            normal = motion.T @ self._apart(n) @ motion
            self._factors.append(cho_factor(normal + damping(normal)))

    def _apart(self, n: int) -> Float64[NumpyArray, "L12 L12"]:
        """Σ_v c (s sᵀ) ⊗ I ⊗ (v̄ v̄ᵀ): RᵀR of one scan, in the order of influence, row, column."""
        rest, size = self._rest[n], self._count
        spread = csr_array(self._weights.multiply(self._roots[n][:, None]))
        columns = [csr_array(spread.multiply(rest[:, c : c + 1])) for c in range(4)]
        pairs = np.empty((size, 4, size, 4))
        for a in range(4):
            for b in range(a, 4):
                block = (columns[a].T @ columns[b]).toarray()
                pairs[:, a, :, b] = block
                pairs[:, b, :, a] = block.T
        whole = np.zeros((size, 3, 4, size, 3, 4))
        for row in range(3):
            whole[:, row, :, :, row, :] = pairs
        return whole.reshape(12 * size, 12 * size)

    def steps(self, n: int, values: Float[NumpyArray, "V 3"]) -> Float64[NumpyArray, "p"]:
        """(JᵀJ + D)⁻¹ Jᵀ of one scan's values, which are times the roots of its confidences."""
        spread = (self._roots[n][:, None] * values)[:, :, None] * self._rest[n][:, None]
        pulled = (self._back @ spread.reshape(len(spread), 12)).reshape(-1)
        return cho_solve(self._factors[n], (pulled @ self._motions[n]).astype(np.float64))

    def project(self, values: Float[NumpyArray, "N V 3"]) -> None:
        """`values` ← P `values`, in place."""
        for n in range(len(values)):
            step = self.steps(n, values[n]).astype(np.float32)
            moved = self._weights @ (self._motions[n] @ step).reshape(-1, 12)
            change = np.matmul(moved.reshape(-1, 3, 4), self._rest[n][..., None])[..., 0]
            values[n] -= self._roots[n][:, None] * change

    def moved(
        self, problem: Problem, estimate: Estimate, residuals: Float[NumpyArray, "N V 3"]
    ) -> Estimate:
        """The estimate with poses where they are best for what is left of the scans, B u − m."""
        moves = -np.stack([self.steps(n, residuals[n]) for n in range(len(residuals))])
        longest = np.abs(moves[:, :-3]).max(axis=1, keepdims=True)
        moves *= np.minimum(1.0, LONGEST_TURN / np.maximum(longest, 1e-12))
        rig = problem.rig
        world = self._state.world_rotations[:, : rig.joint_count]
        poses = estimate.pose(np.arange(len(residuals)))
        found = rotate_joints(poses, world, rig.layout.parents, moves)
        return replace(estimate, rotations=found.rotations, translations=found.translation)


def influence_motions(
    problem: Problem, state: KinematicState, local: Float[NumpyArray, "J 3 3"]
) -> Float64[NumpyArray, "L12 p"]:
    """M: velocities of all influences as 3 × 4 matrices on (v̄, 1), by turns of all joints in the
    world's axes and the translation; p = 3 J + 3."""
    rig = problem.rig
    count, size = rig.joint_count, len(rig.parents)
    turning = np.einsum("ml,ab->lamb", rig.descendants, np.eye(3))  # L 3 J 3: W_l by δ_m
    helpers = rig.helper_turns(local, state.world_rotations)
    for place, joint in enumerate(rig.helper_joints.tolist()):
        turning[count + place, :, joint] += helpers[place]
    frames = np.concatenate([state.world_rotations, state.translations[..., None]], axis=-1)
    made = np.zeros((size, 3, 4, 3 * count + 3))
    flat = turning.reshape(size, 3, 3 * count)
    for axis in range(3):
        cross = cross_matrix(np.eye(3)[axis])  # W × x = Σ_a W_a (e_a × x)
        made[..., : 3 * count] += np.einsum("lac,lp->lacp", cross @ frames, flat[:, axis])
        # − W × g of every joint that turns
        arms = np.einsum("ab,mb->am", cross, state.centres[:count])
        lever = np.einsum("lmb,am->lamb", turning[:, axis], arms)
        made[:, :, 3, : 3 * count] -= lever.reshape(size, 3, 3 * count)
    made[:, :, 3, 3 * count :] = np.eye(3)
    return made.reshape(12 * size, -1)
