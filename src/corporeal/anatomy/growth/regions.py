"""Where a body gains or loses."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.geometry.surface import vertex_adjacency

REGIONS: dict[str, tuple[str, ...]] = {
    "belly": ("belly",),
    "back": ("back",),
    "chest": ("chest", "left_breast", "right_breast"),
    "hips": ("hips", "left_buttock", "right_buttock"),
    "thighs": ("left_thigh", "right_thigh"),
    "legs": ("left_thigh", "right_thigh", "left_shin", "right_shin"),
    "arms": ("left_upper_arm", "right_upper_arm", "left_forearm", "right_forearm"),
    "neck": ("neck", "left_shoulder", "right_shoulder"),
}
"""Body parts of every region that can be named."""
FEET = ("left_foot", "right_foot")
"""Never grow by themselves: soles would lift the body, and stature is no matter of weight."""
SOFT_EDGE = 12
"""Rounds of smoothing that blur a region's border."""
TRUNK_REGIONS, TRUNK_EDGE = ("belly", "back", "chest", "hips"), 40
"""Regions without a border of their own, and the rounds that blur theirs: fat of the trunk passes
from one to the next."""


def growth_field(
    template: Template, layered: NumpyArray, regions: tuple[str, ...] = ()
) -> Float64[NumpyArray, "V"]:
    """Share of the growth that every vertex takes part in, 0 to 1; everywhere but in the feet if no
    region is named."""
    unknown = [name for name in regions if name not in REGIONS]
    if unknown:
        raise InputError(
            f"there is no region {', '.join(unknown)}; there are {', '.join(REGIONS)}."
        )
    parts = {part for name in regions for part in REGIONS[name]}
    chosen = np.array(
        [name in parts if regions else name not in FEET for name in template.part_names]
    )
    field = (chosen[template.part_labels] & layered).astype(np.float64)
    adjacency = vertex_adjacency(template.mesh.triangles, len(field)).astype(np.float64)
    degree = np.maximum(adjacency.sum(axis=1), 1.0)
    for _ in range(TRUNK_EDGE if set(regions) & set(TRUNK_REGIONS) else SOFT_EDGE):
        field = np.where(layered, 0.5 * field + 0.5 * (adjacency @ field) / degree, 0.0)
    return field
