"""The open skeleton (myofullbody): bone meshes and joint centres, in this package's axes.

Metres, y up, +z front, +x the subject's left; the source's midline x = −25 mm and its sole at 63 mm
become the origin. Arms hang; `tpose` lifts them. See the NOTICE beside the data for its provenance.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray

MIDLINE, SOLE = -0.025, 0.063


@dataclass(frozen=True)
class Bones:
    """Named bone meshes, and the centre of the joint that each moves about."""

    names: tuple[str, ...]
    vertices: tuple[Float64[NumpyArray, "V 3"], ...]
    triangles: tuple[Int[NumpyArray, "F 3"], ...]
    joints: dict[str, Float64[NumpyArray, "3"]]
    """Joint centre of every body of the source model, by the body's name."""

    def points(self, *names: str) -> Float64[NumpyArray, "n 3"]:
        """Vertices of the named bones together."""
        return np.concatenate([self.vertices[self.names.index(name)] for name in names])


def read_bones(folder: Path) -> Bones:
    """All 102 bones of `folder`/skeleton.npz."""
    with np.load(folder / "skeleton.npz") as file:
        stored = {key: file[key] for key in file.files}
    vertices, v, f = converted(stored["vertices_m"]), stored["v_offsets"], stored["f_offsets"]
    names = tuple(str(name) for name in stored["names"])
    joints = converted(stored["body_pos"])
    return Bones(
        names,
        tuple(vertices[v[i] : v[i + 1]] for i in range(len(names))),
        tuple(stored["faces"][f[i] : f[i + 1]].astype(np.int64) for i in range(len(names))),
        {str(name): joints[i] for i, name in enumerate(stored["bodies"])},
    )


def converted(points: NumpyArray) -> Float64[NumpyArray, "n 3"]:
    """From the source's axes (+x left, −y front, +z up) to ours."""
    p = np.asarray(points, np.float64)
    return np.stack([p[:, 0] - MIDLINE, p[:, 2] - SOLE, -p[:, 1]], axis=1)
