"""Pose correctives: morph targets whose weights follow from the pose alone.

The pose blend shapes of SMPL (Loper et al. 2015, equation 9) are linear in the elements of the
joints' rotation matrices: B_P(θ) = Σ_n (R_n(θ) − R_n(θ*)) P_n. With fewer morph targets d_b than
features f_n = R_n(θ) − R_n(θ*), the weights are w_b(θ) = Σ_n B_bn f_n(θ). The rest pose θ* of our
skeletons turns no joint, so R(θ*) is the identity and every weight is 0 at rest.
"""

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.geometry.rotations import matrix_from_quaternion
from corporeal.runtime.names import repeated
from corporeal.runtime.pytree_dataclass import pytree_dataclass

FEATURES = 9
"""Pose features a joint: the elements of its rotation matrix less the identity, row by row."""


@pytree_dataclass(static=("joint_names", "morph_names"))
class PoseCorrectives:
    """Morph targets, each with a weight that is linear in the pose features of some joints."""

    joint_names: tuple[str, ...]
    """Joints that drive, unique; never the root, whose turn is the body's place in the world."""
    morph_names: tuple[str, ...]
    """Unique names, one a morph target."""
    feature_weights: Float[NumpyArray, "B P"]
    """Share of every pose feature in every weight; nine features a joint, as `joint_names`."""
    offsets: Float[NumpyArray, "B V 3"]
    """Rest-pose displacement of every vertex at weight 1, metres."""

    def check(self) -> None:
        """Raise `InputError` unless names are unique, shapes agree and numbers are finite."""
        for what, names in (("joint", self.joint_names), ("morph", self.morph_names)):
            if not names:
                raise InputError(f"correctives have no {what} names; expected at least one.")
            if twice := repeated(names):
                raise InputError(
                    f"correctives {what} names {twice} stand twice; expected unique names."
                )
        expected = (len(self.morph_names), FEATURES * len(self.joint_names))
        if self.feature_weights.shape != expected:
            raise InputError(
                f"correctives have feature weights of shape {self.feature_weights.shape} for "
                f"{len(self.morph_names)} morph names and {len(self.joint_names)} joint names; "
                f"expected {expected}: a row a morph target, {FEATURES} columns a joint."
            )
        if len(self.offsets) != len(self.morph_names):
            raise InputError(
                f"correctives have {len(self.offsets)} offsets and {len(self.morph_names)} morph "
                f"names; expected as many."
            )
        require_finite("correctives feature_weights", self.feature_weights)
        require_finite("correctives offsets", self.offsets)

    @property
    def morph_count(self) -> int:
        """Number B of morph targets."""
        return len(self.morph_names)


def pose_features(
    joint_rotations_wxyz: Float[NumpyArray, "*batch J 4"],
) -> Float64[NumpyArray, "*batch P"]:
    """f = R(θ) − R(θ*), joint after joint, each matrix row by row; no unit.

    Quaternions are divided by their lengths, so that float32 tracks give rotations.
    """
    require_finite("joint rotations", joint_rotations_wxyz)
    rotation_vectors = np.asarray(joint_rotations_wxyz, np.float64)
    lengths = np.linalg.norm(rotation_vectors, axis=-1, keepdims=True)
    if not (lengths > 0).all():
        raise InputError("joint rotations hold a quaternion of length 0; expected unit length.")
    changes = matrix_from_quaternion(rotation_vectors / lengths) - np.eye(3)
    return changes.reshape(*rotation_vectors.shape[:-2], FEATURES * rotation_vectors.shape[-2])


def driving_joints(correctives: PoseCorrectives, skeleton: Skeleton) -> list[int]:
    """Index in `skeleton` of every joint that drives; `InputError` for the root or a stranger."""
    indices = [skeleton.index(name) for name in correctives.joint_names]
    if 0 in indices:
        raise InputError(
            f"correctives are driven by {skeleton.names[0]!r}, the root; its turn only places the "
            f"body in the world. Leave its {FEATURES} features out."
        )
    return indices


def corrective_weights(
    correctives: PoseCorrectives,
    skeleton: Skeleton,
    joint_rotations_wxyz: Float[NumpyArray, "*batch J 4"],
) -> Float64[NumpyArray, "*batch B"]:
    """w = B f(θ) of poses given as local rotations of all joints of `skeleton`; signed."""
    if joint_rotations_wxyz.shape[-2] != skeleton.joint_count:
        raise InputError(
            f"poses turn {joint_rotations_wxyz.shape[-2]} joints; expected all "
            f"{skeleton.joint_count} of the skeleton."
        )
    driving = driving_joints(correctives, skeleton)
    features = pose_features(joint_rotations_wxyz[..., driving, :])
    return features @ np.asarray(correctives.feature_weights, np.float64).T


def weight_bounds(
    correctives: PoseCorrectives,
) -> tuple[Float64[NumpyArray, "B"], Float64[NumpyArray, "B"]]:
    """Smallest and largest weight that any pose gives; both are reached.

    A joint adds ⟨A, R⟩ − tr A, with A its 3 × 3 share of a row of B. Over all rotations, with the
    singular values s₁ ≥ s₂ ≥ s₃ of A and σ = sign det A,

        −(s₁ + s₂ − σ s₃)  ≤  ⟨A, R⟩  ≤  s₁ + s₂ + σ s₃.
    """
    shares = np.asarray(correctives.feature_weights, np.float64)
    shares = shares.reshape(len(shares), len(correctives.joint_names), 3, 3)
    sizes = np.linalg.svd(shares, compute_uv=False)
    last = np.sign(np.linalg.det(shares)) * sizes[..., 2]
    traces = np.trace(shares, axis1=-2, axis2=-1)
    low = last - sizes[..., 0] - sizes[..., 1] - traces
    high = last + sizes[..., 0] + sizes[..., 1] - traces
    return low.sum(axis=-1), high.sum(axis=-1)


def correctives_from_blend_shapes(
    joint_names: tuple[str, ...],
    blend_shapes: Float[NumpyArray, "P V 3"],
    count: int,
) -> PoseCorrectives:
    """The `count` morph targets that stand best for one blend shape a pose feature.

    `blend_shapes` are P_n of equation 9, metres. Best in the mean square of all their offsets:
    P ≈ Σ_b u_b d_b with u_b the strongest eigenvectors of P Pᵀ and d_b = u_bᵀ P.
    """
    if len(blend_shapes) != FEATURES * len(joint_names):
        raise InputError(
            f"got {len(blend_shapes)} blend shapes for {len(joint_names)} joints; expected "
            f"{FEATURES} a joint."
        )
    if not 1 <= count <= len(blend_shapes):
        raise InputError(
            f"asked for {count} morph targets of {len(blend_shapes)} blend shapes; expected 1 to "
            f"{len(blend_shapes)}."
        )
    require_finite("blend shapes", blend_shapes)
    flat = np.asarray(blend_shapes, np.float64).reshape(len(blend_shapes), -1)
    _, vectors = np.linalg.eigh(flat @ flat.T)
    shares = np.ascontiguousarray(vectors[:, ::-1][:, :count].T)
    digits = max(2, len(str(count - 1)))
    return PoseCorrectives(
        joint_names,
        tuple(f"pose_{b:0{digits}d}" for b in range(count)),
        shares,
        (shares @ flat).reshape(count, *blend_shapes.shape[1:]),
    )
