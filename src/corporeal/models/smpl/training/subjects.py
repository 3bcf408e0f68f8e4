"""Rest shapes T̂ and joints Ĵ of the subjects, given poses, weights and pose blend shapes.

For one subject the data term is quadratic in both: with B_v the blended rotation of a vertex,

    t'_v = B_v (t_v + b_v) + Σ_k w_vk (g_k − Q_k j_k) + t_root,     g_k = Σ_m Γ_km j_m,

where posed joints are linear in rest joints: Γ_k = Γ_parent + Q_parent (e_k − e_parent). Together
with symmetry (λ_Y, λ_U) and the ring average (λ_J) this is one linear system. Rest vertices are
eliminated, a vertex with its mirror image at a time (6 × 6); the ring average ties them together
through 3 J numbers (Woodbury); what is left is a dense system in the joints.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.models.smpl.linearised import chained
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes

_REFLECTION = np.array([-1.0, 1.0, 1.0])


@dataclass(frozen=True)
class SubjectRule:
    """What holds the subjects besides the data, each as so many registrations' worth."""

    initial_regressor: Float[NumpyArray, "J V"]
    """𝒥_I: the average of the ring between two parts."""
    mirror: Int[NumpyArray, "V"] | None
    """Vertex on the other side; None leaves out symmetry."""
    mirror_joints: Int[NumpyArray, "J"]
    rest_symmetry: float
    """λ_Y: of the rest shape, against one registration's data."""
    joint_symmetry: float
    """λ_Y λ_U: of joints, in vertices' worth of squared distance."""
    ring: float
    """λ_J, in vertices' worth of squared distance."""


def solved_subject(
    meshes: PosedMeshes, estimate: Estimate, subject: int, rule: SubjectRule
) -> tuple[Float64[NumpyArray, "V 3"], Float64[NumpyArray, "J 3"]]:
    """T̂ and Ĵ of one subject."""
    blocks, right = _data_terms(meshes, estimate, subject)
    vertex_count, joint_count = estimate.weights.shape
    joints_here, joint_right = _joint_terms(blocks, right, rule, joint_count)
    apart = _PairSolver(blocks.own, rule)
    # unknowns: rest vertices (eliminated), then joints; E_J = λ ‖K t − j‖², K = 𝒥_I
    ring = np.kron(rule.initial_regressor, np.eye(3))  # 3J × 3V
    coupling = blocks.coupling.reshape(3 * vertex_count, -1) - rule.ring * ring.T
    # (H + λ KᵀK)⁻¹ = H⁻¹ − H⁻¹Kᵀ (I/λ + K H⁻¹ Kᵀ)⁻¹ K H⁻¹
    sides = np.concatenate([ring.T, coupling, right.own.reshape(-1, 1)], axis=1)
    solved = apart.solve(sides)
    size = 3 * joint_count
    inner = np.eye(size) / rule.ring + ring @ solved[:, :size]
    solved = solved[:, size:] - solved[:, :size] @ np.linalg.solve(inner, ring @ solved[:, size:])
    schur = joints_here - coupling.T @ solved[:, :-1]
    joints = np.linalg.solve(schur, joint_right - coupling.T @ solved[:, -1])
    rest = solved[:, -1] - solved[:, :-1] @ joints
    return rest.reshape(-1, 3), joints.reshape(-1, 3)


@dataclass(frozen=True)
class _Blocks:
    own: Float64[NumpyArray, "V 3 3"]
    """Σ_n BᵀB."""
    coupling: Float64[NumpyArray, "V 3 m"]
    """Σ_n BᵀC, m = 3 J."""
    joints: Float64[NumpyArray, "m m"]
    """Σ_n CᵀC."""


@dataclass(frozen=True)
class _Right:
    own: Float64[NumpyArray, "V 3"]
    joints: Float64[NumpyArray, "m"]


def _data_terms(meshes: PosedMeshes, estimate: Estimate, subject: int) -> tuple[_Blocks, _Right]:
    vertex_count, joint_count = estimate.weights.shape
    size = 3 * joint_count
    own = np.zeros((vertex_count, 3, 3))
    coupling = np.zeros((vertex_count, 3, size))
    among = np.zeros((size, size))
    own_right, joint_right = np.zeros((vertex_count, 3)), np.zeros(size)
    features = estimate.features()
    for n in meshes.of_subject(subject).tolist():
        world, _ = chained(estimate.rotations[n], estimate.joints[subject], estimate.parents)
        blend = estimate.blend(n, subject)
        blended = blend.blended
        # C_v: where the parts' origins go, Γ_k − Q_k e_k, blended
        by_joints = blend.carried(joint_maps(world, estimate.parents))
        offsets = np.tensordot(features[n], estimate.pose_offsets, axes=1)
        wanted = meshes.vertices[n] - estimate.translations[n]
        wanted = wanted - np.einsum("vab,vb->va", blended, offsets)
        own += np.einsum("vba,vbc->vac", blended, blended)
        coupling += np.matmul(np.swapaxes(blended, 1, 2), by_joints)
        flat = by_joints.reshape(-1, size)
        among += flat.T @ flat
        own_right += np.einsum("vba,vb->va", blended, wanted)
        joint_right += flat.T @ wanted.reshape(-1)
    return _Blocks(own, coupling, among), _Right(own_right, joint_right)


