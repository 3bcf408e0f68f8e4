"""SMPL's equations 1 to 13, as the paper prints them.

Loper, Mahmood, Romero, Pons-Moll, Black: SMPL: A Skinned Multi-Person Linear Model, ACM
Transactions on Graphics 34(6), 2015. One person in one pose; `model.py` computes the same in
batches. Two misprints are mended: the last term of eq. 1 is ω̂² (1 − cos ‖ω‖), and j_j in eq. 4 is
the joint's place relative to its parent. K counts the joints without the root; the sums of eq. 2
and 12 run over all K + 1 parts.

========  ====================================================  ==========================
symbol    meaning                                               code
========  ====================================================  ==========================
T̄         mean template in the zero pose, metres                `template`      V 3
β, S      shape coefficients, shape blend shapes                `betas` S, `S`  S V 3
θ         axis-angle of every part in its parent, radians       `theta`         K+1 3
P         pose blend shapes                                     `P`             9K V 3
𝒥         joint regressor                                       `J`             K+1 V
W         blend weights                                         `W`             V K+1
G_k       world transformation of part k                        `G`             K+1 4 4
G'_k      the same without that of the rest pose                `G_relative`    K+1 4 4
θ*        the zero pose
========  ====================================================  ==========================
"""

from collections.abc import Sequence

from corporeal._typing import Array, Float
from corporeal.runtime.arrays import namespace_of


def rodrigues(omega: Float[Array, "3"]) -> Float[Array, "3 3"]:
    """Rotation matrix of an axis-angle vector, eq. 1.

    exp(ω) = I + ω̂ sin ‖ω‖ + ω̂² (1 − cos ‖ω‖), with ω̂ the cross-product matrix of the unit axis.
    """
    xp = namespace_of(omega)
    norm = xp.sqrt(xp.sum(omega * omega))
    x, y, z = (omega[i] / xp.where(norm > 0, norm, 1.0) for i in range(3))
    zero = xp.zeros_like(x)
    hat = xp.stack(
        [xp.stack([zero, -z, y]), xp.stack([z, zero, -x]), xp.stack([-y, x, zero])],
    )
    return xp.eye(3, dtype=omega.dtype) + hat * xp.sin(norm) + (hat @ hat) * (1.0 - xp.cos(norm))


def shape_blend_shapes(betas: Float[Array, "S"], S: Float[Array, "S V 3"]) -> Float[Array, "V 3"]:
    """B_S(β; S) = Σ_n β_n S_n, eq. 8."""
    return namespace_of(betas, S).tensordot(betas, S, axes=1)


def pose_features(theta: Float[Array, "J 3"]) -> Float[Array, "P"]:
    """R(θ) − R(θ*): the part-relative rotation matrices less the identity, without the root."""
    xp = namespace_of(theta)
    identity = xp.eye(3, dtype=theta.dtype)
    return xp.concat(
        [xp.reshape(rodrigues(theta[k]) - identity, (9,)) for k in range(1, len(theta))]
    )


def pose_blend_shapes(theta: Float[Array, "J 3"], P: Float[Array, "P V 3"]) -> Float[Array, "V 3"]:
    """B_P(θ; P) = Σ_n (R_n(θ) − R_n(θ*)) P_n, eq. 9."""
    return namespace_of(theta, P).tensordot(pose_features(theta), P, axes=1)


def joint_locations(
    betas: Float[Array, "S"],
    J: Float[Array, "J V"],
    template: Float[Array, "V 3"],
    S: Float[Array, "S V 3"],
) -> Float[Array, "J 3"]:
    """J(β; 𝒥, T̄, S) = 𝒥 (T̄ + B_S(β; S)), eq. 10."""
    return J @ (template + shape_blend_shapes(betas, S))


def world_transformations(
    theta: Float[Array, "J 3"], joints: Float[Array, "J 3"], parents: Sequence[int]
) -> list[Float[Array, "4 4"]]:
    """G_k(θ, J) = Π_{j ∈ A(k)} [exp(ω_j)  j_j; 0  1], eq. 4, in the order of the tree."""
    xp = namespace_of(theta, joints)
    last_row = xp.asarray([[0.0, 0.0, 0.0, 1.0]], dtype=joints.dtype)
    G: list[Array] = []
    for k, parent in enumerate(parents):
        relative = joints[k] if parent < 0 else joints[k] - joints[parent]
        local = xp.concat([rodrigues(theta[k]), relative[:, None]], axis=1)
        local = xp.concat([local, last_row], axis=0)
        G.append(local if parent < 0 else G[parent] @ local)
    return G


def linear_blend_skinning(
    template: Float[Array, "V 3"],
    joints: Float[Array, "J 3"],
    theta: Float[Array, "J 3"],
    W: Float[Array, "V J"],
    parents: Sequence[int],
) -> Float[Array, "V 3"]:
    """W(T̄, J, θ, W), eq. 2 and 3."""
    xp = namespace_of(template, joints, theta)
    at_rest = world_transformations(xp.zeros_like(theta), joints, parents)
    posed = world_transformations(theta, joints, parents)
    # G'_k(θ, J) = G_k(θ, J) G_k(θ*, J)⁻¹
    G_relative = xp.stack([g @ xp.linalg.inv(r) for g, r in zip(posed, at_rest, strict=True)])
    homogeneous = xp.concat([template, xp.ones_like(template[:, :1])], axis=1)
    # t'_i = Σ_k w_ki G'_k t̄_i
    blended = xp.tensordot(W, G_relative, axes=1)
    return xp.sum(blended * homogeneous[:, None, :], axis=-1)[:, :3]


def smpl(
    betas: Float[Array, "S"],
    theta: Float[Array, "J 3"],
    template: Float[Array, "V 3"],
    W: Float[Array, "V J"],
    S: Float[Array, "S V 3"],
    J: Float[Array, "J V"],
    P: Float[Array, "P V 3"],
    parents: Sequence[int],
) -> Float[Array, "V 3"]:
    """M(β, θ; Φ) = W(T_P(β, θ), J(β), θ, W), eq. 5, 6 and 11, metres.

    T_P(β, θ) = T̄ + B_S(β) + B_P(θ).
    """
    posed_template = template + shape_blend_shapes(betas, S) + pose_blend_shapes(theta, P)
    joints = joint_locations(betas, J, template, S)
    return linear_blend_skinning(posed_template, joints, theta, W, parents)
