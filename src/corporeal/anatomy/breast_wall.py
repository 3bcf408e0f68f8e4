"""The wall behind a woman's breasts: ribs and pectoral muscle do not have the breasts' shape.

Layers have the skin's triangulation, so a breast's vertices, nipple and all, lie on ribs and muscle
as well, and whatever keeps curvature or shares of a line gives those the breast's relief. Here bone
surface and muscle thickness are instead spanned smoothly from around the breast: breasts are fat
and gland over the wall.
"""

from functools import cache

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import splu

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.anatomy.template import LayeredTemplate
from corporeal.geometry.laplacian import cotangent_laplacian
from corporeal.geometry.surface import vertex_adjacency

RINGS = 2
"""Rings of vertices around a breast that are spanned along with it."""
PECTORAL = 0.009
"""Muscle behind a breast, metres: pectoralis major of women, 6 to 12 mm by ultrasound."""
SETTLING = 0.15
"""Weight of `PECTORAL` against one neighbour's thickness: it is reached in about three rings."""
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


def spanned_bone(
    template: LayeredTemplate, bone: Float64[NumpyArray, "V 3"]
) -> Float64[NumpyArray, "V 3"]:
    """The bone surface, bent least behind breasts (Δ²z = 0 of its depth) from around them on.

    Vertices stay where they are to the sides and up and down, so that prisms do.
    """
    region = breast_region(template)
    if not region.any():
        return bone
    laplacian, areas = cotangent_laplacian(bone, template.triangles)
    near = np.flatnonzero(areas > 0)
    laplacian = csr_array(laplacian)[near]
    squared = csr_array(laplacian.T @ diags_array(1.0 / areas[near]) @ laplacian)
    inside, outside = np.flatnonzero(region), np.flatnonzero(~region)
    rows, depth = squared[inside], bone[:, 2]
    spanned = bone.copy()
    solved = splu(csc_array(rows[:, inside])).solve(-(rows[:, outside] @ depth[outside]))
    spanned[inside, 2] = solved
    return spanned


def spanned_muscle(
    template: LayeredTemplate,
    beta: Float64[NumpyArray, "V"],
    length: Float64[NumpyArray, "V"],
) -> Float64[NumpyArray, "V"]:
    """β with muscle behind breasts as thick as around them, and `PECTORAL` in their middle.

    `length` of every line from bone to skin, metres. (L + κ) u = κ u₀ over the region.
    """
    region = breast_region(template)
    if not region.any():
        return beta
    inside, outside = np.flatnonzero(region), np.flatnonzero(~region)
    thickness = beta * length
    rows = _laplacian(template)[inside]
    right = SETTLING * PECTORAL - rows[:, outside] @ thickness[outside]
    spanned = beta.copy()
    spanned[inside] = _factor(template).solve(right) / np.maximum(length[inside], 1e-9)
    return spanned


@cache
def _factor(template: LayeredTemplate):
    inside = np.flatnonzero(breast_region(template))
    settled = SETTLING * diags_array(np.ones(len(inside)))
    return splu(csc_array(_laplacian(template)[inside][:, inside] + settled))


@cache
def _laplacian(template: LayeredTemplate) -> csr_array:
    """x_i minus the mean of its neighbours."""
    count = len(template.skin)
    adjacency = vertex_adjacency(template.triangles, count).astype(np.float64)
    degree = np.maximum(adjacency.sum(axis=1), 1.0)
    return csr_array(diags_array(np.ones(count)) - diags_array(1.0 / degree) @ adjacency)
