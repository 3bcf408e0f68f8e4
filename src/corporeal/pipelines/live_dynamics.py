"""Characters whose soft tissue moves at run time: dynamic morph targets, and what drives them."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.character import Character
from corporeal.body.controls import GivenControls
from corporeal.body.identity import Identity
from corporeal.dynamics.autoregression import Fitted
from corporeal.dynamics.control_vector import BoneTree, joint_rows
from corporeal.dynamics.dmpl.model import DmplSkinning
from corporeal.errors import InputError
from corporeal.formats.runtime_scripts.dynamics import DrivingTree, dynamics_json, dynamics_scripts
from corporeal.formats.runtime_scripts.tables import identifier
from corporeal.runtime.files import require_writable, write_bytes

MOST_DYNAMIC = 16
"""Dynamic morph targets of a character."""
UNIT = 0.01
"""Metres that the most moved vertex of a dynamic morph target goes at weight 1."""


@dataclass(frozen=True)
class LiveDynamics:
    """Dynamic morph targets of one person, and the autoregression of their weights."""

    morph_names: tuple[str, ...]
    """One a morph target."""
    offsets: Float64[NumpyArray, "D V 3"]
    """Rest-pose displacement at weight 1, metres."""
    fitted: Fitted
    """Of the weights instead of the coefficients."""
    tree: DrivingTree
    """What drives them."""


def live_dynamics(
    deformer: DmplSkinning,
    identity: Identity,
    count: int = MOST_DYNAMIC,
    controls: GivenControls = None,
) -> LiveDynamics:
    """The first dynamic blend shapes for a person, scaled so that a weight of 1 is a centimetre."""
    if np.any(deformer.model.mean):
        raise InputError(
            "the DMPL has a mean displacement, which no morph target carries; train it without "
            "--constant."
        )
    clock = deformer.clock(identity, controls)
    shapes = np.asarray(deformer.model.shapes[:count], np.float64)
    if deformer.local_weights is not None:
        shapes = shapes * deformer.local_weights[:, None]
    most = np.maximum(np.linalg.norm(shapes, axis=-1).max(axis=1), 1e-12)
    unit = UNIT / most
    kept, fitted = len(shapes), clock.fitted
    history = np.zeros((2, kept))
    history[: len(fitted.history)] = fitted.history[:, :kept]
    return LiveDynamics(
        tuple(f"dynamic_{k:02d}" for k in range(kept)),
        shapes * unit[:, None, None],
        Fitted(fitted.inputs[:kept] / unit[:, None], history, fitted.constants[:kept] / unit),
        driving_tree(deformer, identity),
    )


def driving_tree(deformer: DmplSkinning, identity: Identity) -> DrivingTree:
    """The joints whose rotations the predictor of a person needs."""
    predictors, skeleton = deformer.predictors, deformer.template.skeleton
    joints = np.asarray(identity.joints, np.float64)
    tree = BoneTree(predictors.joint_names, skeleton, joints)
    if predictors.controls == "joints":
        rows = joint_rows(predictors.joint_names, skeleton)
        every = tuple(range(len(rows)))
        return DrivingTree(predictors.joint_names, (-1,) * len(rows), joints[rows], every, "joints")
    names = tuple(skeleton.names[row] for row in tree.rows)
    driving = tuple(int(row) for row in tree.driving)
    return DrivingTree(names, tree.parents, tree.joints, driving, "bones")


@runtime_checkable
class LiveMorphs(Protocol):
    """Dynamic morph targets of one person, whatever drives them."""

    @property
    def morph_names(self) -> tuple[str, ...]:
        """One a morph target."""
        ...

    @property
    def offsets(self) -> Float64[NumpyArray, "D V 3"]:
        """Rest-pose displacement at weight 1, metres."""
        ...


def attach_dynamics(character: Character, live: LiveMorphs) -> Character:
    """The character with dynamic morph targets, at rest in its own take: a script drives them."""
    taken = sorted(set(character.morph_names) & set(live.morph_names))
    if taken or live.offsets.shape[1] != character.template.mesh.vertex_count:
        raise InputError(
            f"dynamic morph targets of {live.offsets.shape[1]} vertices do not fit a character of "
            f"{character.template.mesh.vertex_count}, or it has them already ({taken[:3]})."
        )
    still = np.zeros((character.frame_count, len(live.morph_names)))
    offsets = [np.asarray(character.morph_offsets), live.offsets]
    normals = character.morph_normals
    if normals is not None:
        normals = np.concatenate([normals, np.zeros_like(live.offsets)])
    return replace(
        character,
        morph_names=(*character.morph_names, *live.morph_names),
        morph_offsets=np.concatenate(offsets),
        morph_weights=np.concatenate([np.asarray(character.morph_weights), still], axis=1),
        morph_normals=normals,
    )


def write_dynamics_runtime(
    stem: str | Path, deformer: DmplSkinning, live: LiveDynamics
) -> tuple[Path, ...]:
    """Write the predictor as JSON, and the scripts that run it in engines, beside a character."""
    path = Path(stem)
    predictors = deformer.predictors
    word = identifier(path.stem)
    texts = {
        f"{word}_dynamics.json": dynamics_json(
            live.tree,
            live.morph_names,
            live.fitted.inputs,
            live.fitted.history,
            live.fitted.constants,
            np.asarray(predictors.limits, np.float64),
            predictors.fps,
            predictors.gravity,
        ),
        **dynamics_scripts(path.stem),
    }
    paths = tuple(require_writable(path.parent / name, inside=path.parent) for name in texts)
    for place, text in zip(paths, texts.values(), strict=True):
        write_bytes(place, text.encode(), inside=path.parent)
    return paths
