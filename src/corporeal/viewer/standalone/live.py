"""Flesh that the page predicts by itself: the DMPL that ships, as far as a page needs it.

The cached frames are the static skin x. A page adds, at every moment,

    x_v + R_v Σ_k w_k D_{k,v}        R_v = Σ_j ω_{v,j} R_j, the skin's blended turn

with the dynamic shapes D of `pipelines.live_dynamics` and weights w of the run-time predictor that
engines get (`formats.runtime_scripts`), fed with the motion and with what the hand does to it.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.animation import Animation
from corporeal.dynamics.dmpl.model import DmplSkinning
from corporeal.errors import InputError
from corporeal.formats.runtime_scripts.dynamics import dynamics_json
from corporeal.geometry.rotations import quaternion_from_axis_angle
from corporeal.pipelines.deformers import make_deformer
from corporeal.pipelines.live_dynamics import MOST_DYNAMIC, live_dynamics

_MOST = 32767


@dataclass(frozen=True, eq=False)
class LiveFlesh:
    """What a page needs of one take whose flesh it predicts."""

    vertices: Float[NumpyArray, "N V 3"]
    """The static skin, metres."""
    fields: dict[str, Any]
    """The predictor's numbers, and how to read the arrays."""
    arrays: dict[str, NumpyArray]
    """Shapes, weights, turns and places, by name."""


def live_flesh(take: Animation, shapes: int = MOST_DYNAMIC) -> LiveFlesh:
    """The person and the motion of a take, with the first `shapes` of the DMPL that ships."""
    deformer = make_deformer("dmpl", take.template)
    assert isinstance(deformer, DmplSkinning)
    if take.motion.skeleton.names != deformer.template.skeleton.names:
        raise InputError("the take has other joints than the default body; leave --live out.")
    static = deformer.animate(take.identity, take.motion, {"dynamics": False})
    live = live_dynamics(deformer, take.identity, shapes)
    predictors = deformer.predictors
    data = dynamics_json(
        live.tree,
        live.morph_names,
        live.fitted.inputs,
        live.fitted.history,
        live.fitted.constants,
        np.asarray(predictors.limits, np.float64),
        predictors.fps,
        predictors.gravity,
    )
    step = float(np.abs(live.offsets).max()) / _MOST
    wxyz = quaternion_from_axis_angle(np.asarray(take.motion.joint_rotations, np.float64))
    weights = deformer.template.weights
    skeleton = deformer.template.skeleton
    return LiveFlesh(
        np.asarray(static.vertices, np.float32),
        {
            "predictor": json.loads(data),
            "shape_step": step,
            "parents": list(skeleton.parents),
            "joints": [skeleton.names.index(name) for name in live.tree.joints],
            "influences": int(weights.values.shape[1]),
        },
        {
            "shapes": np.rint(live.offsets / step).astype(np.int16),
            "influence joints": np.asarray(weights.joint_indices, np.uint8),
            "influences": np.asarray(weights.values, np.float32),
            "turns": wxyz[..., [1, 2, 3, 0]].astype(np.float32),
            "roots": np.asarray(take.motion.root_translation, np.float32),
        },
    )
