"""The coarse surface on which the default body's flesh is simulated, as it ships.

It is what `corporeal.physics.volumetric_mesh.simulation_mesh` makes of the default body, and what
`ExtremeShapes.crowded` finds on it, kept so that a first run neither compiles the decimation nor
bends the body into the ends of all its joints' ranges, and every machine simulates the same one.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from corporeal._typing import Bool, Int, NumpyArray
from corporeal.assets.archive import read_archive
from corporeal.assets.default_body import load_default_body
from corporeal.body.template import Template


@dataclass(frozen=True, eq=False)
class CoarseSurface:
    """Kept vertices and their triangles, and what was asked for."""

    full_count: int
    """Vertices of the full skin."""
    targets: Int[NumpyArray, "r"]
    """How many vertices each part was to keep."""
    vertex_indices: Int[NumpyArray, "V"]
    """Which vertices of the full skin were kept, in ascending order."""
    triangles: Int[NumpyArray, "F 3"]
    """Corners among the kept vertices."""
    mirror: Int[NumpyArray, "V"]
    """Kept vertex on the other side of the plane x = 0."""
    crowded: Bool[NumpyArray, "V"]
    """Kept vertices whose inner copies get into each other's way in deep folds."""


@cache
def read_coarse_surface() -> CoarseSurface:
    """As `tools/build_coarse_surface.py` made it; `AssetError` if it is missing or damaged."""
    stored = read_archive("coarse_surface")
    kept = np.flatnonzero(np.unpackbits(stored["kept"])[: int(stored["full_count"])])
    return CoarseSurface(
        int(stored["full_count"]),
        stored["targets"].astype(np.int64),
        kept,
        stored["triangles"].astype(np.int64),
        stored["mirror"].astype(np.int64),
        np.unpackbits(stored["crowded"])[: len(kept)].astype(bool),
    )


def coarse_surface_of(template: Template) -> CoarseSurface | None:
    """What ships, where the template is the very body that it was made of."""
    kept = read_coarse_surface()
    if template.mesh.vertex_count != kept.full_count or template.repose is None:
        return None
    pairs = zip(_arrays(template), _arrays(load_default_body().template), strict=True)
    return kept if all(np.array_equal(a, b) for a, b in pairs) else None


def _arrays(template: Template) -> list[NumpyArray]:
    """Whatever the coarse surface and its folds depend on."""
    skeleton, weights, repose = template.skeleton, template.weights, template.repose
    found = [template.mesh.vertices, template.mesh.triangles, template.part_labels]
    found += [skeleton.parents, skeleton.joints, weights.joint_indices, weights.values]
    found += [] if repose is None else [repose.rotations, repose.bone_indices, repose.bone_weights]
    return [np.asarray(array) for array in found]
