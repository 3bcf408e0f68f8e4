"""The wall behind a woman's breasts: ribs and pectoral muscle do not have the breasts' shape.

Layers have the skin's triangulation, so a breast's vertices, nipple and all, lie on ribs and muscle
as well, and whatever keeps curvature or shares of a line gives those the breast's relief. Here bone
surface and muscle thickness are instead spanned smoothly from around the breast: breasts are fat
and gland over the wall.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.interpolate import RBFInterpolator
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import splu
from scipy.spatial import KDTree

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.anatomy.lines import on_lines
from corporeal.anatomy.template import LayeredTemplate
from corporeal.geometry.surface import vertex_adjacency

RINGS = 4
"""Rings of vertices around a breast that are spanned along with it."""
PECTORAL = 0.009
"""Muscle behind a breast, metres: pectoralis major of women, 6 to 12 mm by ultrasound."""
AROUND = 3
"""Rings of vertices about the region that the wall behind it continues."""
KEPT = 0.3
"""Weight of a vertex's own place on the wall against the mean of its neighbours'."""
TO_AXIS = 0.06
"""From the wall's sides back to the upright axis that it is bent around, metres."""
SMOOTH = 0.3
"""Of the continued surfaces, metres: they follow the trend around the breasts, not every vertex."""
FULL = 0.05
"""From the border inwards muscle thickens over this length, metres."""
HALVINGS = 16
"""Of the interval of a line in which its end is looked for."""
LOOSE, LOOSE_FRONT = 0.02, 0.1
"""Factors on E_flesh of breasts and of the trunk's front: breasts and bellies hang and slide over
the ribs, which they would draw out otherwise."""
FRONT = ("chest", "belly", "left_breast", "right_breast")
"""Parts of the trunk's front."""


@cache
def breast_region(template: LayeredTemplate) -> Bool[NumpyArray, "V"]:
    """A woman's breasts and `RINGS` around them; nobody's in a man."""
    parts = np.array(template.body.part_names)[template.body.part_labels]
    region = np.isin(parts, ("left_breast", "right_breast")) & (template.sex == "female")
    adjacency = vertex_adjacency(template.triangles, len(region)).astype(np.int32)
    for _ in range(RINGS):
        region = region | (adjacency @ region.astype(np.int32) > 0)
    return region & template.layered


def prism_looseness(template: LayeredTemplate) -> Float64[NumpyArray, "F"]:
    """Factor on E_flesh of every prism."""
    parts = np.array(template.body.part_names)[template.body.part_labels]
    corners = template.prisms().triangles
    front = np.isin(parts, FRONT)[corners].any(axis=1)
    breast = breast_region(template)[corners].any(axis=1)
    return np.where(breast, LOOSE, np.where(front, LOOSE_FRONT, 1.0))


@dataclass(frozen=True, eq=False)
class Unrolled:
    """Places as angle and height about an upright axis in the chest, and their distance from it."""

    axis: float
    """Where the axis is from back to front, metres."""
    mean: float
    """Radius at which angles become lengths, metres."""

    def flat(self, points: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "n 2"]:
        """Round the axis and up, metres."""
        angle = np.arctan2(points[:, 0], points[:, 2] - self.axis)
        return np.stack([self.mean * angle, points[:, 1]], axis=1)

    def radius(self, points: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "n"]:
        """Distance from the axis, metres."""
        return np.hypot(points[:, 0], points[:, 2] - self.axis)

    def points(
        self, flat: Float64[NumpyArray, "n 2"], radius: Float64[NumpyArray, "n"]
    ) -> Float64[NumpyArray, "n 3"]:
        """The way back."""
        angle = flat[:, 0] / self.mean
        z = self.axis + radius * np.cos(angle)
        return np.stack([radius * np.sin(angle), flat[:, 1], z], axis=1)


