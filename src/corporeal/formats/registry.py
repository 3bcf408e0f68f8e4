"""The list of file formats: what each suffix can hold, and what survives a round trip."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
from corporeal.formats.gltf_read import read_glb_mesh
from corporeal.formats.obj import read_obj, write_obj
from corporeal.formats.off import read_off, write_off
from corporeal.formats.ply import read_ply, write_ply
from corporeal.formats.stl import read_stl, write_stl

Noun = Literal["mesh", "body", "motion", "animation", "skeleton"]


@dataclass(frozen=True)
class Format:
    """One row of the table."""

    suffix: str
    title: str
    reads: tuple[Noun, ...]
    writes: tuple[Noun, ...]
    survives: str
    lost: str


_CHARACTER = (
    "vertex order, quads, normals, texture coordinates, skeleton, four weights a vertex, joint "
    "animation, morph targets with animated weights",
    "part labels, mirror map",
)
_CACHE = ("vertex order, every vertex of every frame, quads", "skeleton, weights, parameters")
_USD = (".usd", ".usdc", ".usda")

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
        ("mesh", "skeleton"),
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
        ".off",
        "OFF surface",
        ("mesh",),
        ("mesh", "body", "animation"),
        "vertex order, triangles, quads",
        "texture coordinates, skeleton, weights, parameters, all frames but one",
    ),
    Format(
        ".stl",
        "STL triangles",
        ("mesh",),
        ("mesh", "body", "animation"),
        "triangles, as three corners each",
        "shared vertices, quads, texture coordinates, skeleton, all frames but one",
    ),
    Format(".fbx", "FBX 7.4 character", (), ("animation",), *_CHARACTER),
    *(Format(s, "USD character", (), ("animation",), *_CHARACTER) for s in _USD),
    Format(".abc", "Alembic cache", (), ("animation",), *_CACHE),
    Format(".pc2", "PC2 point cache, beside an .obj", (), ("animation",), *_CACHE),
    Format(
        ".bvh",
        "BVH motion capture",
        ("motion", "skeleton"),
        (),
        "joint tree, rotations, root path, frame rate, End Sites",
        "unit and axes (an option, or guessed), changing bone lengths (their mean)",
    ),
    Format(
        ".skel",
        "plain-text skeleton",
        ("skeleton",),
        ("skeleton",),
        "joint names, parents, rest positions",
        "unit (that of the mesh)",
    ),
    Format(
        ".json",
        "JSON skeleton",
        ("skeleton",),
        ("skeleton",),
        "joint names, parents, rest positions, unit",
        "nothing",
    ),
    Format(".png", "picture", (), ("body", "animation"), "the look", "everything else"),
    Format(".mp4", "film", (), ("animation",), "the look", "everything else"),
)

_MESH_READERS: dict[str, Callable[[Path], Mesh]] = {
    ".obj": read_obj,
    ".ply": read_ply,
    ".off": read_off,
    ".stl": read_stl,
    ".glb": read_glb_mesh,
}
_MESH_WRITERS: dict[str, Callable[[Path, Mesh], None]] = {
    ".obj": write_obj,
    ".ply": write_ply,
    ".off": write_off,
    ".stl": write_stl,
}
SURFACE_SUFFIXES = tuple(_MESH_WRITERS)
"""Formats that hold one surface: a body at rest, or one frame."""


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
