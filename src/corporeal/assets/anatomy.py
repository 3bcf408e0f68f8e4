"""The embedded anatomy: where bone and muscle surfaces lie in the default man and woman.

Bone meshes come from the MyoSuite skeleton (Apache-2.0; LICENSE-anatomy and NOTICE-anatomy beside
the data); surfaces were made by `tools/build_anatomy`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.assets.archive import read_archive

METRES_PER_STEP = 5e-6
"""Surfaces are stored as whole multiples of 5 µm."""
BONE_STEP = 6e-5
"""Bone meshes are stored as whole multiples of 0.06 mm."""
SEXES = ("female", "male")


@dataclass(frozen=True, eq=False)
class StoredAnatomy:
    """One sex's surfaces over the default body's layered vertices, and its bones."""

    vertices: Int[NumpyArray, "n"]
    """Layered vertices of the default body."""
    bone_offsets: Float64[NumpyArray, "n 3"]
    """From skin to bone surface, metres."""
    muscle_offsets: Float64[NumpyArray, "n 3"]
    """From skin to muscle surface, metres."""
    muscle_thickness: Float64[NumpyArray, "n"]
    """Length of muscle on that line, metres."""
    bones: tuple["BoneMesh", ...]
    """Detailed bone meshes."""


@dataclass(frozen=True, eq=False)
class BoneMesh:
    """One bone, or one muscle, in the template's T-pose."""

    name: str
    """Name of the bone or muscle, such as `femur_r`."""
    vertices: Float64[NumpyArray, "v 3"]
    """Metres."""
    triangles: Int[NumpyArray, "f 3"]
    """Corner indices into `vertices`."""


def read_anatomy(sex: str, folder: Traversable | None = None) -> StoredAnatomy:
    """Unpack what `tools/build_anatomy` wrote for `sex` ("female" or "male").

    Raises `AssetError` if the file is missing or damaged.
    """
    stored = read_archive("anatomy", folder)
    return StoredAnatomy(
        stored["layered"].astype(np.int64),
        stored[f"{sex}/bone_steps"].T * METRES_PER_STEP,
        stored[f"{sex}/muscle_steps"].T * METRES_PER_STEP,
        stored[f"{sex}/thickness_steps"] * METRES_PER_STEP,
        _bones(stored, stored[f"{sex}/placements"].astype(np.float64)),
    )


def _bones(
    stored: Mapping[str, NumpyArray], placements: Float64[NumpyArray, "n 3 4"]
) -> tuple[BoneMesh, ...]:
    vertices = stored["bone_vertex_steps"].T * BONE_STEP
    triangles = stored["bone_triangles"].astype(np.int64)
    v, f = stored["bone_vertex_ends"], stored["bone_triangle_ends"]
    return tuple(
        BoneMesh(
            str(name),
            vertices[v[i] : v[i + 1]] @ placements[i, :, :3].T + placements[i, :, 3],
            triangles[f[i] : f[i + 1]],
        )
        for i, name in enumerate(stored["bone_names"])
    )
