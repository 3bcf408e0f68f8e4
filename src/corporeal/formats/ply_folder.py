"""A folder of `.ply` meshes of one topology, such as FAUST's registrations.

FAUST's own names (`tr_reg_057.ply`: subject 5, pose 7) become a take a subject; any other folder
becomes one take, its files in the order of their names. Vertices and triangles survive; fps is
lost. What is not of the first file's topology is refused by name.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corporeal._typing import Int, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.body.registrations import Registrations, Take
from corporeal.errors import FormatError, InputError
from corporeal.formats.ply import read_ply, write_ply
from corporeal.runtime.files import atomic_folder

_FAUST = re.compile(r"tr_reg_(\d{3})\.ply")
_INNER = ("training/registrations", "registrations")
"""Where FAUST keeps them below its own folder."""
_POSES = 10
"""Of every FAUST subject."""


@dataclass(frozen=True, eq=False)
class PlyFrames:
    """Frames in files, read and checked when they are asked for."""

    files: tuple[Path, ...]
    """One a frame, in order."""
    triangles: Int[NumpyArray, "F 3"]
    """Corner indices that every file must have."""
    shape: tuple[int, ...]
    """N × V × 3, frames first."""

    def __getitem__(self, rows: slice) -> NumpyArray:
        return np.stack([self._frame(file) for file in self.files[rows]])

    def _frame(self, file: Path) -> NumpyArray:
        mesh = read_ply(file)
        if mesh.vertex_count != self.shape[1] or not np.array_equal(mesh.triangles, self.triangles):
            raise FormatError(
                f"{file} has {mesh.vertex_count} vertices and {len(mesh.triangles)} triangles; "
                f"the first file has {self.shape[1]} and {len(self.triangles)}, joined otherwise: "
                f"wrong topology. Registrations of one set share one; raw scans have none."
            )
        return np.asarray(mesh.vertices, np.float32)


def read_ply_folder(path: str | Path, template: str = "") -> Registrations:
    """All meshes of a folder; each is read when it is asked for."""
    path = Path(path)
    if not path.is_dir():
        raise InputError(f"there is no folder {path}. Check the path.")
    home = next((path / inner for inner in _INNER if (path / inner).is_dir()), path)
    files = sorted(file for file in home.iterdir() if file.suffix.lower() == ".ply")
    if not files:
        raise FormatError(f"{home} holds no .ply files.")
    first = read_ply(files[0])
    if len(first.triangles) == 0:
        raise FormatError(f"{files[0]} has no triangles; expected registered meshes, not points.")
    takes = []
    for (subject, sequence), members in _grouped(files, home.name).items():
        shape = (len(members), first.vertex_count, 3)
        frames = PlyFrames(tuple(members), first.triangles, shape)
        notes = {"files": [file.name for file in members]}
        takes.append(Take(subject, sequence, 0.0, frames, notes=notes))
    count = first.vertex_count
    return Registrations(
        template or f"topology-{count}",
        first.triangles,
        count,
        tuple(takes),
        provenance={"folder": home.name},
    )


def write_ply_folder(path: str | Path, registrations: Registrations) -> None:
    """A new folder with a folder a take, and a file a frame: `A__b/000000.ply`."""
    if Path(path).exists():
        raise InputError(f"{path} is there already; give a new folder.")
    with atomic_folder(path) as hidden:
        for block in registrations.blocks(16):
            home = hidden / f"{block.take.subject}__{block.take.sequence}"
            home.mkdir(exist_ok=True)
            for number, vertices in enumerate(block.vertices, block.first):
                write_ply(home / f"{number:06d}.ply", Mesh(vertices, registrations.triangles))


def _grouped(files: list[Path], folder: str) -> dict[tuple[str, str], list[Path]]:
    names = [_FAUST.fullmatch(file.name) for file in files]
    if not all(names):
        return {(re.sub(r"[^A-Za-z0-9.\-]", "-", folder) or "subject", "frames"): files}
    found: dict[tuple[str, str], list[Path]] = {}
    for file, name in zip(files, names, strict=True):
        number = int(name.group(1)) if name else 0
        found.setdefault((f"faust{number // _POSES:02d}", "poses"), []).append(file)
    return found
