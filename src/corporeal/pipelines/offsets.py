"""What of an animation the pose causes, and what the movement: offsets in the rest pose."""

from dataclasses import replace

import numpy as np

from corporeal.body.animation import Animation
from corporeal.body.controls import GivenControls
from corporeal.body.deformer import Deformer, controls_for
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.pipelines.deformers import deformer_class, deformer_names
from corporeal.skinning.offsets import (
    CONDITION_LIMIT,
    RestOffsets,
    SkinningName,
    rest_offsets,
    skinned_offsets,
)

EXACT = 1e-6
"""Metres within which offsets, skinned again, give an animation's vertices."""


def offsets_by_cause(
    animation: Animation,
    static: Animation | None = None,
    skinning: SkinningName = "lbs",
    condition_limit: float = CONDITION_LIMIT,
) -> RestOffsets:
    """Offsets of any animation, by cause; skinned again they give its vertices (to 1e-6 m).

    A deformer without memory has no dynamic ones. Those that a deformer knows (`smpl`) are given as
    they are, where they are as exact as that; all others are found by unposing. For a deformer with
    a memory, `static` is the same motion in static balance, from `static_take`: it takes a solve of
    every frame, so it is made only where the split is wanted.
    """
    if static is not None:
        _require_same(animation, static)
    elif _may_remember(animation):
        raise InputError(
            f"frames of {animation.deformer!r} depend on the frames before, so pose and movement "
            f"are told apart by a second take without momentum. Pass static=static_take(…)."
        )
    if (known := _known(animation, skinning)) is not None:
        return known
    total, singular = rest_offsets(animation, skinning, condition_limit)
    if static is None:
        return RestOffsets(skinning, total, np.zeros_like(total), singular)
    pose, also = rest_offsets(static, skinning, condition_limit)
    singular |= also
    dynamic = np.where(singular[..., None], 0.0, total - pose)
    return RestOffsets(skinning, np.where(singular[..., None], 0.0, pose), dynamic, singular)


def static_take(
    deformer: Deformer, identity: Identity, motion: Motion, controls: GivenControls = None
) -> Animation:
    """The motion with every frame for itself: under the same controls, but without `dynamics`."""
    report = controls_for(deformer.name, deformer.Controls, controls)
    still = replace(report, dynamics=False) if deformer.stateful else report
    return deformer.animate(identity, motion, still)


def _may_remember(animation: Animation) -> bool:
    """Whether frames may depend on those before: unless the deformer is known not to remember, or
    says its pose offsets."""
    if animation.deformer in deformer_names():
        return deformer_class(animation.deformer).stateful
    return animation.pose_offsets is None


def _known(animation: Animation, skinning: SkinningName) -> RestOffsets | None:
    """Offsets that the deformer gave, if they are relative to this skinning and give the vertices
    back: single precision may lose more than `EXACT` on the way to those."""
    if animation.pose_offsets is None or animation.offset_skinning != skinning:
        return None
    pose, dynamic = (
        np.zeros(np.shape(animation.vertices)) if given is None else np.asarray(given, np.float64)
        for given in (animation.pose_offsets, animation.dynamic_offsets)
    )
    again = skinned_offsets(animation, pose + dynamic, skinning)
    if np.linalg.norm(again - np.asarray(animation.vertices), axis=-1).max() > EXACT:
        return None
    return RestOffsets(skinning, pose, dynamic, np.zeros(pose.shape[:2], bool))


def _require_same(animation: Animation, static: Animation) -> None:
    """Refuse a static take of another person or motion."""
    pairs = (
        ("vertices", animation.identity.rest_vertices, static.identity.rest_vertices),
        ("joints", animation.identity.joints, static.identity.joints),
        ("poses", animation.motion.joint_rotations, static.motion.joint_rotations),
        ("root", animation.motion.root_translation, static.motion.root_translation),
    )
    for what, one, other in pairs:
        if one is not other and not np.array_equal(np.asarray(one), np.asarray(other)):
            raise InputError(
                f"the static take has other {what} than the animation; expected the same person "
                f"and motion. Make it with static_take(deformer, identity, motion, controls)."
            )
