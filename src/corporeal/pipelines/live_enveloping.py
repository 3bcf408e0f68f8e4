"""Characters whose key-angle corrections are morph targets that follow any pose (Allen 2006).

Helper joints are joints of the file, so that blending with twist is what engines compute; every key
angle is a morph target. The take has weights and helpers baked in; a script drives them live.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.appearance.appearance import Appearance
from corporeal.appearance.dress import looks_of
from corporeal.body.animation import Animation
from corporeal.body.character import Character
from corporeal.body.controls import GivenControls
from corporeal.body.deformer import controls_for
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.formats.runtime_scripts.enveloping import enveloping_scripts
from corporeal.geometry.rotations import (
    axis_angle_from_matrix,
    matrix_from_axis_angle,
    quaternion_from_matrix,
)
from corporeal.models.enveloping.keys import RadialBasis, driver_rotations
from corporeal.models.enveloping.model import EnvelopingControls, EnvelopingSkinning
from corporeal.pipelines.bake import bake
from corporeal.pipelines.exports import write_character
from corporeal.runtime.files import require_writable, write_bytes
from corporeal.skinning.linear import LinearBlendSkinning
from corporeal.skinning.playback import character_vertices

BASE_NAME = "key_base"
"""The morph target that carries the constant parts; its weight is always 1."""
_SAMPLES, _TURN = 4000, 1.2
"""Random rotations, of so many radians a component, that weights are bounded over."""
_MARGIN = 0.1


@dataclass(frozen=True)
class LiveKeys:
    """Key angles of a person as morph targets with weights from 0 to 1."""

    names: tuple[str, ...]
    """One a key, then the base."""
    offsets: Float64[NumpyArray, "B V 3"]
    """Rest-pose displacement at weight 1, metres, likewise."""
    low: Float64[NumpyArray, "k"]
    """Smallest signed weight of every key, over random rotations, with a margin."""
    span: Float64[NumpyArray, "k"]
    """Largest less smallest."""

    def weights(self, signed: Float64[NumpyArray, "N k"]) -> Float64[NumpyArray, "N B"]:
        """Of the file, from signed ones."""
        played = np.clip((signed - self.low) / self.span, 0, 1)
        return np.concatenate([played, np.ones((len(played), 1))], axis=1)


def live_keys(
    deformer: EnvelopingSkinning, identity: Identity, controls: GivenControls = None
) -> LiveKeys:
    """The person's offsets, key by key."""
    told = controls_for(deformer.name, EnvelopingControls, controls)
    model, count = deformer.model, deformer.model.vertex_count
    random = matrix_from_axis_angle(np.random.default_rng(0).normal(0, _TURN, (_SAMPLES, 3)))
    names, rows, low, high = [], [], [], []
    own = deformer.offsets_of(deformer.latents(identity), told.individual)
    for driver, (region, offsets) in zip(model.corrections, own, strict=True):
        axis = deformer.rig.axes[driver.joint]
        basis = RadialBasis.of(driver.keys, model.softness)
        found = basis.weights(driver_rotations(driver.kind, random, axis))[:, 1:]
        low.append(np.minimum(found.min(axis=0), 0))
        high.append(np.maximum(found.max(axis=0), 1))
        for k, offset in enumerate(offsets):
            whole = np.zeros((count, 3))
            whole[region] = told.corrections * offset
            rows.append(whole)
            names.append(f"{model.joint_names[driver.joint]}_{driver.kind}_{k + 1:02d}")
    least, most = np.concatenate(low), np.concatenate(high)
    margin = _MARGIN * (most - least)
    least, span = least - margin, most - least + 2 * margin
    signed = np.array(rows)
    base = np.tensordot(least, signed, axes=1)
    targets = np.concatenate([signed * span[:, None, None], base[None]])
    return LiveKeys((*names, BASE_NAME), targets, least, span)


def live_character(
    deformer: EnvelopingSkinning, animation: Animation, controls: GivenControls = None
) -> tuple[Character, LiveKeys]:
    """The take with helper joints and all key angles as morph targets."""
    plain = LinearBlendSkinning(deformer.extended).animate(*_extended(deformer, animation))
    # the average face without a smile: paint and parts, and the skin stays where it is
    looks = looks_of(animation.template, animation.identity, Appearance(smile=0.0))
    character, _ = bake(plain, looks=replace(looks, offsets=None, coverage=None))
    live = live_keys(deformer, animation.identity, controls)
    turns = np.asarray(animation.motion.joint_rotations, np.float64)
    weights = live.weights(deformer.tables.weights(turns))
    return (
        replace(
            character,
            morph_names=(*character.morph_names, *live.names),
            morph_offsets=np.concatenate([np.asarray(character.morph_offsets), live.offsets]),
            morph_weights=np.concatenate([np.asarray(character.morph_weights), weights], axis=1),
            morph_normals=None,
        ),
        live,
    )


def _extended(deformer: EnvelopingSkinning, animation: Animation) -> tuple[Identity, Motion]:
    """Identity and motion with helper joints."""
    identity, motion, rig = animation.identity, animation.motion, deformer.rig
    joints = np.asarray(identity.joints)
    everyone = Identity(
        identity.rest_vertices, np.concatenate([joints, joints[rig.helper_joints]]), {}
    )
    turns = np.asarray(motion.joint_rotations)
    local = matrix_from_axis_angle(np.asarray(turns[:, : rig.joint_count], np.float64))
    helpers = axis_angle_from_matrix(rig.rotations(local)[:, rig.joint_count :])
    return everyone, replace(
        motion,
        joint_rotations=np.concatenate([turns, helpers.astype(turns.dtype)], axis=1),
        skeleton=deformer.extended.skeleton,
    )


def write_live_enveloping(
    path: Path,
    deformer: EnvelopingSkinning,
    animation: Animation,
    controls: GivenControls = None,
) -> dict[str, Any]:
    """Write the character and, beside it, the scripts; the report says how far a vertex of the take
    is from the animation, in millimetres."""
    character, live = live_character(deformer, animation, controls)
    write_character(path, replace(character, name=animation.motion.name))
    model, rig = deformer.model, deformer.rig
    drivers = [
        {
            "joint": model.joint_names[d.joint], "kind": d.kind, "axis": rig.axes[d.joint].tolist(),
            "keys": quaternion_from_matrix(np.asarray(d.keys, np.float64)).tolist(),
            "matrix": RadialBasis.of(d.keys, model.softness).matrix[1:].tolist(),
        }
        for d in model.corrections
    ]  # fmt: skip
    helpers = [
        {
            "name": rig.names[rig.joint_count + place], "joint": rig.layout.names[joint],
            "axis": rig.axes[joint].tolist(), "share": float(rig.helper_shares[place]),
        }
        for place, joint in enumerate(rig.helper_joints.tolist())
    ]  # fmt: skip
    texts = enveloping_scripts(
        path.stem,
        drivers,
        helpers,
        live.names,
        live.low,
        live.span,
        model.softness,
        deformer.extended.skeleton.names,
        np.asarray(character.template.skeleton.joints, np.float64),
    )
    paths = tuple(require_writable(path.parent / name, inside=path.parent) for name in texts)
    for place, text in zip(paths, texts.values(), strict=True):
        write_bytes(place, text.encode(), inside=path.parent)
    apart = 1e3 * np.linalg.norm(
        character_vertices(character) - np.asarray(animation.vertices, np.float64), axis=-1
    )
    return {
        "morphs": character.morph_count,
        "mean_error_mm": round(float(apart.mean()), 5),
        "max_error_mm": round(float(apart.max()), 5),
        "scripts": [place.name for place in paths],
    }
