"""Rest shapes T̂ and joints Ĵ of the subjects, given poses, weights and pose blend shapes.

For one subject the data term is quadratic in both: with B_v the blended rotation of a vertex,

    t'_v = B_v (t_v + b_v) + Σ_k w_vk (g_k − Q_k j_k) + t_root,     g_k = Σ_m Γ_km j_m,

where posed joints are linear in rest joints: Γ_k = Γ_parent + Q_parent (e_k − e_parent). Together
with symmetry (λ_Y, λ_U) and the ring average (λ_J) this is one linear system. Rest vertices are
eliminated, a vertex with its mirror image at a time (6 × 6); the ring average ties them together
through 3 J numbers (Woodbury); what is left is a dense system in the joints.
"""

from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.weights import SkinWeights
from corporeal.geometry.transforms import dual_quaternion_from_parts
from corporeal.models.smpl.fitting.many_poses import AT_ONCE
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes, walk
from corporeal.runtime.threads import over_slices
from corporeal.skinning.gradients import influences_of, skin_gradient
from corporeal.skinning.jacobians import translation_maps
from corporeal.skinning.kinematics import descendants, kinematic_state

_REFLECTION = np.array([-1.0, 1.0, 1.0])


@dataclass(frozen=True)
class SubjectRule:
    """What holds the subjects besides the data, each as so many registrations' worth."""

    initial_regressor: Float[NumpyArray, "J V"]
    """𝒥_I: the average of the ring between two parts."""
    mirror: Int[NumpyArray, "V"] | None
    """Vertex on the other side; None leaves out symmetry."""
    mirror_joints: Int[NumpyArray, "J"]
    """Joint on the other side."""
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


def solved_rest_shapes(meshes: PosedMeshes, estimate: Estimate) -> Float64[NumpyArray, "I V 3"]:
    """T̂ of all subjects, their joints held, by data alone: every vertex by itself."""
    from corporeal.models.smpl.training.terms_cpu import pair_blend

    influences, count = influences_of(estimate.weights), len(estimate.parents)
    values, vertex_count = influences.values.astype(np.float64), len(estimate.weights)
    rest_shapes = np.zeros(estimate.rest_shapes.shape)
    squares = np.zeros((meshes.subject_count, vertex_count, 9))
    bare = replace(estimate, rest_shapes=np.zeros_like(estimate.rest_shapes))
    for some in walk(meshes, bare):
        found = skin_gradient(estimate.blending, influences, some.points, some.tree, some.targets)
        rest_shapes[some.subject] -= found.back.sum(axis=0, dtype=np.float64)
        rotation_vectors = some.tree.world_rotations
        if estimate.blending == "dqs":
            squares[some.subject] += len(rotation_vectors) * np.eye(3).reshape(-1)
            continue
        table = np.einsum("nkba,nlbc->klac", rotation_vectors, rotation_vectors, optimize=True)
        flat, own = table.reshape(count, count, 9), squares[some.subject]
        pair_blend(influences.joint_indices, values, flat, own, 0, vertex_count)
    matrices = squares.reshape(*rest_shapes.shape, 3)
    return np.linalg.solve(matrices, rest_shapes[..., None])[..., 0]


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
    own = meshes.of_subject(subject)
    joint_count = len(estimate.parents)
    poses = estimate.poses(own)
    world = kinematic_state(poses, estimate.joints[subject], estimate.parents).world_rotations
    # where the parts' origins go from the rest joints, Γ_k − Q_k e_k
    maps = translation_maps(world, estimate.parents)
    influences = influences_of(estimate.weights)
    terms = _linear_terms if estimate.blending == "lbs" else _dual_terms
    blocks = terms(influences, world, maps, estimate.parents)
    right = _Right(np.zeros((len(influences.values), 3)), np.zeros(3 * joint_count))
    person = estimate.person(subject)
    bare = replace(person, rest=np.zeros_like(person.rest))
    for first in range(0, len(own), AT_ONCE):
        some = slice(first, first + AT_ONCE)
        # with the rest skin and all joints at the origin, r is what is wanted, but for its sign
        tree = kinematic_state(poses[some], np.zeros((joint_count, 3)), estimate.parents)
        offsets = bare.corrected(poses.rotations[some])
        found = skin_gradient(
            estimate.blending, influences, offsets, tree, meshes.vertices[own[some]]
        )
        right.own[:] -= found.back.sum(axis=0, dtype=np.float64)
        right.joints[:] -= np.einsum("nkam,nka->m", maps[some], found.forces)
    return blocks, right


