"""The trunk's depth in a person: spine and ribs go with the furrow of the back.

Joints of the back lie within the trunk at a depth that differs from body to body, by up to 4 cm in
the waist. Spinous processes do not: they lie right beneath the skin of the midline, with less fat
over them than anywhere else on the back. So a template that was brought to a person's joints is
then moved forwards or backwards, height by height, until its back lies where the person's does,
less what fat the person has more.
"""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.template import LayeredTemplate
from corporeal.geometry.surface import vertex_normals

FURROW = 0.015
"""Half of the furrow's width, metres."""
HEIGHT = 0.025
"""Over which heights shifts are averaged (standard deviation of the weights), metres."""
FAT_OF_FURROW = 0.010
"""Fat over the spine of the template, metres: a body with twice its fat has so much more."""
MOST_FAT = 0.030
"""Most of that, metres."""
TRUNK = ("spine1", "spine2", "spine3", "left_collar", "right_collar")
"""Joints whose vertices move; by their weights those of pelvis, neck and arms stay."""


def trunk_shift(
    template: LayeredTemplate,
    scaled_skin: Float64[NumpyArray, "V 3"],
    skin: Float64[NumpyArray, "V 3"],
    fat_ratio: float,
) -> Float64[NumpyArray, "V"]:
    """How far every vertex of the scaled template goes to the front, metres.

    `fat_ratio` is the person's fat mass over the template's.
    """
    names = template.body.skeleton.names
    height = template.skin[:, 1]
    low, high = template.joints[[names.index("pelvis"), names.index("neck")], 1]
    backwards = vertex_normals(template.skin, template.triangles)[:, 2] < -0.5
    furrow = template.layered & backwards & (np.abs(template.skin[:, 0]) < FURROW)
    furrow = np.flatnonzero(furrow & (height > low) & (height < high))
    fat = float(np.clip(FAT_OF_FURROW * (fat_ratio - 1.0), -0.5 * FAT_OF_FURROW, MOST_FAT))
    shift = (skin - scaled_skin)[furrow, 2] + fat
    apart = (height[:, None] - height[furrow]) / HEIGHT
    near = np.exp(-0.5 * np.minimum(apart**2, 100.0))
    blended = near @ shift / near.sum(axis=1)
    weights = template.body.weights.dense()[:, [names.index(name) for name in TRUNK]]
    return weights.sum(axis=1) * blended


def template_fat(template: LayeredTemplate) -> float:
    """Volume between the template's skin and muscle surface, m³."""
    return float(template.prisms().volumes(template.skin, template.muscle).sum())