def _unrolled(template: LayeredTemplate, bone: Float64[NumpyArray, "V 3"]) -> Unrolled:
    near = bone[_around(template)]
    axis = float(np.median(near[:, 2])) - TO_AXIS
    return Unrolled(axis, float(np.hypot(near[:, 0], near[:, 2] - axis).mean()))


def _continued(
    template: LayeredTemplate, unrolled: Unrolled, surface: Float64[NumpyArray, "V 3"]
) -> RBFInterpolator:
    """The radius of a surface over angle and height, continued from around the breasts."""
    near = surface[_around(template)]
    return RBFInterpolator(
        unrolled.flat(near), unrolled.radius(near), kernel="linear", smoothing=SMOOTH
    )


def spanned_bone(
    template: LayeredTemplate, bone: Float64[NumpyArray, "V 3"]
) -> Float64[NumpyArray, "V 3"]:
    """The bone surface with a wall behind the breasts that continues what lies around them.

    Vertices are spread over the wall evenly, near where they were: (L + κ) u = κ ū of angle and
    height, so that no prism of a breast stands on a triangle as crowded as its nipple.
    """
    region = breast_region(template)
    if not region.any():
        return bone
    unrolled = _unrolled(template, bone)
    inside, outside = np.flatnonzero(region), np.flatnonzero(~region)
    rows, flat = _laplacian(template)[inside], unrolled.flat(bone)
    matrix = csc_array(rows[:, inside] + KEPT * diags_array(np.ones(len(inside))))
    spread = splu(matrix).solve(KEPT * flat[inside] - rows[:, outside] @ flat[outside])
    radius = _continued(template, unrolled, bone)(spread)
    spanned = bone.copy()
    spanned[inside] = unrolled.points(spread, radius)
    return spanned


@cache
def _around(template: LayeredTemplate) -> Int[NumpyArray, "n"]:
    """Vertices of the `AROUND` rings about the region."""
    region = breast_region(template)
    adjacency = vertex_adjacency(template.triangles, len(region)).astype(np.int32)
    wider = region
    for _ in range(AROUND):
        wider = wider | (adjacency @ wider.astype(np.int32) > 0)
    return np.flatnonzero(wider & ~region & template.layered)


def spanned_muscle(
    template: LayeredTemplate,
    beta: Float64[NumpyArray, "V"],
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
) -> Float64[NumpyArray, "V"]:
    """β at which lines behind breasts meet the muscle surface continued from around them, which is
    at least `PECTORAL` in front of the bone surface away from the region's border.

    Lines to the skin of a breast lean every way, and a nipple's stand close: so the surface is
    given, and β follows by bisection of its distance along every line.
    """
    region = breast_region(template)
    if not region.any():
        return beta
    inside, unrolled = np.flatnonzero(region), _unrolled(template, bone)
    muscle = on_lines(beta, skin, bone, template.layered)
    outer, inner = (_continued(template, unrolled, surface) for surface in (muscle, bone))
    start, line = bone[inside], (skin - bone)[inside]
    border = KDTree(unrolled.flat(bone[_around(template)]))
    low, high = np.zeros(len(inside)), np.ones(len(inside))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        points = start + middle[:, None] * line
        flat = unrolled.flat(points)
        ribs, away = inner(flat), border.query(flat)[0]
        pectoral = PECTORAL * (1.0 - np.exp(-((away / FULL) ** 2)))
        wall = ribs + np.hypot(outer(flat) - ribs, pectoral)
        beneath = unrolled.radius(points) < wall
        low, high = np.where(beneath, middle, low), np.where(beneath, high, middle)
    spanned = beta.copy()
    spanned[inside] = (low + high) / 2
    return spanned


@cache
def _laplacian(template: LayeredTemplate) -> csr_array:
    """x_i minus the mean of its neighbours."""
    count = len(template.skin)
    adjacency = vertex_adjacency(template.triangles, count).astype(np.float64)
    degree = np.maximum(adjacency.sum(axis=1), 1.0)
    return csr_array(diags_array(np.ones(count)) - diags_array(1.0 / degree) @ adjacency)
