"""Characters with pose correctives: baked weights for any player, scripts for live posing."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.character import Character
from corporeal.body.correctives import PoseCorrectives, corrective_weights, driving_joints
from corporeal.body.live_weights import LiveWeights, live_weights
from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
from corporeal.formats.runtime_scripts.scripts import (
    blender_script,
    javascript_module,
    unity_component,
)
from corporeal.geometry.surface import vertex_normals
from corporeal.pipelines.exports import CHARACTER_WRITERS
from corporeal.runtime.files import require_writable, write_bytes

_LEAST_PEAK = 1e-3
"""A corrective whose weight stays below this in a take gets its normals at weight 1."""


def attach_correctives(character: Character, correctives: PoseCorrectives) -> Character:
    """The character with the correctives as further morph targets, animated for its own take.

    Every player shows the take with them; a runtime script drives the same morph targets from any
    other pose. Their weights lie between 0 and 1 for every pose (`LiveWeights`), so no writer
    rescales them.
    """
    vertices = character.template.mesh.vertex_count
    if correctives.offsets.shape[1] != vertices:
        raise InputError(
            f"correctives move {correctives.offsets.shape[1]} vertices and the character has "
            f"{vertices}; expected as many."
        )
    live = live_weights(correctives)
    _require_new_names(character, live)
    driving = driving_joints(correctives, character.template.skeleton)
    rotations_wxyz = np.asarray(character.joint_rotations_wxyz, np.float64)
    offsets = np.asarray(correctives.offsets, np.float64)
    normals = None
    if character.morph_normals is not None or not character.morph_count:
        signed = corrective_weights(correctives, character.template.skeleton, rotations_wxyz)
        change = _normal_changes(character.template.mesh, offsets, signed)
        normals = _joined(character.morph_normals, live.targets(change))
    return replace(
        character,
        morph_names=(*character.morph_names, *live.morph_names),
        morph_offsets=_joined(character.morph_offsets, live.targets(offsets)),
        morph_weights=np.c_[character.morph_weights, live.weights(rotations_wxyz[:, driving])],
        morph_normals=normals,
    )


def write_runtime_scripts(
    stem: str | Path, character: Character, correctives: PoseCorrectives
) -> tuple[Path, ...]:
    """Write the scripts for Blender, three.js and Unity; gives back their paths.

    `stem` is the character's file, with or without its suffix (`anna.glb` or `anna`), or a folder:
    then the scripts are named after the take. The character must carry the correctives.
    """
    live = live_weights(correctives)
    skeleton = character.template.skeleton
    driving_joints(correctives, skeleton)
    missing = [name for name in live.morph_names if name not in character.morph_names]
    if missing:
        raise InputError(
            f"character {character.name!r} has no morph targets {missing}; expected those of the "
            f"correctives. Call attach_correctives first, and write the character that it gives."
        )
    folder, name = _place(Path(stem), character.name)
    rest = np.asarray(skeleton.joints, np.float64)
    scripts = dict(
        (
            blender_script(name, live, skeleton.names, rest),
            javascript_module(name, live),
            unity_component(name, live),
        )
    )
    paths = tuple(require_writable(folder / file, inside=folder) for file in scripts)
    for path, text in zip(paths, scripts.values(), strict=True):
        write_bytes(path, text.encode(), inside=folder)
    return paths


def _place(stem: Path, take: str) -> tuple[Path, str]:
    if stem.is_dir():
        return stem, take
    written = stem.suffix.lower() in CHARACTER_WRITERS
    return stem.parent, stem.stem if written else stem.name


def _require_new_names(character: Character, live: LiveWeights) -> None:
    taken = sorted(set(character.morph_names) & set(live.morph_names))
    if taken:
        raise InputError(
            f"character already has morph targets {taken}; expected other names. Attach "
            f"correctives once, or rename them."
        )


def _joined(first: NumpyArray | None, second: Float64[NumpyArray, "B V 3"]) -> NumpyArray:
    return second if first is None else np.concatenate([first, second.astype(first.dtype)])


def _normal_changes(
    mesh: Mesh, offsets: Float64[NumpyArray, "B V 3"], signed: Float64[NumpyArray, "N B"]
) -> Float64[NumpyArray, "B V 3"]:
    """Change of the unit normals a unit of signed weight, taken where the take's weight is largest.

    Normals are not linear in the weight, so the slope is that of the weights in use.
    """
    rest = np.asarray(mesh.vertices, np.float64)
    still = np.asarray(vertex_normals(rest, mesh.triangles))
    changes = np.empty_like(offsets)
    for b, rows in enumerate(offsets):
        peak = signed[np.abs(signed[:, b]).argmax(), b]
        peak = peak if abs(peak) > _LEAST_PEAK else 1.0
        changes[b] = (np.asarray(vertex_normals(rest + peak * rows, mesh.triangles)) - still) / peak
    return changes
