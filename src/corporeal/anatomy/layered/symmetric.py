"""Layers that are mirror images of themselves where the skin is.

The layered template was shrunk onto real bones, and fitting goes from vertex to vertex: where skin
is pinched, as between the thighs, the two sides of muscle and bone surface differ by millimetres.
"""

from dataclasses import replace

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.body.layers import Layers
from corporeal.body.template import Template
from corporeal.geometry.mirror import EXACT, REFLECTION, mirror_joints


def symmetric_layers(layers: Layers, mirror: Int[NumpyArray, "V"] | None) -> Layers:
    """Muscle and bone surface in the mean of themselves and their mirror images, wherever the skin
    is within a micrometre of its own; where one side has lost its layers, those of the other. As
    they came without a `mirror` map."""
    if mirror is None:
        return layers
    skin, here = np.asarray(layers.skin, np.float64), np.asarray(layers.layered)
    alike = np.abs(skin[mirror] * REFLECTION - skin).max(axis=1) <= EXACT
    there = alike & here[mirror]
    share = np.where(there, np.where(here, 0.5, 1.0), 0.0)[:, None]

    def mean(surface: NumpyArray) -> NumpyArray:
        return surface + share * (surface[mirror] * REFLECTION - surface)

    return replace(layers, muscle=mean(layers.muscle), bone=mean(layers.bone), layered=here | there)


def symmetric_weights(
    weights: Float64[NumpyArray, "V J"], template: Template
) -> Float64[NumpyArray, "V J"]:
    """The mean of weights and their mirror images; as they came where a body has no mirror map."""
    skeleton, mirror = template.skeleton, template.mesh.mirror
    images = mirror_joints(np.asarray(skeleton.joints), np.asarray(skeleton.parents))
    if mirror is None or images is None:
        return weights
    return 0.5 * (weights + weights[mirror][:, images])


def symmetric_mask(chosen: Bool[NumpyArray, "V"], template: Template) -> Bool[NumpyArray, "V"]:
    """Vertices that are chosen, or whose mirror images are."""
    mirror = template.mesh.mirror
    return chosen if mirror is None else chosen | chosen[mirror]
