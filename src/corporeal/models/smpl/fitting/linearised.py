"""A posed SMPL skin and its exact derivatives by pose and shape, for fitting and training.

A pose is kept as rotation matrices and changed on their manifold: joint j turns by a small vector
δ_j in the world, which moves all that hangs on it,

    dQ_k = [δ_j]ₓ Q_k,  dg_k = δ_j × (g_k − g_j)          for k in the tree below j, j too,

so that, with x_v the rest vertex after its pose offsets and A_k the motion of part k,

    dt'_v = δ_j × Σ_{k below j} w_vk (A_k x_v − g_j)  +  B_v Σ_n p_nv df_n.

The second term is what the pose blend shapes add: R_j changes by Q_parentᵀ [δ_j]ₓ Q_j, linear in
δ_j. Joints are linear in shape, and so is t'_v.

How parts move a vertex is in `blends`; above is the linear blend.

======= ====================================================== =====================
Q_k     world rotation of part k                               `world`      J 3 3
g_k     posed joint, without the translation, metres           `centres`    J 3
A_k x   Q_k (x − j_k) + g_k
B_v     blended rotation                                       `blend`      V 3 3
D_kj    1 where part k hangs on joint j                        `below`      J J
======= ====================================================== =====================
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.linear_model import Blending
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.smpl.blends import Blend, make_blend
from corporeal.models.smpl.features import Features


@dataclass(frozen=True)
class PoseState:
    """Where every joint is turned to."""

    rotations: Float[NumpyArray, "J 3 3"]
    """Of every joint in its parent; the root's in the world."""
    translation: Float[NumpyArray, "3"]
    """Of the root, metres."""


@dataclass(frozen=True)
class SkinnedPerson:
    """One person, ready to be posed and differentiated; all arrays of one dtype."""

    rest: Float[NumpyArray, "V 3"]
    """Zero pose, metres."""
    joints: Float[NumpyArray, "J 3"]
    """Metres."""
    weights: Float[NumpyArray, "V J"]
    pose_offsets: Float[NumpyArray, "P V 3"]
    parents: tuple[int, ...]
    blending: Blending = "lbs"
    features: Features = "rotations"
    """What drives the pose offsets; `posed` knows rotations alone."""

    @cached_property
    def below(self) -> Float[NumpyArray, "J J"]:
        """Row k, column j: 1 where part k hangs on joint j, or is it."""
        count = len(self.parents)
        matrix = np.eye(count, dtype=self.rest.dtype)
        for k, parent in enumerate(self.parents):
            if parent >= 0:
                matrix[k] += matrix[parent]
        return matrix

    def posed(self, pose: PoseState) -> "Posed":
        """The skin in one pose, with what its derivatives need."""
        world, centres = chained(pose.rotations, self.joints, self.parents)
        features = (pose.rotations[1:] - np.eye(3)).astype(self.rest.dtype).reshape(-1)
        # x_v = t_v + Σ_n f_n p_nv
        corrected = self.rest + np.tensordot(features, self.pose_offsets, axes=1)
        shifts = centres - np.einsum("kab,kb->ka", world, self.joints)
        blend = make_blend(self.blending, self.weights, world, shifts)
        vertices = blend.moved(corrected) + pose.translation.astype(self.rest.dtype)
        return Posed(self, pose, world, centres, blend, corrected, vertices)


