"""One file in, another out: surfaces, characters, body models, and corporeal's own archives."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from corporeal.errors import FormatError, InputError
from corporeal.formats.gltf_layers import COLOURS, write_glb_layers
from corporeal.formats.layers import read_layers
from corporeal.formats.native import LAYERS, read_animation, read_body
from corporeal.formats.npz import open_npz
from corporeal.formats.registry import SURFACE_SUFFIXES, format_to_read, read_mesh, write_mesh
from corporeal.pipelines.exports import (
    CACHE_SUFFIXES,
    CHARACTER_WRITERS,
    read_character,
    write_cache,
    write_character,
)
from corporeal.pipelines.results import (
    require_animation_output,
    require_body_output,
    write_animation_result,
    write_body_result,
)
from corporeal.pipelines.smpl_models import convert_model, model_file
from corporeal.runtime.files import require_writable
from corporeal.runtime.manifest import finish_run, manifest_path, start_run
from corporeal.skinning.playback import character_vertices

Kind = Literal["surface", "character", "body", "animation", "layers", "model"]


@dataclass(frozen=True)
class ConvertConfig:
    """One file in, one file out."""

    source: Path
    """A file, or the name of a model that ships with the package."""
    out: Path
    """File to write; its suffix decides what."""
    frame: int | None = None
    """The one frame to write, for files that hold a single surface."""
    is_model: bool = False
    """Whether the source is a body model with SMPL's keys."""
    joints: int | None = None
    """Joints of a written model, 24 or 52; by default 24 for .pkl and 52 for .npz."""


@dataclass(frozen=True)
class Converted:
    """What came of it."""

    out: Path
    """The file that was written."""
    manifest: Path
    """Its manifest."""
    kind: Kind
    """What the source was read as."""
    report: dict[str, Any]
    """What survived, what was lost, and figures; JSON values."""


def convert(config: ConvertConfig) -> Converted:
    """Write what `source` holds in the format that the suffix of `out` names, with its manifest."""
    if config.out.resolve() == config.source.resolve():
        raise InputError(f"{config.out} is both source and target; expected two files.")
    require_writable(config.out)
    if config.is_model:
        source = model_file(config.source)
        run = start_run("convert", config, () if source is None else (source,))
        kind, report = "model", convert_model(config.source, config.out, config.joints)
    else:
        run = start_run("convert", config, [config.source])
        kind, report = _converted(config)
    finish_run(run, [config.out], report)
    return Converted(config.out, manifest_path(config.out), kind, report)


def _converted(config: ConvertConfig) -> tuple[Kind, dict[str, Any]]:
    if config.source.suffix.lower() == ".npz":
        return _from_archive(config)
    target = config.out.suffix.lower()
    moves = target in CHARACTER_WRITERS or target in CACHE_SUFFIXES or config.frame is not None
    if config.source.suffix.lower() == ".glb" and moves:
        return "character", _from_character(config)
    format_to_read(config.source, "mesh")
    if target not in SURFACE_SUFFIXES:
        raise InputError(
            f"{config.source} holds a surface, which {config.out} cannot; expected the suffix "
            f"{', '.join(SURFACE_SUFFIXES)}."
        )
    mesh = read_mesh(config.source)
    write_mesh(config.out, mesh)
    return "surface", {"vertices": mesh.vertex_count, "triangles": len(mesh.triangles)}


def _from_archive(config: ConvertConfig) -> tuple[Kind, dict[str, Any]]:
    with open_npz(config.source) as file:
        found = file.text("format") if "format" in file.headers else "no corporeal file"
    if found == "corporeal-animation":
        require_animation_output(config.out, config.frame)
        animation, body = read_animation(config.source), read_body(config.source)
        return "animation", write_animation_result(
            config.out, animation, body.measurements, config.frame
        )
    if found == "corporeal-body":
        require_body_output(config.out)
        return "body", write_body_result(config.out, read_body(config.source))
    if found == LAYERS:
        return "layers", _from_layers(config)
    raise FormatError(
        f"{config.source} is {found}; expected a body or an animation. Motions are moved with "
        f"'corporeal animate'."
    )


def _from_layers(config: ConvertConfig) -> dict[str, Any]:
    """Three nodes of a .glb, .usd, .usdc or .usda; other formats take the body."""
    suffix = config.out.suffix.lower()
    if suffix not in (".glb", ".usd", ".usdc", ".usda"):
        require_body_output(config.out)
        return write_body_result(config.out, read_layers(config.source).body)
    layered = read_layers(config.source)
    if suffix == ".glb":
        write_glb_layers(config.out, layered.layers)
    else:
        from corporeal.formats.usd_layers import write_usd_layers

        write_usd_layers(config.out, layered.layers)
    return {"nodes": list(COLOURS), "vertices": len(layered.layers.skin)}


def _from_character(config: ConvertConfig) -> dict[str, Any]:
    character = read_character(config.source)
    frames, mesh = character.frame_count, character.template.mesh
    report = {"frames": frames, "fps": character.fps, "morphs": character.morph_count}
    target = config.out.suffix.lower()
    if target in CHARACTER_WRITERS and config.frame is None:
        write_character(config.out, character)
    elif config.frame is not None:
        if not -frames <= config.frame < frames:
            raise InputError(f"frame {config.frame} was asked for; there are {frames}.")
        chosen = np.array([config.frame % frames])
        write_mesh(config.out, replace(mesh, vertices=character_vertices(character, chosen)[0]))
        return report | {"frame": config.frame}
    else:
        write_cache(config.out, mesh, character_vertices(character), character.fps)
    return report
