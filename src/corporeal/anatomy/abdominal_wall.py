"""The inner side of the abdominal wall: behind it lie organs and visceral fat, not muscle."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.fit.layers import belly_region
from corporeal.anatomy.lines import smoothed_shares
from corporeal.anatomy.template import GROUPS, LayeredTemplate
from corporeal.body.layers import Layers
from corporeal.body.tissues import FAT

THINNEST, THICKEST = 0.3, 2.0
"""Of the wall against the template's: thickness differs that much between people at most."""
BLUR = 2
"""Rounds that blur the border of what is walled."""


def abdominal_contents(layers: Layers) -> float | None:
    """Organs and visceral fat behind the wall, m³; None for layers that nobody has balanced."""
    report = layers.metadata or {}
    if "organ_volume" not in report:
        return None
    return float(report["organ_volume"]) + float(report.get("visceral_fat", 0.0)) / FAT.density


def inner_wall(layers: Layers, template: LayeredTemplate) -> Float64[NumpyArray, "V 3"]:
    """Inner side of the walls of belly and back, metres; the bone surface everywhere else.

    The wall is as thick as leaves room for the contents that the balance of masses found, within
    `THINNEST` and `THICKEST` of the template's thickness.
    """
    contents, prisms = abdominal_contents(layers), template.prisms()
    if contents is None:
        return inner_side(layers, template, 1.0)
    thin, thick = THINNEST, THICKEST
    for _ in range(12):
        middle = (thin + thick) / 2
        room = float(prisms.volumes(inner_side(layers, template, middle), layers.bone).sum())
        thin, thick = (middle, thick) if room > contents else (thin, middle)
    return inner_side(layers, template, (thin + thick) / 2)


def inner_side(
    layers: Layers, template: LayeredTemplate, scale: float
) -> Float64[NumpyArray, "V 3"]:
    """The muscle surface moved to the bone surface by `scale` times the template's thickness."""
    back = template.group_of == list(GROUPS).index("back")
    region = (belly_region(template) | back).astype(np.float64)
    walled = smoothed_shares(region, template.triangles, template.layered, BLUR)
    line = layers.bone - layers.muscle
    gap = np.maximum(np.linalg.norm(line, axis=1), 1e-9)
    share = np.minimum(scale * template.muscle_thickness / gap, 1.0)
    return layers.muscle + (1.0 - walled * (1.0 - share))[:, None] * line