@dataclass(frozen=True)
class Posed:
    """A posed skin."""

    person: SkinnedPerson
    pose: PoseState
    world: Float[NumpyArray, "J 3 3"]
    centres: Float[NumpyArray, "J 3"]
    blend: Blend
    corrected: Float[NumpyArray, "V 3"]
    """Rest vertices with their pose offsets, metres."""
    vertices: Float[NumpyArray, "V 3"]
    """Metres."""

    def by_pose(self) -> Float[NumpyArray, "V 3 n"]:
        """Derivative of every vertex by δ of every joint, then by the translation: n = 3 J + 3."""
        person = self.person
        slope = np.zeros((len(self.vertices), 3, len(person.parents) + 1, 3), self.vertices.dtype)
        slope[:, :, :-1] = self.blend.by_turns(self.corrected, self.centres, person.below)
        slope[:, :, 1:-1] += self._by_features()
        slope[:, :, -1] = np.eye(3)
        return slope.reshape(len(slope), 3, -1)

    def _by_features(self) -> Float[NumpyArray, "V 3 k 3"]:
        """What the pose blend shapes add: B_v Σ_n p_nv ∂f_n/∂δ_j, for every joint but the root."""
        person = self.person
        parents = np.asarray(person.parents[1:])
        # ∂(Q_pᵀ [δ]ₓ Q_j)_ab / ∂δ_c = Σ_pq Q_p,pa ε_pcq Q_j,qb
        turns = np.einsum(
            "jpa,pcq,jqb->jabc", self.world[parents], _TURN, self.world[1:], optimize=True
        )
        turns = turns.reshape(len(parents), 9, 3).astype(self.vertices.dtype)
        offsets = person.pose_offsets.reshape(len(parents), 9, -1)
        # e_jvac = Σ_n p_jnva T_jnc
        each = np.matmul(np.swapaxes(offsets, 1, 2), turns).reshape(len(parents), -1, 3, 3)
        return np.einsum("vab,jvbc->vajc", self.blend.blended, each, optimize=True)

    def by_shape(
        self,
        shape_offsets: Float[NumpyArray, "S V 3"],
        joint_offsets: Float[NumpyArray, "S J 3"],
    ) -> Float[NumpyArray, "V 3 S"]:
        """Derivative of every vertex by shape coefficients that move rest skin and joints so."""
        centres = np.zeros_like(joint_offsets)
        for k, parent in enumerate(self.person.parents):
            # ∂g_k = ∂g_p + Q_p (∂j_k − ∂j_p)
            if parent < 0:
                centres[:, k] = joint_offsets[:, k]
                continue
            bone = joint_offsets[:, k] - joint_offsets[:, parent]
            centres[:, k] = centres[:, parent] + bone @ self.world[parent].T
        shifts = centres - np.einsum("kab,skb->ska", self.world, joint_offsets)
        turned = np.einsum("vab,svb->vas", self.blend.blended, shape_offsets, optimize=True)
        return turned + self.blend.carried(np.transpose(shifts, (1, 2, 0)))


_TURN = np.zeros((3, 3, 3))
for _p, _c, _q in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _TURN[_p, _c, _q], _TURN[_q, _c, _p] = 1.0, -1.0
"""([δ]ₓ)_pq = Σ_c ε_pcq δ_c: δ × x has (δ_1 x_2 − δ_2 x_1) first."""


def chained(
    rotations: Float[NumpyArray, "J 3 3"],
    joints: Float[NumpyArray, "J 3"],
    parents: tuple[int, ...],
) -> tuple[Float[NumpyArray, "J 3 3"], Float[NumpyArray, "J 3"]]:
    """World rotations Q_k and posed joints g_k, float64."""
    world = np.array(rotations, np.float64)
    centres = np.array(joints, np.float64)
    for k, parent in enumerate(parents):
        if parent >= 0:
            centres[k] = centres[parent] + world[parent] @ (joints[k] - joints[parent])
            world[k] = world[parent] @ world[k]
    return world, centres


def turned(
    pose: PoseState, world: Float[NumpyArray, "J 3 3"], parents: tuple[int, ...], step: NumpyArray
) -> PoseState:
    """The pose after turning every joint by its δ in the world, and moving the root."""
    count = len(parents)
    turns = matrix_from_axis_angle(step[: 3 * count].reshape(count, 3))
    above = np.concatenate([np.eye(3)[None], world[np.asarray(parents[1:], int)]])
    # R_j ← Q_parentᵀ exp(δ_j) Q_parent R_j
    local = np.swapaxes(above, 1, 2) @ turns @ above
    return PoseState(local @ pose.rotations, pose.translation + step[3 * count : 3 * count + 3])
