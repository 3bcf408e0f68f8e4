"""The template brought to a person's height and limb lengths (section 4.2.4, first part).

Global, isotropic and damped, for thickness as well as length: d_h = ½ (h_scan/h_template − 1) + 1.
Local, along bones alone: every bone is stretched between its two joints, so that limb lengths
match and diameters stay (after Kadleček et al. 2016).
"""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.skeleton import Skeleton
from corporeal.body.weights import SkinWeights

AXIAL = {"pelvis": "spine1", "spine3": "neck"}
"""Which child a joint's bone leads to where it has several."""


def damped_scale(scan_height: float, template_height: float) -> float:
    """d_h: half of the difference in height goes into the thickness of bones."""
    return 0.5 * (scan_height / template_height - 1.0) + 1.0


def stretch_along_bones(
    points: Float64[NumpyArray, "V 3"],
    weights: SkinWeights,
    skeleton: Skeleton,
    joints: Float64[NumpyArray, "J 3"],
    targets: Float64[NumpyArray, "J 3"],
) -> Float64[NumpyArray, "V 3"]:
    """x + Σ_j w_j ((1 − s) δ_j + s δ_child), s the place of x along the bone of joint j.

    δ are the ways from `joints` to `targets`. A vertex goes along with the joints of its bones and
    keeps its distance from them.
    """
    child = bone_ends(skeleton)
    way = targets - joints
    along = joints[child] - joints
    squared = np.maximum(np.einsum("jd,jd->j", along, along), 1e-12)
    moved = np.array(points, np.float64)
    for influence in range(weights.values.shape[1]):
        j = weights.joint_indices[:, influence]
        place = np.einsum("vd,vd->v", points - joints[j], along[j]) / squared[j]
        share = np.clip(place, 0.0, 1.0)[:, None]
        shift = (1 - share) * way[j] + share * way[child[j]]
        moved += weights.values[:, influence, None] * shift
    return moved


def bone_ends(skeleton: Skeleton) -> NumpyArray:
    """Index of the joint at the far end of every joint's bone; the joint itself for tips."""
    ends = np.arange(skeleton.joint_count)
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0 and ends[parent] == parent:
            ends[parent] = joint
    for name, end in AXIAL.items():
        if name in skeleton.names and end in skeleton.names:
            ends[skeleton.index(name)] = skeleton.index(end)
    return ends
