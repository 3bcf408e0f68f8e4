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
from corporeal.runtime.extras import require_extra

Noun = Literal[
    "mesh",
    "body",
    "layers",
    "motion",
    "animation",
    "character",
    "skeleton",
    "model",
    "people",
    "registrations",
    "scan",
]
"""What files hold; `layers` is a body with its bones, muscles and fat."""


@dataclass(frozen=True)
class Format:
    """One row of the table."""

    suffix: str
    """With its dot."""
    title: str
    """Name of the format."""
    reads: tuple[Noun, ...]
    """What can be read from it."""
    writes: tuple[Noun, ...]
    """What can be written to it."""
    survives: str
    """What a round trip keeps, in words."""
    lost: str
    """What it loses, in words."""


_CHARACTER = (
    "vertex order, quads, normals, texture coordinates, skeleton, four weights a vertex, joint "
    "animation, morph targets with animated weights",
    "part labels, mirror map",
)
_CACHE = ("vertex order, every vertex of every frame, quads", "skeleton, weights, parameters")
_SHOWN: tuple[Noun, ...] = ("body", "layers", "animation", "registrations")
_SURFACES: tuple[Noun, ...] = ("mesh", "body", "layers", "animation", "character")
_MOVING: tuple[Noun, ...] = ("animation", "character")
_AMASS = ("rotations, root path, frame rate", "shape coefficients, dynamics, face")
_SMPL = ("everything that SMPL's keys name", "other keys")
_USD = (".usd", ".usdc", ".usda")

