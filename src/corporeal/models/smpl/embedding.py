"""SMPL's 24 joints set into SMPL-H's 52: the same body with fingers that can be moved.

Registrations seldom say what single fingers do, so models are trained with one joint a hand. The
weight of a hand joint goes to the fingers in the shares that the default body's own weights have,
and to the wrist where these have none; finger joints come from the default body's regressor. Pose
blend shapes of the hand joints are left out, those of fingers are zero. With straight hands both
give the same skin.
"""

from dataclasses import replace

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.assets.default_body import DefaultBody, load_default_body
from corporeal.assets.smpl_view import BODY_JOINT_COUNT, HANDS
from corporeal.body.character import ENGINE_INFLUENCES
from corporeal.body.correctives import FEATURES, PoseCorrectives
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.shape_correctives import ShapeCorrectives
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError

SMPL_JOINTS, SMPLH_JOINTS = 24, 52


def embedded_model(model: LinearBodyModel) -> LinearBodyModel:
    """The model with 52 joints; one that has them comes back as it is."""
    if model.joint_count == SMPLH_JOINTS:
        return model
    body = _default_body_of(model)
    whole = body.template.skeleton
    offsets = np.zeros(
        (FEATURES * (SMPLH_JOINTS - 1), model.vertex_count, 3), model.pose_offsets.dtype
    )
    kept = FEATURES * (BODY_JOINT_COUNT - 1)
    offsets[:kept] = model.pose_offsets[:kept]
    fingers = np.asarray(body.joint_regressor[BODY_JOINT_COUNT:], np.float64)
    fingers = fingers / fingers.sum(axis=1, keepdims=True)
    return LinearBodyModel(
        model.triangles,
        model.mean_vertices,
        model.shape_offsets,
        offsets,
        np.concatenate([model.joint_regressor[:BODY_JOINT_COUNT], fingers]),
        embedded_weights(model.weights, body.template),
        whole.names,
        whole.parents,
        model.blending,
    )


def embedded_weights(weights: SkinWeights, template: Template) -> SkinWeights:
    """Weights of 24 joints as weights of the 52 of `template`, four a vertex."""
    own = np.asarray(template.weights.dense(), np.float64)
    dense = np.asarray(weights.dense(), np.float64)
    made = np.zeros_like(own)
    made[:, :BODY_JOINT_COUNT] = dense[:, :BODY_JOINT_COUNT]
    room = ENGINE_INFLUENCES - (made > 0).sum(axis=1)
    names = template.skeleton.names
    for hand, side in enumerate(HANDS):
        fingers = [j for j in range(BODY_JOINT_COUNT, len(names)) if names[j].startswith(side)]
        wrist = template.skeleton.index(f"{side}_wrist")
        share = dense[:, BODY_JOINT_COUNT + hand]
        kept = _strongest(own[:, fingers], room)
        total = kept.sum(axis=1)
        bent = total > 0
        made[np.ix_(bent, fingers)] += (share[bent] / total[bent])[:, None] * kept[bent]
        made[~bent, wrist] += share[~bent]
    return SkinWeights.from_dense(made, ENGINE_INFLUENCES)


def _strongest(
    values: Float64[NumpyArray, "V n"], counts: Int[NumpyArray, "V"]
) -> Float64[NumpyArray, "V n"]:
    """The largest values of every row, so many as `counts` says; the others become 0."""
    ranks = np.argsort(np.argsort(-values, axis=1, kind="stable"), axis=1)
    return np.where(ranks < counts[:, None], values, 0.0)


def embedded_correctives(correctives: PoseCorrectives) -> PoseCorrectives:
    """The same correctives without what the hand joints drive."""
    hands = [f"{side}_hand" for side in HANDS]
    kept = [i for i, name in enumerate(correctives.joint_names) if name not in hands]
    columns = (FEATURES * np.asarray(kept)[:, None] + np.arange(FEATURES)).reshape(-1)
    return replace(
        correctives,
        joint_names=tuple(correctives.joint_names[i] for i in kept),
        feature_weights=np.ascontiguousarray(correctives.feature_weights[:, columns]),
    )


def embedded_shape_correctives(correctives: ShapeCorrectives) -> ShapeCorrectives:
    """Shape-dependent correctives without what the hand joints drive."""
    hands = [f"{side}_hand" for side in HANDS]
    kept = [i for i, name in enumerate(correctives.joint_names) if name not in hands]
    columns = (FEATURES * np.asarray(kept)[:, None] + np.arange(FEATURES)).reshape(-1)
    return replace(
        correctives,
        joint_names=tuple(correctives.joint_names[i] for i in kept),
        shares=np.ascontiguousarray(correctives.shares[..., columns]),
    )


def is_embeddable(model: LinearBodyModel) -> bool:
    """Whether a model has SMPL's joints on the default body's surface."""
    own = load_default_body().template.mesh.triangles
    return model.joint_count == SMPL_JOINTS and np.array_equal(model.triangles, own)


def _default_body_of(model: LinearBodyModel) -> DefaultBody:
    if not is_embeddable(model):
        raise InputError(
            f"model has {model.joint_count} joints and {model.vertex_count} vertices; only one of "
            f"{SMPL_JOINTS} joints on the default body's surface can be given fingers. Keep its "
            f"own joints."
        )
    return load_default_body()
