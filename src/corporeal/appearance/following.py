"""Where soft parts are in a frame: skinned as the skin below them, and moved by its flesh."""

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.attachment import Attachment
from corporeal.body.weights import SkinWeights


def soft_part_places(
    part: Attachment, animation: Animation, frame: int
) -> Float[NumpyArray, "n 3"]:
    """x = LBS(part) + Σ_k s_k (skin_k − LBS(skin)_k): all that the skin does beyond plain linear
    blending (flesh, correctives) is handed to what lies on it. Metres."""
    assert part.binding is not None
    world = np.asarray(animation.world_from_joint[frame], np.float64)
    joints = np.asarray(animation.identity.joints, np.float64)
    # x ↦ R x + t takes the rest pose to the frame
    rotations = world[:, :3, :3]
    shifts = world[:, :3, 3] - np.einsum("jab,jb->ja", rotations, joints)
    blended = _blend(part.binding.weights, np.asarray(part.mesh.vertices), rotations, shifts)
    used, inverse = np.unique(part.binding.carriers, return_inverse=True)
    weights = animation.template.weights
    below = SkinWeights(weights.joint_indices[used], weights.values[used], weights.joint_count)
    rest = np.asarray(animation.identity.rest_vertices, np.float64)[used]
    skin = np.asarray(animation.vertices[frame], np.float64)[used]
    beyond = skin - _blend(below, rest, rotations, shifts)
    carried = beyond[inverse.reshape(part.binding.carriers.shape)]
    return blended + np.einsum("nk,nki->ni", part.binding.shares, carried)


def _blend(
    weights: SkinWeights,
    rest: Float[NumpyArray, "n 3"],
    rotations: Float[NumpyArray, "J 3 3"],
    shifts: Float[NumpyArray, "J 3"],
) -> Float[NumpyArray, "n 3"]:
    """Linear blend skinning, metres."""
    shares = weights.values.astype(np.float64)
    # Σ_k w_k (R_k x + t_k)
    turned = np.einsum("nk,nkab->nab", shares, rotations[weights.joint_indices])
    moved = np.einsum("nk,nka->na", shares, shifts[weights.joint_indices])
    return np.einsum("nab,nb->na", turned, np.asarray(rest, np.float64)) + moved
