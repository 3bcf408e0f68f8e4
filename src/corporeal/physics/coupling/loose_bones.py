"""Bones that lie under flesh which is not theirs.

A vertex's inner copy lies on the nearest bone line. Under breasts and upper back that is the collar
bone, since a skeleton of joints has no ribs; flesh of the trunk would then go up and down with the
arms. Blend weights know better: skin of which a share w < ½ follows a joint (or one below it) is
held by the bone above it instead, turned in part with the joint,

    x = 2w H + (1 − 2w) P,

H the half-rotated joint (Komaritzan 2022, figure 3.5) and P the bone that ends in it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from corporeal._typing import Bool, Float, NumpyArray
from corporeal.body.skeleton import Skeleton
from corporeal.body.weights import SkinWeights
from corporeal.physics.coupling.anchors import Bindings
from corporeal.physics.volumetric_mesh.model import VolumetricModel
from corporeal.skinning.kinematics import descendants

LOOSE: Final = ("left_collar", "right_collar")
"""Joints whose bone lies under flesh of the trunk."""


def follow_shares(weights: SkinWeights, skeleton: Skeleton) -> dict[str, Float[NumpyArray, "V"]]:
    """Share of every vertex that follows each of the loose joints there are, or one below it."""
    names = [name for name in LOOSE if name in skeleton.names]
    if not names:
        return {}
    below = np.asarray(descendants(skeleton.parents), np.float64)
    dense = np.asarray(weights.dense(), np.float64)
    return {name: dense @ below[:, skeleton.index(name)] for name in names}


def bind_above(
    model: VolumetricModel,
    skeleton: Skeleton,
    bindings: Bindings,
    shares: Mapping[str, Float[NumpyArray, "V"]],
) -> tuple[Bindings, Bool[NumpyArray, "V"]]:
    """Bindings in which flesh over a joint and its bone hangs on the bone above where less than
    half of it follows the joint.

    Also says which vertices that are; `shares` are those of the skin's vertices, by joint.
    """
    bones, changed = model.bones, np.zeros(model.vertex_count, bool)
    for name, share in shares.items():
        joint = skeleton.index(name)
        above = np.flatnonzero(bones.bones[:, 1] == joint)
        near = (bones.bone_joints[bindings.bones] == joint) | (bindings.nodes == joint)
        moved = near & (share < 0.5) & ~model.free_inner
        if len(above) == 0 or bones.virtual[above[0]]:
            continue
        bindings = replace(
            bindings,
            nodes=np.where(moved, joint, bindings.nodes),
            bones=np.where(moved, above[0], bindings.bones),
            bone_shares=np.where(moved, 1.0 - 2.0 * share, bindings.bone_shares),
            joint_points=np.where(moved[:, None], model.inner, bindings.joint_points),
            bone_points=np.where(moved[:, None], model.inner, bindings.bone_points),
        )
        changed |= moved
    return bindings, changed
