"""Whether a body's surface is sound: sharp folds and self-contacts that a base body has not.

Folds are compared edge by edge and contacts pair by pair with a base body of the same topology:
the sculpted surface closes its lips and eyelids, and some toes touch.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from corporeal._typing import Bool, Float, Int, NumpyArray
from corporeal.body.template import Template
from corporeal.geometry.dihedral import Hinges, hinges_of
from corporeal.geometry.intersection import intersecting_triangle_pairs
from corporeal.geometry.surface import unique_edges
from corporeal.runtime.pytree_dataclass import pytree_dataclass

SHARP_FOLD = np.deg2rad(120.0)
"""Angle between the normals of neighbouring triangles from which an edge is a sharp fold."""
CAVITIES = (("inner_mouth", 0.012), ("left_eye_socket", 0.01), ("right_eye_socket", 0.01))
"""Hollows of the face, and how wide the lips and lids around them are, metres on the template."""
TOE_LENGTH = 0.085
"""Toes reach this far back from the tip of the foot, metres on the template."""


@pytree_dataclass()
class Validity:
    """What is wrong with a surface that is not wrong with its base."""

    new_folds: Int[NumpyArray, "n 2"]
    """Edges, as vertex indices, that fold past 120°."""
    new_contacts: Int[NumpyArray, "m 2"]
    """Pairs of triangles that meet, outside mouth, eyelids and toes."""

    @property
    def is_sound(self) -> bool:
        """Whether there is nothing new."""
        return len(self.new_folds) == 0 and len(self.new_contacts) == 0


def surface_validity(
    vertices: Float[NumpyArray, "V 3"],
    base: Float[NumpyArray, "V 3"],
    template: Template,
) -> Validity:
    """Sharp folds and contacts of `vertices` that `base` has not; both in metres, one topology."""
    return validity_beside(vertices, baseline(base, template), template)


@dataclass(frozen=True, eq=False)
class Baseline:
    """What a base body has by nature; found once, for many bodies to be held against."""

    folded: Bool[NumpyArray, "E"]
    """Edges that fold past 120°."""
    contacts: frozenset[tuple[int, int]]
    """Pairs of triangles that meet."""


def baseline(base: Float[NumpyArray, "V 3"], template: Template) -> Baseline:
    """Folds and contacts of a base body, metres."""
    pairs = intersecting_triangle_pairs(base, np.asarray(template.mesh.triangles))
    return Baseline(sharp_folds(base, template), frozenset(map(tuple, pairs.tolist())))


def sharp_folds(vertices: Float[NumpyArray, "V 3"], template: Template) -> Bool[NumpyArray, "E"]:
    """Which edges of a shape, metres, fold past 120°."""
    from corporeal.geometry.dihedral_cpu import folds_beyond

    points = np.ascontiguousarray(vertices, np.float64)
    pairs, least = _hinges(template).triangles, float(np.cos(SHARP_FOLD))
    return folds_beyond(points, np.asarray(template.mesh.triangles), pairs, least)


@lru_cache(maxsize=4)
def _hinges(template: Template) -> Hinges:
    return hinges_of(np.asarray(template.mesh.triangles))


def validity_beside(
    vertices: Float[NumpyArray, "V 3"], base: Baseline, template: Template
) -> Validity:
    """Sharp folds and contacts of `vertices`, metres, that the base has not."""
    triangles = np.asarray(template.mesh.triangles)
    folds = _hinges(template).edges[sharp_folds(vertices, template) & ~base.folded]
    pairs = intersecting_triangle_pairs(vertices, triangles)
    excused = touching_skin(template)[triangles[pairs]].all(axis=(1, 2))
    new = [tuple(pair) not in base.contacts for pair in pairs.tolist()]
    return Validity(folds, pairs[np.array(new, bool).reshape(-1) & ~excused])


@lru_cache(maxsize=4)
def touching_skin(template: Template) -> Bool[NumpyArray, "V"]:
    """Vertices of mouth, eyelids and toes, where skin rests on skin by nature."""
    points = np.asarray(template.mesh.vertices)
    near = np.zeros(len(points), bool)
    for part, width in CAVITIES:
        inside = np.zeros(len(points), bool)
        inside[template.part(part)] = True
        near |= inside | _near_rim(template, inside, width)
    for part in ("left_foot", "right_foot"):
        foot = template.part(part)
        near[foot] |= points[foot, 2] > points[foot, 2].max() - TOE_LENGTH
    return near


def _near_rim(
    template: Template, inside: Bool[NumpyArray, "V"], width: float
) -> Bool[NumpyArray, "V"]:
    """Vertices within `width` of the edge where a cavity opens, metres."""
    from scipy.spatial import KDTree

    edges = unique_edges(template.mesh.triangles)
    rim = np.unique(edges[inside[edges[:, 0]] != inside[edges[:, 1]]])
    points = np.asarray(template.mesh.vertices)
    distance, _ = KDTree(points[rim]).query(points)
    return distance < width
