"""Kinematics of many poses at once, for solvers that turn all of them together.

Joint j turns by a small vector δ_j in the world and takes along all that hangs on it, as in
`linearised`.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.geometry.rotations import matrix_from_axis_angle


@dataclass(frozen=True)
class Poses:
    """Where every joint is turned to, in many poses."""

    rotations: Float[NumpyArray, "N J 3 3"]
    """Of every joint in its parent; the root's in the world."""
    translations: Float[NumpyArray, "N 3"]
    """Of the root, metres."""

    def __len__(self) -> int:
        return len(self.rotations)

    def some(self, which: NumpyArray | slice) -> "Poses":
        """A part of them."""
        return Poses(self.rotations[which], self.translations[which])


@dataclass(frozen=True)
class Chains:
    """The parts' motions x ↦ Q_k x + τ_k in many poses, the root's translation included."""

    world: Float64[NumpyArray, "N J 3 3"]
    """Q_k."""
    centres: Float64[NumpyArray, "N J 3"]
    """g_k: posed joints, metres."""
    shifts: Float64[NumpyArray, "N J 3"]
    """τ_k = g_k − Q_k j_k, metres."""


def hanging(parents: tuple[int, ...]) -> Float64[NumpyArray, "J J"]:
    """Row k, column j: 1 where part k hangs on joint j, or is it."""
    matrix = np.eye(len(parents))
    for k, parent in enumerate(parents):
        if parent >= 0:
            matrix[k] += matrix[parent]
    return matrix


def chain_many(
    poses: Poses, joints: Float[NumpyArray, "*n J 3"], parents: tuple[int, ...]
) -> Chains:
    """World rotations and posed joints of one skeleton in many poses, or of one for each."""
    world = np.array(poses.rotations, np.float64)
    rest = np.broadcast_to(np.asarray(joints, np.float64), (len(world), len(parents), 3))
    centres = np.empty_like(rest, order="C")
    for k, parent in enumerate(parents):
        if parent < 0:
            centres[:, k] = rest[:, k] + poses.translations
            continue
        bone = (rest[:, k] - rest[:, parent])[..., None]
        centres[:, k] = centres[:, parent] + (world[:, parent] @ bone)[..., 0]
        world[:, k] = world[:, parent] @ world[:, k]
    return Chains(world, centres, centres - (world @ rest[..., None])[..., 0])


def turn_many(
    poses: Poses,
    world: Float64[NumpyArray, "N J 3 3"],
    parents: tuple[int, ...],
    steps: Float64[NumpyArray, "N m"],
) -> Poses:
    """Every pose after turning its joints by δ in the world and moving its root; m = 3 J + 3."""
    count = len(parents)
    turns = matrix_from_axis_angle(steps[:, : 3 * count].reshape(-1, count, 3))
    above = np.concatenate(
        [np.broadcast_to(np.eye(3), (len(world), 1, 3, 3)), world[:, list(parents[1:])]], axis=1
    )
    # R_j ← Q_parentᵀ exp(δ_j) Q_parent R_j
    local = np.swapaxes(above, -1, -2) @ turns @ above
    return Poses(local @ poses.rotations, poses.translations + steps[:, 3 * count : 3 * count + 3])
