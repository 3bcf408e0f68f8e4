"""Whether layers are nested: bone inside muscle inside skin, and no prism turned over."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.anatomy.prisms import ROUNDING, Prisms
from corporeal.body.layers import Layers
from corporeal.geometry.surface_tree import SurfaceTree

TOLERANCE = 1e-4
"""A vertex farther outside than this is a violation, metres."""
THINNEST = 2e-5
"""A layer thinner than this has no thickness, metres."""


@dataclass(frozen=True)
class Nesting:
    """What was found over the layered region; head, hands and toes are left out."""

    muscle_outside: int
    """Muscle vertices outside the skin by more than `TOLERANCE`."""
    bone_outside: int
    """Bone vertices outside the muscle surface by more than `TOLERANCE`."""
    worst: float
    """Farthest that any vertex is outside, metres; negative if all are inside."""
    inverted_prisms: int
    """Prisms of fat or muscle with a negative volume."""
    inverted_tetrahedra: int
    """The same of their thirds: stricter."""
    without_thickness: int
    """Layered vertices whose fat or muscle is thinner than `THINNEST`."""

    @property
    def sound(self) -> bool:
        """No vertex outside or without thickness, no prism inverted."""
        outside = self.muscle_outside or self.bone_outside
        return not (outside or self.inverted_prisms or self.without_thickness)


def check_nesting(layers: Layers) -> Nesting:
    """Winding numbers and distances of all layered vertices, and signed volumes of all prisms."""
    prisms = Prisms(layers.triangles, layers.layered)
    region = np.flatnonzero(layers.layered)
    muscle = _outside(layers.skin, layers.muscle[region], layers.triangles)
    bone = _outside(layers.muscle, layers.bone[region], layers.triangles)
    pairs = ((layers.skin, layers.muscle), (layers.muscle, layers.bone))
    thirds = np.stack([prisms.tetrahedron_volumes(*pair) for pair in pairs])
    whole = thirds.reshape(2, -1, 3).sum(axis=2)
    return Nesting(
        int((muscle > TOLERANCE).sum()),
        int((bone > TOLERANCE).sum()),
        float(max(muscle.max(initial=-np.inf), bone.max(initial=-np.inf))),
        int((whole < -ROUNDING).sum()),
        int((thirds < -ROUNDING).sum()),
        int((np.minimum(*(_gaps(*pair)[region] for pair in pairs)) < THINNEST).sum()),
    )


def _gaps(
    outer: Float64[NumpyArray, "V 3"], inner: Float64[NumpyArray, "V 3"]
) -> Float64[NumpyArray, "V"]:
    return np.linalg.norm(np.asarray(outer, np.float64) - inner, axis=1)


def outside_vertices(
    surfaces: tuple[NumpyArray, NumpyArray, NumpyArray],
    triangles: Int[NumpyArray, "F 3"],
    layered: Bool[NumpyArray, "V"],
) -> Bool[NumpyArray, "V"]:
    """Layered vertices whose muscle is outside the skin or bone outside the muscle surface, by
    more than `TOLERANCE`; `surfaces` are skin, muscle and bone."""
    skin, muscle, bone = surfaces
    region, outside = np.flatnonzero(layered), np.zeros(len(skin), bool)
    for around, within in ((skin, muscle), (muscle, bone)):
        outside[region] |= _outside(around, within[region], triangles) > TOLERANCE
    return outside


def _outside(
    surface: Float64[NumpyArray, "V 3"],
    points: Float64[NumpyArray, "n 3"],
    triangles: Int[NumpyArray, "F 3"],
) -> Float64[NumpyArray, "n"]:
    """How far every point is outside a surface, metres; negative inside."""
    return SurfaceTree(surface, triangles).signed_distance(points)
