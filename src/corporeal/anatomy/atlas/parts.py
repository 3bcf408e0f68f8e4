"""The parts of an atlas: meshes from folders, in metres and our axes, and the bone each goes with.

A table (CSV) may say what the names do not:

======== ==================================================================================
column   meaning
======== ==================================================================================
`part`   name of a mesh file, without its suffix
`kind`   `bone`, `muscle`, or `none` for what is to be left out
`bone`   for bones, the template's bone that it takes the place of; for muscles, the bones that
         carry it, with spaces between; may be empty
======== ==================================================================================
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.anatomy.atlas.names import template_bone
from corporeal.errors import FormatError, InputError
from corporeal.formats.bvh_units import axis_rotation, unit_length
from corporeal.formats.registry import SURFACE_SUFFIXES, read_mesh

KINDS = ("bone", "muscle", "none")


@dataclass(frozen=True, eq=False)
class AtlasPart:
    """One mesh of an atlas."""

    name: str
    """Stem of its file."""
    vertices: Float64[NumpyArray, "v 3"]
    """Metres, y up, +z front, in the atlas's own pose."""
    triangles: Int[NumpyArray, "f 3"]
    """Corner indices, counter-clockwise seen from outside."""
    bones: tuple[str, ...]
    """A bone: the one it takes the place of, or none. A muscle: those that carry it, or none."""


@dataclass(frozen=True, eq=False)
class Atlas:
    """All parts of one person."""

    bones: tuple[AtlasPart, ...]
    """All bones, each with the template's bone that it replaces, if any."""
    muscles: tuple[AtlasPart, ...]
    """All muscles, each with the bones that carry it."""
    left_out: tuple[str, ...]
    """Bones that belong to none of the template's, and what the table leaves out."""


@dataclass(frozen=True)
class AtlasFrame:
    """Unit and axes of an atlas's files."""

    unit: str = "m"
    """Unit of the files' lengths: `m`, `cm`, `mm`."""
    up: str = "+y"
    """Axis of the files that points up, with its sign, such as `+z`."""
    front: str = "+z"
    """Axis of the files that points to the front, with its sign, such as `-y`."""

    def metres(self, points: NumpyArray) -> Float64[NumpyArray, "n 3"]:
        """Points of a file in metres and our axes."""
        turn = axis_rotation(self.up, self.front)
        return unit_length(self.unit) * np.asarray(points, np.float64) @ turn.T


def read_atlas(
    bones: Path, muscles: Path, frame: AtlasFrame | None = None, table: Path | None = None
) -> Atlas:
    """Every mesh of two folders; `bones` and `muscles` may be the same, if a table tells kinds."""
    rows = {} if table is None else read_table(table)
    chosen = AtlasFrame() if frame is None else frame
    files = {path.stem: (path, "bone") for path in mesh_files(bones)}
    if muscles.resolve() != bones.resolve():
        files |= {path.stem: (path, "muscle") for path in mesh_files(muscles)}
    if unknown := sorted(set(rows) - set(files)):
        raise InputError(
            f"{table} names {', '.join(unknown[:3])}, {len(unknown)} parts in all, that are no "
            f"mesh of {bones} or {muscles}; expected names of files without their suffix."
        )
    parts = []
    for name, (path, kind) in sorted(files.items()):
        declared, carriers = rows.get(name, (kind, ()))
        parts.append((declared, _read_part(path, carriers, chosen)))
    return sorted_atlas(parts)


def sorted_atlas(parts: Iterable[tuple[str, AtlasPart]]) -> Atlas:
    """Parts by kind; bones whose name says nothing are left out."""
    bones, muscles, left_out = [], [], []
    for kind, part in parts:
        guess = template_bone(part.name) if kind == "bone" and not part.bones else None
        named = part if guess is None else replace(part, bones=(guess,))
        if kind == "muscle":
            muscles.append(named)
        elif kind == "bone" and named.bones:
            bones.append(named)
        else:
            left_out.append(part.name)
    if not bones:
        raise InputError(
            "no mesh is one of the template's bones; name files as in 'left femur.obj', or give a "
            "table with the columns part, kind, bone."
        )
    return Atlas(tuple(bones), tuple(muscles), tuple(left_out))


def mesh_files(folder: Path) -> list[Path]:
    """Mesh files of a folder, by name."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}. Check the path.")
    files = sorted(p for p in folder.iterdir() if p.suffix.lower() in SURFACE_SUFFIXES)
    if not files:
        raise InputError(f"{folder} holds no mesh; expected {', '.join(SURFACE_SUFFIXES)}.")
    return files


def read_table(path: Path) -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Kind and bones of the parts that a table names."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}. Check the path.") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path} is not a table: {error}.") from error
    if not rows or not {"part", "kind"} <= set(rows[0]):
        raise FormatError(f"{path} is not a table of parts; expected the columns part, kind, bone.")
    table = {}
    for number, row in enumerate(rows, start=2):
        kind, names = (row["kind"] or "").strip(), tuple((row.get("bone") or "").split())
        if kind not in KINDS:
            raise FormatError(f"{path}, row {number}: kind {kind!r}; expected {', '.join(KINDS)}.")
        table[row["part"].strip()] = (kind, names)
    return table


def _read_part(path: Path, bones: tuple[str, ...], frame: AtlasFrame) -> AtlasPart:
    mesh = read_mesh(path)
    if len(mesh.triangles) == 0:
        raise FormatError(f"{path} has no triangles; expected a surface.")
    vertices = frame.metres(np.asarray(mesh.vertices))
    return AtlasPart(path.stem, vertices, np.asarray(mesh.triangles, np.int64), bones)
