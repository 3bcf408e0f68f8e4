"""What pushes flesh: the load that moving bones lay on every dynamic blend shape.

A point of the skin at rest in x_v, carried by bones b with weights w_vb, is accelerated by

    a_v = Σ_b w_vb (R_bᵀ c̈_b + R_bᵀ ω̇_b × (x_v − c_b))

in the axes of the rest pose, and flesh lags behind. The push along the blend shape 𝒟_d is its modal
force, f_d = −Σ_v 𝒟_d,v · a_v, one number where a linear map of all bones has ninety: what a bone
that carries none of a shape's flesh does is no cause of it. Regions of the body are kept apart, and
so are pushes across the skin and along it, since flesh gives way unlike in these. The factor of
centripetal acceleration, which is not linear in what `features.movement` tells, is left out.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from corporeal._typing import Bool, Float32, Float64, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.template import Template
from corporeal.dynamics.neural.features import FLESHY, MOVEMENT_SIZE, UNITS
from corporeal.geometry.surface import vertex_normals

REGIONS: Final = (
    ("neck", "chest", "hips"),
    ("belly",),
    ("back",),
    ("left_breast", "right_breast"),
    ("left_buttock", "right_buttock"),
    ("left_shoulder", "right_shoulder", "left_upper_arm", "right_upper_arm"),
    ("left_forearm", "right_forearm"),
    ("left_thigh", "right_thigh"),
    ("left_shin", "right_shin"),
)
"""Parts of the body whose flesh gives way alike, left and right."""


def skin_loads(
    template: Template, shapes: Float32[NumpyArray, "D V 3"], people: Mapping[str, Identity]
) -> Float32[NumpyArray, "k D m"]:
    """f_d of `features.movement` by region, first across the skin, then along it, on the mean body
    of some people."""
    rest = np.mean([np.asarray(who.rest_vertices, np.float64) for who in people.values()], axis=0)
    joints = np.mean([np.asarray(who.joints, np.float64) for who in people.values()], axis=0)
    normals = np.asarray(vertex_normals(rest, np.asarray(template.mesh.triangles)), np.float64)
    weights = fleshy_weights(template)
    across, along = [], []
    for some in region_vertices(template):
        part = np.asarray(shapes[:, some], np.float64)
        out = np.einsum("dvi,vi->dv", part, normals[some])[:, :, None] * normals[some]
        for rows, found in ((out, across), (part - out, along)):
            found.append(_loads(rows, weights[some], rest[some], joints))
    return np.stack([*across, *along]).astype(np.float32)


def fleshy_weights(template: Template) -> Float64[NumpyArray, "V b"]:
    """Skinning weights of the bones that `features.movement` tells of; those of fingers, feet and
    head belong to the next of these above them."""
    dense = np.asarray(template.weights.dense(), np.float64)
    parents, place = template.skeleton.parents, {joint: n for n, joint in enumerate(FLESHY)}
    found = np.zeros((len(dense), len(FLESHY)))
    for joint in range(dense.shape[1]):
        above = joint
        while above not in place:
            above = parents[above]
        found[:, place[above]] += dense[:, joint]
    return found


def region_vertices(template: Template) -> list[Bool[NumpyArray, "V"]]:
    """The vertices of every region that the template has."""
    labels, names = np.asarray(template.part_labels), template.part_names
    found = [
        np.isin(labels, [names.index(part) for part in parts if part in names])
        for parts in REGIONS
    ]  # fmt: skip
    return [some for some in found if some.any()]


def _loads(
    shapes: Float64[NumpyArray, "D v 3"],
    weights: Float64[NumpyArray, "v b"],
    rest: Float64[NumpyArray, "v 3"],
    joints: Float64[NumpyArray, "J 3"],
) -> Float64[NumpyArray, "D m"]:
    """−Σ_v 𝒟_v · a_v as a row of movement; 𝒟 · (ω̇ × r) = ω̇ · (r × 𝒟)."""
    made = np.zeros((len(shapes), len(FLESHY), 6))
    for n, joint in enumerate(FLESHY):
        part = shapes * weights[:, n, None]
        made[:, n, :3] = -UNITS[0] * part.sum(axis=1)
        made[:, n, 3:] = -UNITS[1] * np.cross(rest - joints[joint], part).sum(axis=1)
    return made.reshape(len(shapes), MOVEMENT_SIZE)