def joint_maps(
    world: Float64[NumpyArray, "J 3 3"], parents: tuple[int, ...]
) -> Float64[NumpyArray, "J 3 m"]:
    """Γ_k − Q_k e_k of every part: where its motion takes the origin, from the rest joints."""
    count = len(parents)
    posed = np.zeros((count, 3, count, 3))
    for k, parent in enumerate(parents):
        if parent < 0:
            posed[k, :, k] = np.eye(3)
            continue
        posed[k] = posed[parent]
        posed[k, :, k] += world[parent]
        posed[k, :, parent] -= world[parent]
    own = np.arange(count)
    posed[own, :, own] -= world
    return posed.reshape(count, 3, -1)


def _joint_terms(
    blocks: _Blocks, right: _Right, rule: SubjectRule, joint_count: int
) -> tuple[NumpyArray, NumpyArray]:
    """The joints' own block: data, ring average and symmetry ‖j − U j‖²."""
    size = 3 * joint_count
    matrix = blocks.joints + rule.ring * np.eye(size)
    mirrored = np.zeros((size, size))
    for j, other in enumerate(rule.mirror_joints):
        mirrored[3 * j : 3 * j + 3, 3 * other : 3 * other + 3] = np.diag(_REFLECTION)
    differs = np.eye(size) - mirrored
    return matrix + rule.joint_symmetry * differs.T @ differs, right.joints


class _PairSolver:
    """Rest vertices, each tied to its mirror image: ‖t − U t‖² for both of a pair."""

    def __init__(self, own: Float64[NumpyArray, "V 3 3"], rule: SubjectRule) -> None:
        count = len(own)
        if rule.mirror is None or rule.rest_symmetry == 0:
            self.pairs = np.arange(count)[:, None]
        else:
            first = np.flatnonzero(np.arange(count) <= rule.mirror)
            self.pairs = np.stack([first, rule.mirror[first]], axis=1)
        self.inverses, self.alone = self._factored(own, rule)

    def _factored(self, own: NumpyArray, rule: SubjectRule) -> tuple[NumpyArray, NumpyArray]:
        if self.pairs.shape[1] == 1:
            return np.linalg.inv(own), np.ones(len(own), bool)
        left, right = self.pairs.T
        alone = left == right
        strength, flip = rule.rest_symmetry, np.diag(_REFLECTION)
        matrices = np.zeros((len(left), 6, 6))
        # ‖t_l − F t_r‖² + ‖t_r − F t_l‖² = 2 ‖t_l − F t_r‖²
        matrices[:, :3, :3] = own[left] + 2 * strength * np.eye(3)
        matrices[:, 3:, 3:] = own[right] + 2 * strength * np.eye(3)
        matrices[:, :3, 3:] = matrices[:, 3:, :3] = -2 * strength * flip
        # on the middle plane: ‖t − F t‖² = 4 x²
        middle = own[left[alone]] + 4 * strength * np.diag([1.0, 0.0, 0.0])
        matrices[alone] = 0.0
        matrices[alone, :3, :3] = middle
        matrices[alone, 3:, 3:] = np.eye(3)
        return np.linalg.inv(matrices), alone

    def solve(self, sides: Float64[NumpyArray, "n c"]) -> Float64[NumpyArray, "n c"]:
        """H⁻¹ times columns; n = 3 V."""
        columns = sides.shape[1]
        by_vertex = sides.reshape(-1, 3, columns)
        if self.pairs.shape[1] == 1:
            return np.matmul(self.inverses, by_vertex).reshape(-1, columns)
        left, right = self.pairs.T
        second = by_vertex[right].copy()
        second[self.alone] = 0.0
        both = np.matmul(self.inverses, np.concatenate([by_vertex[left], second], axis=1))
        result = np.empty_like(by_vertex)
        result[right] = both[:, 3:]
        result[left] = both[:, :3]
        return result.reshape(-1, columns)