FORMATS = (
    Format(
        ".npz",
        "corporeal's own arrays",
        ("body", "layers", "motion", "animation", "scan"),
        ("body", "layers", "motion", "animation", "scan"),
        "everything",
        "nothing",
    ),
    Format(".npz", "AMASS motion", ("motion",), (), *_AMASS),
    Format(".npz", "SMPL's or SMPL-H's arrays", ("model",), ("model",), *_SMPL),
    Format(".pkl", "SMPL's pickle, as smplx loads it", ("model",), ("model",), *_SMPL),
    Format(
        ".npz",
        "vertices of registrations",
        (),
        ("registrations",),
        "every vertex of every frame, triangles",
        "frame rates, truth, subjects",
    ),
    Format(
        ".zarr",
        "Zarr store",
        ("people", "registrations"),
        ("people", "registrations"),
        "everything but raw scans",
        "raw scans of registrations",
    ),
    *(
        Format(
            suffix,
            "DFAUST's HDF5",
            ("registrations",),
            ("registrations",),
            "every vertex of every frame, triangles, subjects' and sequences' names",
            "frame rates, truth, what is known of the subjects",
        )
        for suffix in (".hdf5", ".h5")
    ),
    Format(
        "",
        "folder of .ply files",
        ("registrations",),
        ("registrations",),
        "every vertex of every frame, triangles; written as a folder a take, each read alone",
        "frame rates, truth, what is known of the subjects",
    ),
    Format(
        ".glb",
        "glTF 2.0 character",
        ("character", "mesh", "skeleton", "motion"),
        ("body", "layers", "animation", "character"),
        "triangles, normals, texture coordinates, skeleton, four weights a vertex, joint "
        "animation, other deformation as morph targets",
        "quads, part labels, mirror map, parameters",
    ),
    Format(
        ".obj",
        "Wavefront OBJ surface",
        ("mesh",),
        _SURFACES,
        "vertex order, triangles, quads, texture coordinates with seams",
        "skeleton, weights, parameters, all frames but one",
    ),
    Format(
        ".ply",
        "Stanford PLY surface",
        ("mesh",),
        _SURFACES,
        "vertex order, triangles, quads",
        "texture coordinates, skeleton, weights, parameters, all frames but one",
    ),
    Format(
        ".off",
        "OFF surface",
        ("mesh",),
        _SURFACES,
        "vertex order, triangles, quads",
        "texture coordinates, skeleton, weights, parameters, all frames but one",
    ),
    Format(
        ".stl",
        "STL triangles",
        ("mesh",),
        _SURFACES,
        "triangles, as three corners each",
        "shared vertices, quads, texture coordinates, skeleton, all frames but one",
    ),
    Format(".fbx", "FBX 7.4 character", ("motion", "skeleton", "mesh"), _MOVING, *_CHARACTER),
    *(
        Format(
            s,
            "USD character",
            ("motion", "skeleton", "mesh"),
            ("animation", "character", "layers"),
            *_CHARACTER,
        )
        for s in _USD
    ),
    Format(".abc", "Alembic cache", (), _MOVING, *_CACHE),
    Format(".pc2", "PC2 point cache, beside an .obj", (), _MOVING, *_CACHE),
    Format(
        ".bvh",
        "BVH motion capture",
        ("motion", "skeleton"),
        ("motion", "animation", "character"),
        "joint tree, rotations, root path, frame rate, End Sites",
        "unit and axes (an option, or found), changing bone lengths (their mean), all skin",
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
    Format(".png", "picture", (), _SHOWN, "the look", "everything else"),
    Format(".mp4", "film", (), ("animation", "registrations"), "the look", "everything else"),
    Format(".gif", "animated picture", (), ("animation",), "the look", "everything else"),
)


@dataclass(frozen=True)
class Extra:
    """An optional package that a format needs."""

    module: str
    """To import."""
    extra: str
    """Of this package, which installs it."""


EXTRAS = {
    **{suffix: Extra("pxr", "usd") for suffix in _USD},
    ".abc": Extra("alembic3d", "alembic"),
    ".hdf5": Extra("h5py", "hdf5"),
    ".h5": Extra("h5py", "hdf5"),
}
"""Optional packages by suffix."""


def _read_fbx_mesh(path: Path) -> Mesh:
    from corporeal.formats.fbx_read import read_fbx_mesh

    return read_fbx_mesh(path)


def _read_usd_mesh(path: Path) -> Mesh:
    from corporeal.formats.usd_read import read_usd_mesh

    return read_usd_mesh(path)


_MESH_READERS: dict[str, Callable[[Path], Mesh]] = {
    ".obj": read_obj,
    ".ply": read_ply,
    ".off": read_off,
    ".stl": read_stl,
    ".glb": read_glb_mesh,
    ".fbx": _read_fbx_mesh,
    **dict.fromkeys(_USD, _read_usd_mesh),
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


def suffixes_read(noun: Noun) -> tuple[str, ...]:
    """Suffixes of the files from which a `noun` can be read."""
    return tuple(dict.fromkeys(f.suffix for f in FORMATS if noun in f.reads))


def suffixes_written(noun: Noun) -> tuple[str, ...]:
    """Suffixes of the files that can hold a `noun`."""
    return tuple(dict.fromkeys(f.suffix for f in FORMATS if noun in f.writes))


def require_packages(path: str | Path) -> None:
    """Raise `MissingDependencyError` unless the package is there that files of this suffix need.

    To be asked before any work.
    """
    suffix = Path(path).suffix.lower()
    if (needed := EXTRAS.get(suffix)) is not None:
        require_extra(needed.module, needed.extra, f"reading or writing {suffix}")


def nouns_of(suffix: str, *, written: bool = False) -> tuple[Noun, ...]:
    """What files of a suffix can hold, in the order of the table: as read, or as `written`."""
    rows = [f for f in FORMATS if f.suffix == suffix.lower()]
    found: dict[Noun, None] = {}
    for row in rows:
        found |= dict.fromkeys(row.writes if written else row.reads)
    return tuple(found)


def _find(path: Path, noun: Noun, verb: str, known: dict[str, Format]) -> Format:
    suffix = path.suffix.lower()
    if suffix not in known:
        came = f"the suffix {suffix!r}" if suffix else "no suffix"
        expected = [name or "a folder" for name in known]
        raise InputError(
            f"cannot {verb} {described(noun)} as {path}: it has {came}; expected "
            f"{', '.join(expected)}.{_holds(suffix, verb == 'write')}"
        )
    return known[suffix]


def _holds(suffix: str, written: bool) -> str:
    """A sentence on what a suffix is for, where it is known."""
    nouns = nouns_of(suffix, written=written)
    if not suffix or not nouns:
        return ""
    return f" A {suffix} file holds {' or '.join(map(described, nouns))}."


def described(noun: Noun) -> str:
    """A noun with its article."""
    if noun in ("layers", "people", "registrations"):
        return noun
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
