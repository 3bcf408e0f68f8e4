"""One file in, another out: surfaces, characters, body models, and corporeal's own archives."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from corporeal.errors import FormatError, InputError
from corporeal.formats.registry import (
    SURFACE_SUFFIXES,
    described,
    format_to_read,
    require_packages,
    suffixes_written,
)
from corporeal.motions.incoming import CAPTURES
from corporeal.pipelines.exports import CACHE_SUFFIXES, CHARACTER_WRITERS
from corporeal.pipelines.loading import held_nouns, load
from corporeal.pipelines.saving import save
from corporeal.pipelines.smpl_models import convert_model, model_file
from corporeal.runtime.files import require_writable, write_bytes
from corporeal.runtime.input_files import resolved
from corporeal.runtime.manifest import finish_run, manifest_path, start_run

Kind = Literal["surface", "character", "body", "animation", "layers", "motion", "model"]


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
    if resolved(config.out) == resolved(config.source):
        raise InputError(f"{config.out} is both source and target; expected two files.")
    require_writable(config.out)
    if config.is_model:
        if config.out.suffix.lower() == ".onnx":
            return _network(config)
        source = model_file(config.source)
        run = start_run("convert", config, () if source is None else (source,))
        kind, report = "model", convert_model(config.source, config.out, config.joints)
    else:
        run = start_run("convert", config, [config.source])
        kind, report = _converted(config)
    finish_run(run, [config.out], report)
    return Converted(config.out, manifest_path(config.out), kind, report)


def _network(config: ConvertConfig) -> Converted:
    """A neural soft tissue as an ONNX graph: the one that ships, or a trained file."""
    from corporeal.assets.learned_neural import learned_neural
    from corporeal.dynamics.neural.onnx_graph import OPSET, onnx_bytes
    from corporeal.formats.neural import read_neural

    shipped = str(config.source) == "neural"
    run = start_run("convert", config, () if shipped else (config.source,))
    trained = learned_neural() if shipped else read_neural(config.source)
    data = onnx_bytes(trained)
    write_bytes(config.out, data)
    report = {"opset": OPSET, "bytes": len(data), "coefficients": len(trained.dynamic_basis)}
    finish_run(run, [config.out], report)
    return Converted(config.out, manifest_path(config.out), "model", report)


def _converted(config: ConvertConfig) -> tuple[Kind, dict[str, Any]]:
    target = config.out.suffix.lower()
    require_packages(config.out)
    if config.source.suffix.lower() == ".npz":
        return _from_archive(config)
    if target == ".bvh" or (target == ".npz" and config.source.suffix.lower() in CAPTURES):
        return _motion(config)
    moves = target in CHARACTER_WRITERS or target in CACHE_SUFFIXES or config.frame is not None
    if config.source.suffix.lower() == ".glb" and moves:
        return "character", save(load(config.source, "character"), config.out, config.frame)
    format_to_read(config.source, "mesh")
    if target not in SURFACE_SUFFIXES:
        raise InputError(
            f"{config.source} holds a surface, which {config.out} cannot; expected the suffix "
            f"{', '.join(SURFACE_SUFFIXES)}."
        )
    mesh = load(config.source, "mesh")
    save(mesh, config.out)
    return "surface", {"vertices": mesh.vertex_count, "triangles": len(mesh.triangles)}


def _from_archive(config: ConvertConfig) -> tuple[Kind, dict[str, Any]]:
    held = held_nouns(config.source)[0]
    if held == "motion" or config.out.suffix.lower() == ".bvh":
        return _motion(config)
    if held == "animation" or held == "body" or held == "layers":
        frame = config.frame if held == "animation" else None
        return held, save(load(config.source), config.out, frame)
    raise FormatError(
        f"{config.source} holds {described(held)}; expected a body, layers, a motion or an "
        f"animation. Models come with --model."
    )


def _motion(config: ConvertConfig) -> tuple[Kind, dict[str, Any]]:
    """The motion in a file as BVH or as an archive, on its own skeleton."""
    known = suffixes_written("motion")
    if config.out.suffix.lower() not in known:
        raise FormatError(
            f"{config.source} holds a motion, which {config.out} cannot; expected the suffix "
            f"{', '.join(known)}. 'corporeal animate' moves a body with it."
        )
    motion = load(config.source, "motion")
    save(motion, config.out)
    return "motion", {"frames": motion.frame_count, "joints": motion.skeleton.joint_count}
