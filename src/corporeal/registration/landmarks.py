"""Where landmarks lie on the default body, by name: those of the anthropometry, both sides."""

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


def landmark_vertices(template: Template) -> dict[str, int]:
    """Vertices of the default body that carry landmarks, by name; both sides."""
    mirror = template.mesh.mirror
    if mirror is None:
        raise InputError("landmarks need a template with a mirror map; the default body has one.")
    found = {name: int(mark.members[0]) for name, mark in _MIDDLE.items()}
    for name, mark in _RIGHT.items():
        vertex = int(mark.members[0])
        found[f"right_{name}"] = vertex
        found[f"left_{name}"] = int(np.asarray(mirror)[vertex])
    return found
