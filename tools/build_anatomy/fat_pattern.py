"""How thick fat is where, before it is scaled to the masses of trunk and limbs.

Subcutaneous fat of young adults of usual weight by ultrasound (triceps, biceps, forearm,
subscapular, abdomen, suprailiac, quadriceps, hamstrings, calf: Abe 1994 and Ishida 1997, students
and middle-aged of both sexes; lateral and front thigh, calf, lower abdomen: Störchle 2017; gluteal:
Frank 2019). Only ratios count: what lies on the trunk and what on the limbs is scaled apart.
"""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.lines import smoothed_shares
from corporeal.body.template import Template
from corporeal.geometry.surface import vertex_normals

PATTERN_MM: dict[str, dict[str, tuple[float, float, float]]] = {
    "female": {
        "neck": (5, 5, 6),
        "chest": (8, 10, 9),
        "breast": (10, 10, 10),
        "belly": (18, 18, 14),
        "back": (10, 12, 10),
        "hips": (16, 22, 22),
        "buttock": (24, 26, 28),
        "shoulder": (8, 9, 9),
        "upper_arm": (3.5, 5.5, 9),
        "forearm": (4, 4, 4),
        "thigh": (13, 15, 14),
        "shin": (4, 8, 8),
        "foot": (3, 3, 3),
    },
    "male": {
        "neck": (4, 4, 5),
        "chest": (7, 8, 7),
        "breast": (8, 8, 8),
        "belly": (13, 14, 10),
        "back": (8, 9, 8),
        "hips": (11, 14, 15),
        "buttock": (14, 16, 18),
        "shoulder": (5, 6, 6),
        "upper_arm": (2.5, 3.5, 6),
        "forearm": (2.5, 2.5, 2.5),
        "thigh": (6, 6, 7),
        "shin": (6, 9, 9),
        "foot": (3, 3, 3),
    },
}
"""Millimetres at the front, at the sides (of arms in the T-pose above and below), at the back."""
STEEPEST = 0.4
"""Least cosine between a line to the bone and the skin's normal that counts."""


def fat_pattern(
    template: Template, skin: Float64[NumpyArray, "V 3"], bone: Float64[NumpyArray, "V 3"], sex: str
) -> Float64[NumpyArray, "V"]:
    """Fat along every line from skin to bone, metres; 0 where no part is named."""
    names = [name.removeprefix("left_").removeprefix("right_") for name in template.part_names]
    nothing = (0.0, 0.0, 0.0)
    table = np.array([PATTERN_MM[sex].get(name, nothing) for name in names]) / 1000.0
    front, side, back = table[template.part_labels].T
    normals = vertex_normals(skin, template.mesh.triangles)
    forwards = normals[:, 2]
    facing = forwards**2
    depth = np.where(forwards > 0, front, back) * facing + side * (1.0 - facing)
    everywhere = np.ones(len(skin), bool)
    depth = smoothed_shares(depth, template.mesh.triangles, everywhere, 8)
    line = bone - skin
    length = np.maximum(np.linalg.norm(line, axis=1), 1e-9)
    cosine = -np.einsum("vd,vd->v", line, normals) / length
    return depth / np.maximum(cosine, STEEPEST)
