"""Equations 1 to 13 of Allen 2006, as the paper prints them, in float64.

Allen, Curless, Popović, Hertzmann: Learning a correlated model of identity and pose-dependent body
shape variation for real-time synthesis, Symposium on Computer Animation 2006. One character, one
scan; the training computes the same in batches.

=========  =====================================================  ==============================
symbol     meaning                                                code
=========  =====================================================  ==============================
v̄'         dress shape, metres                                    `dress`          V 3
b, q       bone parameters; pose: rotations and a translation     `b` b, `q` RotationPose
M_{q,b,j}  frame of influence j                                   `rig.state(q, joints)`
s          enveloping weights                                     `s`              V L
r_k, ω     key angles of a joint, their weights                   `RadialBasis`
k          offsets at key angles, in a region                     `Keyed.offsets`  k v 3
c          character vector (v̄', b, k)                            `Character`
e          matched scan, with the scanner's confidence            `e` V 3, `confidence` V
h          joint centres that surface landmarks tell, metres      `h`              J 3
σ²         variances of scan, joints, weights and offsets         `Variances`
=========  =====================================================  ==============================

The first key of every joint is no rotation and has no offset, so that the dress shape is the shape
in the dress pose.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.enveloping import DriverKind
from corporeal.body.pose import RotationPose
from corporeal.models.enveloping.keys import RadialBasis, driver_rotations
from corporeal.models.enveloping.rig import EnvelopingRig


@dataclass(frozen=True)
class Variances:
    """σ², with the first guesses of section 4.1.6."""

    observation: float = 1e-6
    """σ_v², m²."""
    joints: float = 1e-6
    """σ_b², m²."""
    weights: float = 1e-4
    """σ_s²."""
    offsets: float = 1e-4
    """σ_k², m²."""


@dataclass(frozen=True)
class Keyed:
    """Key angles of one joint and a person's offsets at them."""

    joint: int
    """Joint that drives."""
    kind: DriverKind
    """What of its rotation drives."""
    basis: RadialBasis
    """Weights of the key angles; the first is no rotation."""
    region: Int[NumpyArray, "v"]
    """Vertices with offsets."""
    offsets: Float[NumpyArray, "k v 3"]
    """k of all keys but the first, metres."""


@dataclass(frozen=True)
class Character:
    """c: dress shape, bone parameters and offsets of one person."""

    dress: Float[NumpyArray, "V 3"]
    """v̄', metres."""
    b: Float[NumpyArray, "b"]
    """Bone parameters."""
    keyed: tuple[Keyed, ...]
    """k, joint by joint."""


def key_weights(rig: EnvelopingRig, keyed: Keyed, q: RotationPose) -> Float64[NumpyArray, "k"]:
    """ω_{j,k} of all keys but the first (section 2.3)."""
    local = q.rotations[keyed.joint]
    return keyed.basis.weights(driver_rotations(keyed.kind, local, rig.axes[keyed.joint]))[1:]


def corrected_dress(
    rig: EnvelopingRig, c: Character, q: RotationPose
) -> Float64[NumpyArray, "V 3"]:
    """v̄_i = v̄'_i + Σ_j Σ_k ω_{j,k} k_{j,k}, eq. 2."""
    dress = np.array(c.dress, np.float64)
    for keyed in c.keyed:
        dress[keyed.region] += np.tensordot(key_weights(rig, keyed, q), keyed.offsets, axes=1)
    return dress


def enveloped(
    rig: EnvelopingRig,
    dress: Float[NumpyArray, "V 3"],
    b: Float[NumpyArray, "b"],
    s: Float[NumpyArray, "V L"],
    q: RotationPose,
) -> Float64[NumpyArray, "V 3"]:
    """v_i = Σ_j s_{i,j} M_{q,b,j} M_{q̄,b,j}⁻¹ v̄_i, eq. 1."""
    state = rig.state(q, rig.layout.joints_of(b))
    # M M̄⁻¹ v̄ = Q_j v̄ + τ_j
    moved = np.einsum("jab,vb->vja", state.world_rotations, dress) + state.translations
    return np.einsum("vj,vja->va", s, moved)


def posed(
    rig: EnvelopingRig, c: Character, s: Float[NumpyArray, "V L"], q: RotationPose
) -> Float64[NumpyArray, "V 3"]:
    """f(c, s, q), eq. 3."""
    return enveloped(rig, corrected_dress(rig, c, q), c.b, s, q)


def observation_energy(
    e: Float[NumpyArray, "V 3"],
    v: Float[NumpyArray, "V 3"],
    confidence: Float[NumpyArray, "V"],
    variance: float,
) -> float:
    """Σ_i c_i ‖e_i − v_i‖² / 2σ_v²: −log of eq. 5 without its constant, weighted by confidence."""
    return float(np.sum(confidence * np.sum((e - v) ** 2, axis=1)) / (2 * variance))


def skeleton_energy(
    rig: EnvelopingRig,
    b: Float[NumpyArray, "b"],
    q: RotationPose,
    h: Float[NumpyArray, "J 3"],
    variance: float,
) -> float:
    """Σ_j ‖h_j − M_{q,b,j} (0 0 0 1)ᵀ‖² / 2σ_b², eq. 9; of the standing pose."""
    centres = rig.state(q, rig.layout.joints_of(b)).centres[: rig.joint_count]
    return float(np.sum((h - centres) ** 2) / (2 * variance))


def umbrella(edges: csr_array) -> csr_array:
    """U: the mean of a vertex's neighbours less itself (Kobbelt 1998); `edges` are differences."""
    laplacian = (edges.T @ edges).tocsr()
    return csr_array(laplacian.multiply(-1.0 / laplacian.diagonal()[:, None]))


def weight_energy(s: Float[NumpyArray, "V L"], U: csr_array, variance: float) -> float:
    """Σ_i ‖U²(s_i)‖² / 2σ_s², eq. 10."""
    return float(np.sum((U @ (U @ s)) ** 2) / (2 * variance))


def offset_energy(
    keyed: Sequence[Keyed], edges: csr_array, vertex_count: int, variance: float
) -> float:
    """Σ_j Σ_{edges} ‖k_{i1,j} − k_{i2,j}‖² / 2σ_k², eq. 11; offsets outside a region are 0."""
    energy = 0.0
    for some in keyed:
        for offsets in some.offsets:
            everywhere = np.zeros((vertex_count, 3))
            everywhere[some.region] = offsets
            energy += float(np.sum((edges @ everywhere) ** 2)) / (2 * variance)
    return energy


def variance_of(squares: float, count: int, dimension: int) -> float:
    """σ² = Σ_i ‖e_i‖² / n d, eq. 12."""
    return squares / max(count * dimension, 1)


def character_of(
    x: Float[NumpyArray, "s"],
    dress: Float[NumpyArray, "m V 3"],
    bones: Float[NumpyArray, "m b"],
    corrections: Sequence[tuple[Keyed, Float[NumpyArray, "n k v 3"]]],
) -> Character:
    """c = W x + c̄, eq. 13: every array has the mean in its first row, then the columns of W."""
    y = np.concatenate([[1.0], np.asarray(x, np.float64)])
    keyed = tuple(
        Keyed(k.joint, k.kind, k.basis, k.region, np.tensordot(y[: len(rows)], rows, axes=1))
        for k, rows in corrections
    )
    return Character(np.tensordot(y, dress, axes=1), y @ bones, keyed)
