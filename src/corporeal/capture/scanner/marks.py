"""Landmarks that are put on the skin before a recording."""

import numpy as np

from corporeal.anthropometry import landmarks
from corporeal.body.template import Template
from corporeal.errors import InputError

_RIGHT = {
    "deltoid": landmarks.DELTOID,
    "thelion": landmarks.THELION,
    "heel": landmarks.HEEL,
    "toe": landmarks.TOE,
    "foot_inner": landmarks.FOOT_INNER,
    "foot_outer": landmarks.FOOT_OUTER,
    "radiale": landmarks.RADIALE,
    "stylion": landmarks.STYLION,
    "dactylion": landmarks.DACTYLION,
}
_MIDDLE = {"glabella": landmarks.GLABELLA, "omphalion": landmarks.OMPHALION}


def marks_on(template: Template) -> dict[str, int]:
    """Vertices of the default body that carry marks, by name; both sides."""
    mirror = template.mesh.mirror
    if mirror is None:
        raise InputError("landmarks need a template with a mirror map; the default body has one.")
    found = {name: _vertex(mark) for name, mark in _MIDDLE.items()}
    for name, mark in _RIGHT.items():
        vertex = _vertex(mark)
        found[f"right_{name}"] = vertex
        found[f"left_{name}"] = int(np.asarray(mirror)[vertex])
    return found


def _vertex(mark: landmarks.Landmark) -> int:
    return int(mark.members[0])
