"""Reading USD through `usd-core` (the optional extra `usd`): motions, skeletons and surfaces.

=================== ======================================================================
survives            joint tree and names, rotations, the body's way, frame rate; vertices and
                    polygons (as triangles) where the stage places them at rest
does not            weights, blend shapes, materials, further skeletons than the first
unit and axes       stated by the stage, brought to metres and y up
=================== ======================================================================

The package reads in a process of its own (`apart`): some damaged files crash it.
"""

from pathlib import Path
from typing import Final

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError
from corporeal.formats.apart import read_apart
from corporeal.formats.named_errors import says_the_file
from corporeal.formats.rig_motion import RigFrames, RigReading, rig_motion
from corporeal.runtime.extras import require_extra
from corporeal.runtime.input_files import open_input

MAX_BYTES: Final = 1024**3
"""Largest file that is read."""


@says_the_file
def read_usd_motion(path: str | Path, unit: str | float = "auto") -> RigReading:
    """The animation of the first skeleton of a stage; y up."""
    held = _read(path, "read_motion")
    names, parents = _tree(held)
    frames = RigFrames(names, parents, held["rest"], held["world"], float(held["fps"]))
    return rig_motion(path, frames, unit)


@says_the_file
def read_usd_skeleton(path: str | Path) -> Skeleton:
    """The first skeleton of a stage, as it was bound; metres, y up."""
    held = _read(path, "read_skeleton")
    return Skeleton(*_tree(held), held["joints"])


@says_the_file
def read_usd_mesh(path: str | Path) -> Mesh:
    """All surfaces of a stage as one mesh, at rest; metres, y up."""
    held = _read(path, "read_mesh")
    return Mesh(held["vertices"], held["triangles"].astype(np.int32))


def _read(path: str | Path, function: str) -> dict[str, NumpyArray]:
    require_extra("pxr", "usd", "reading USD")
    with open_input(path, at_most=MAX_BYTES) as file:  # of a size that can be meant, no device
        if not file.read(1):
            raise FormatError(f"{path} is empty; expected USD. Export it again.")
    return read_apart(Path(path), "USD", f"corporeal.formats.usd_stage:{function}")


def _tree(held: dict[str, NumpyArray]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    return tuple(str(n) for n in held["names"]), tuple(int(p) for p in held["parents"])
