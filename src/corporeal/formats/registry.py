"""The list of file formats: what each suffix can hold, and what survives a round trip."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
from corporeal.formats.obj import read_obj, write_obj
from corporeal.formats.ply import read_ply, write_ply

Noun = Literal["mesh", "body", "motion", "animation"]


@dataclass(frozen=True)
class Format:
    """One row of the table."""

    suffix: str
    title: str
    reads: tuple[Noun, ...]
    writes: tuple[Noun, ...]
    survives: str
    lost: str


FORMATS = (
    Format(
        ".npz",
        "corporeal's own arrays",
        ("body", "motion", "animation"),
        ("body", "motion", "animation"),
        "everything",
        "nothing",
    ),
    Format(
        ".glb",
        "glTF 2.0 character",
        (),
        ("body", "animation"),
        "triangles, normals, texture coordinates, skeleton, four weights a vertex, joint "
        "animation, other deformation as morph targets",
        "quads, part labels, mirror map, parameters",
    ),
    Format(
        ".obj",
        "Wavefront OBJ surface",
        ("mesh",),
        ("mesh", "body", "animation"),
        "vertex order, triangles, quads, texture coordinates with seams",
        "skeleton, weights, parameters, all frames but one",
    ),
    Format(
        ".ply",
        "Stanford PLY surface",
        ("mesh",),
        ("mesh", "body", "animation"),
        "vertex order, triangles, quads",
        "texture coordinates, skeleton, weights, parameters, all frames but one",
    ),
    Format(
        ".bvh",
        "BVH motion capture",
        ("motion",),
        (),
        "joint tree, rotations, root path, frame rate, End Sites",
        "unit and axes (an option, or guessed), changing bone lengths (their mean)",
    ),
    Format(".png", "picture", (), ("body", "animation"), "the look", "everything else"),
    Format(".mp4", "film", (), ("animation",), "the look", "everything else"),
)

_MESH_READERS: dict[str, Callable[[Path], Mesh]] = {".obj": read_obj, ".ply": read_ply}
_MESH_WRITERS: dict[str, Callable[[Path, Mesh], None]] = {".obj": write_obj, ".ply": write_ply}


def format_to_write(path: str | Path, noun: Noun) -> Format:
    """The format that `path`'s suffix names, if it can hold a `noun`."""
    return _find(Path(path), noun, "write", {f.suffix: f for f in FORMATS if noun in f.writes})


def format_to_read(path: str | Path, noun: Noun) -> Format:
    """The format that `path`'s suffix names, if a `noun` can be read from it."""
    return _find(Path(path), noun, "read", {f.suffix: f for f in FORMATS if noun in f.reads})


def read_mesh(path: str | Path) -> Mesh:
    """Read a surface from any format that holds one."""
    return _MESH_READERS[format_to_read(path, "mesh").suffix](Path(path))


def write_mesh(path: str | Path, mesh: Mesh) -> None:
    """Write a surface in any format that holds one."""
    _MESH_WRITERS[format_to_write(path, "mesh").suffix](Path(path), mesh)


def _find(path: Path, noun: Noun, verb: str, known: dict[str, Format]) -> Format:
    suffix = path.suffix.lower()
    if suffix not in known:
        came = f"the suffix {suffix!r}" if suffix else "no suffix"
        article = "an" if noun[0] in "aeiou" else "a"
        raise InputError(
            f"cannot {verb} {article} {noun} as {path}: it has {came}; expected {', '.join(known)}."
        )
    return known[suffix]
