"""Anything in, a file out: the file's suffix decides the format."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.appearance.appearance import Appearance
from corporeal.body.animation import Animation
from corporeal.body.body import Body
from corporeal.body.character import Character
from corporeal.body.layered_body import LayeredBody
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.mesh import Mesh
from corporeal.body.motion import Motion
from corporeal.body.registrations import Registrations
from corporeal.body.scan import Scan
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.formats.bvh_write import write_bvh
from corporeal.formats.gltf_layers import COLOURS, write_glb_layers
from corporeal.formats.layers import write_layers
from corporeal.formats.native import write_motion
from corporeal.formats.registry import SURFACE_SUFFIXES, Noun, format_to_write, write_mesh
from corporeal.formats.scans import write_scan
from corporeal.formats.skeletons import write_skeleton
from corporeal.formats.smpl import write_smpl
from corporeal.models.smpl.model import SmplModel
from corporeal.pipelines.dataset import write_dataset
from corporeal.pipelines.exports import CACHE_SUFFIXES, write_cache, write_character
from corporeal.pipelines.presentation import Presentation
from corporeal.pipelines.results import (
    Report,
    require_animation_output,
    write_animation_result,
    write_body_result,
)
from corporeal.population.people_store import People, write_people
from corporeal.runtime.files import require_writable
from corporeal.skinning.playback import character_vertices

_NOUNS: dict[type, Noun] = {
    Mesh: "mesh",
    Body: "body",
    LayeredBody: "layers",
    Motion: "motion",
    Animation: "animation",
    Character: "character",
    Skeleton: "skeleton",
    SmplModel: "model",
    LinearBodyModel: "model",
    People: "people",
    Registrations: "registrations",
    Scan: "scan",
}
"""Type → what the table of formats calls it."""


def noun_of(thing: Any) -> Noun:
    """What the table of formats calls a thing; `InputError` for what no file can hold."""
    for kind, noun in _NOUNS.items():
        if isinstance(thing, kind):
            return noun
    names = dict.fromkeys(kind.__name__ for kind in _NOUNS)
    raise InputError(
        f"a {type(thing).__name__} came, which no file can hold; expected {', '.join(names)}."
    )


def save(
    thing: Any,
    path: str | Path,
    frame: int | None = None,
    *,
    appearance: Appearance | None = None,
) -> Report:
    """Write a thing in the format that the suffix of `path` names; gives what there is to tell.

    What each suffix can hold, what survives and what is lost: `list_formats`. `frame` chooses the
    one frame of an animation or character that a surface file (`.obj`, `.ply`, `.off`, `.stl`)
    holds; negative ones count from the end. `appearance` is how a body or an animation looks in
    pictures, films and files for engines.
    """
    noun = noun_of(thing)
    if appearance is not None and noun not in ("animation", "body"):
        raise InputError(f"an appearance came with a {type(thing).__name__}, which has no looks.")
    presentation = Presentation() if appearance is None else Presentation(appearance)
    path = Path(path)
    format_to_write(path, noun)
    if frame is not None and noun not in ("animation", "character"):
        raise InputError(f"frame {frame} came with a {type(thing).__name__}, which has no frames.")
    if noun not in ("people", "registrations"):  # stores and folders look for themselves
        require_writable(path)
    if noun == "animation":
        require_animation_output(path, frame)
        known = thing.measurements
        return write_animation_result(path, thing, known, frame, presentation=presentation)
    if noun == "body":
        return write_body_result(path, thing, presentation)
    if noun == "character":
        return _save_character(path, thing, frame)
    return _SAVERS[noun](path, thing) or {}


def _save_layers(path: Path, layered: LayeredBody) -> Report:
    """`.npz`; three nodes of a `.glb` or `.usd`; other formats take the body."""
    suffix = path.suffix.lower()
    if suffix == ".npz":
        write_layers(path, layered)
        return {}
    if suffix == ".glb":
        write_glb_layers(path, layered.layers)
    elif suffix.startswith(".usd"):
        from corporeal.formats.usd_layers import write_usd_layers

        write_usd_layers(path, layered.layers)
    else:
        return write_body_result(path, layered.body)
    return {"nodes": list(COLOURS), "vertices": len(layered.layers.skin)}


def _save_character(path: Path, character: Character, frame: int | None) -> Report:
    frames, mesh = character.frame_count, character.template.mesh
    report = {"frames": frames, "fps": character.fps, "morphs": character.morph_count}
    suffix = path.suffix.lower()
    if frame is not None:
        if not -frames <= frame < frames:
            raise InputError(f"frame {frame} was asked for; there are {frames}.")
        vertices = character_vertices(character, np.array([frame % frames]))[0]
        write_mesh(path, replace(mesh, vertices=vertices))
        return report | {"frame": frame}
    if suffix in SURFACE_SUFFIXES:
        raise InputError(
            f"{path} can hold one surface, not a moving character. Choose a frame, or write .glb, "
            f".fbx, .usd, .abc or .pc2."
        )
    if suffix in CACHE_SUFFIXES and not suffix.startswith(".usd"):
        write_cache(path, mesh, character_vertices(character), character.fps)
    else:
        write_character(path, character)
    return report


def _save_motion(path: Path, motion: Motion) -> None:
    if path.suffix.lower() == ".bvh":
        write_bvh(path, motion)
    else:
        write_motion(path, motion)


def _save_model(path: Path, model: SmplModel | LinearBodyModel) -> Report:
    data = model.data if isinstance(model, SmplModel) else model
    write_smpl(path, data)
    if data.blending == "lbs":
        return {}
    return {"note": f"blends by {data.blending}; other programs will blend linearly"}


def _save_registrations(path: Path, registrations: Registrations) -> Report:
    lost = write_dataset(path, registrations)
    return {"lost": lost} if lost else {}


_SAVERS: dict[Noun, Callable[[Path, Any], Report | None]] = {
    "mesh": write_mesh,
    "body": write_body_result,
    "layers": _save_layers,
    "motion": _save_motion,
    "skeleton": write_skeleton,
    "model": _save_model,
    "people": write_people,
    "registrations": _save_registrations,
    "scan": write_scan,
}