def _linear_terms(
    influences: SkinWeights,
    world: Float64[NumpyArray, "n J 3 3"],
    maps: Float64[NumpyArray, "n J 3 m"],
    parents: tuple[int, ...],
) -> _Blocks:
    """B_v = Σ_k w_vk Q_k: sums over registrations first, for pairs of parts."""
    from corporeal.models.smpl.training.terms_cpu import pair_blend

    count, size, vertex_count = len(parents), maps.shape[3], len(influences.values)
    rotation_vectors = np.moveaxis(world, 2, 1).reshape(-1, 3 * count)  # (n, 3) × (J, 3)
    both = np.concatenate([np.moveaxis(world, 2, 1), np.moveaxis(maps, 2, 1)], axis=3)
    width = 3 + size
    # Σ_n Q_kᵀ (Q_l, M_l)
    table = (rotation_vectors.T @ both.reshape(-1, count * width)).reshape(count, 3, count, width)
    table = np.moveaxis(table, 1, 2).reshape(count, count, 3 * width).copy()
    blended = np.zeros((vertex_count, 3 * width))
    values = influences.values.astype(np.float64)

    def work(first: int, last: int) -> None:
        pair_blend(influences.joint_indices, values, table, blended, first, last)

    over_slices(work, vertex_count, 256)
    blended = blended.reshape(vertex_count, 3, width)
    dense = influences.dense().astype(np.float64)
    mass = dense.T @ dense
    flat = np.moveaxis(maps, 2, 1).reshape(-1, count, size)  # (n, 3) × J × m
    among = np.einsum("rkm,rkp->mp", flat, mass @ flat, optimize=True)
    return _Blocks(blended[:, :, :3], blended[:, :, 3:], among)


def _dual_terms(
    influences: SkinWeights,
    world: Float64[NumpyArray, "n J 3 3"],
    maps: Float64[NumpyArray, "n J 3 m"],
    parents: tuple[int, ...],
) -> _Blocks:
    """B_v is a rotation, and c_v = Σ_k D_vk τ_k."""
    from corporeal.models.smpl.training.terms_cpu import dual_joint_terms

    count, size, vertex_count = len(parents), maps.shape[3], len(influences.values)
    parts = dual_quaternion_from_parts(world, np.zeros((len(world), count, 3)))
    above = np.full((count, count), -1)
    for k in range(count):
        line = np.flatnonzero(descendants(parents)[k])
        above[k, : len(line)] = line
    coupling = np.zeros((vertex_count, 3, size))
    values = influences.values.astype(np.float64)
    pairs: dict[int, NumpyArray] = {}

    def work(first: int, last: int) -> None:
        mine = pairs.setdefault(first, np.zeros((len(world), count, count, 3, 3)))
        dual_joint_terms(
            influences.joint_indices, values, parts, maps, above, coupling, mine, first, last
        )

    over_slices(work, vertex_count, 256)
    total = sum(pairs[first] for first in sorted(pairs))
    # Σ_n M_kᵀ (Σ_v D_kᵀ D_l) M_l
    among = np.einsum("nkam,nklab,nlbp->mp", maps, total, maps, optimize=True)
    own = np.tile(len(world) * np.eye(3), (vertex_count, 1, 1))
    return _Blocks(own, coupling, among)


def mirror_penalty(mirror_joints: Int[NumpyArray, "J"]) -> Float64[NumpyArray, "m m"]:
    """The matrix of ‖j − U j‖², U swapping sides; m = 3 J."""
    size = 3 * len(mirror_joints)
    mirrored = np.zeros((size, size))
    for j, other in enumerate(mirror_joints):
        mirrored[3 * j : 3 * j + 3, 3 * other : 3 * other + 3] = np.diag(_REFLECTION)
    differs = np.eye(size) - mirrored
    return differs.T @ differs


def _joint_terms(
    blocks: _Blocks, right: _Right, rule: SubjectRule, joint_count: int
) -> tuple[NumpyArray, NumpyArray]:
    """The joints' own block: data, ring average and symmetry ‖j − U j‖²."""
    matrix = blocks.joints + rule.ring * np.eye(3 * joint_count)
    return matrix + rule.joint_symmetry * mirror_penalty(rule.mirror_joints), right.joints


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
