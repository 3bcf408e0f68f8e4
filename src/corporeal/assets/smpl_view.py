"""The 24-joint view of a 52-joint body: SMPL's tree instead of SMPL-H's.

SMPL's first 22 joints are SMPL-H's; then come one joint for all fingers of each hand. So the view
is not the first 24 of 52: the hand joints sit at the knuckles and take the weights of all fingers.
"""

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError

BODY_JOINT_COUNT = 22
HANDS = ("left", "right")
KNUCKLES = ("index1", "middle1", "ring1", "pinky1")


def smpl_joint_shares(skeleton: Skeleton) -> Float[NumpyArray, "j J"]:
    """Row i gives SMPL joint i as a weighted sum of SMPL-H joints; rows sum to 1."""
    _require_smplh(skeleton)
    shares = np.eye(BODY_JOINT_COUNT + len(HANDS), skeleton.joint_count)
    for row, side in enumerate(HANDS, start=BODY_JOINT_COUNT):
        shares[row] = 0
        for knuckle in KNUCKLES:
            shares[row, skeleton.index(f"{side}_{knuckle}")] = 1 / len(KNUCKLES)
    return shares


def smpl_template(template: Template) -> Template:
    """The same surface with SMPL's 24 joints; the weights of all fingers go to the hand joint."""
    skeleton = template.skeleton
    joints = smpl_joint_shares(skeleton) @ np.asarray(skeleton.joints)
    names = skeleton.names[:BODY_JOINT_COUNT] + tuple(f"{side}_hand" for side in HANDS)
    wrists = tuple(skeleton.index(f"{side}_wrist") for side in HANDS)
    parents = skeleton.parents[:BODY_JOINT_COUNT] + wrists
    dense = template.weights.dense()
    fingers = [
        [
            i
            for i in range(BODY_JOINT_COUNT, skeleton.joint_count)
            if skeleton.names[i].startswith(s)
        ]
        for s in HANDS
    ]
    hands = [dense[:, columns].sum(axis=1, keepdims=True) for columns in fingers]
    merged = np.concatenate([dense[:, :BODY_JOINT_COUNT], *hands], axis=1)
    return Template(
        template.mesh,
        Skeleton(names, parents, joints.astype(np.asarray(skeleton.joints).dtype)),
        SkinWeights.from_dense(merged, template.weights.values.shape[1]),
        template.part_names,
        template.part_labels,
    )


def _require_smplh(skeleton: Skeleton) -> None:
    if skeleton.joint_count != 52 or "left_index1" not in skeleton.names:
        raise InputError(
            f"skeleton has {skeleton.joint_count} joints; expected SMPL-H's 52, with fingers. "
            f"Only such a body has a 24-joint view."
        )
