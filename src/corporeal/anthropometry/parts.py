"""Which edges a tape can touch: the skin of one part, chosen once for a template."""

from collections.abc import Callable

import numpy as np

from corporeal._typing import Bool, Int, NumpyArray
from corporeal.anthropometry.kinds import Part
from corporeal.body.template import Template
from corporeal.geometry.surface import unique_edges

_ARM = ("shoulder", "elbow", "wrist", "index", "middle", "pinky", "ring", "thumb")
_PALM = ("wrist", "index", "middle", "pinky", "ring")


def part_edges(template: Template, part: Part) -> Int[NumpyArray, "E 2"]:
    """Edges of the surface whose ends both belong to `part`."""
    edges = unique_edges(template.mesh.triangles)
    inside = _membership(template, part)
    return edges[inside[edges].all(axis=1)]


def _membership(template: Template, part: Part) -> Bool[NumpyArray, "V"]:
    """Vertices of a part, by the joint that holds most of their weight."""
    names = template.skeleton.names
    leading = template.weights.joint_indices[:, 0]

    def led_by(accepts: Callable[[str], bool]) -> Bool[NumpyArray, "V"]:
        return np.array([accepts(name) for name in names])[leading]

    arms = led_by(lambda name: name.partition("_")[2].rstrip("123") in _ARM)
    right = np.asarray(template.mesh.vertices)[:, 0] < 1e-6
    if part == "whole":
        return np.ones(len(leading), bool)
    if part == "trunk":
        return ~arms
    if part == "right_leg":
        return ~arms & right
    if part == "right_arm":
        return arms & right
    if part == "right_palm":
        return right & led_by(lambda name: name.partition("_")[2].rstrip("123") in _PALM)
    return led_by(lambda name: name in ("neck", "head", "spine3"))
