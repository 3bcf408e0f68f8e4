"""Fields of what little fat shows and much fat lets hang: bones below the skin, the belly's apron.

Girths are met by other targets. These two only say what shape skin of a girth has: at a body mass
index of 16 collar bones, rib margin, shoulder blades and hip bones stand out and what lies between
them is hollow; at 45 the lower belly hangs before the groin.
"""

from typing import Final

import numpy as np
from adiposity_face import face_fullness
from adiposity_fields import Anatomy, ramp
from surface_smoothing import plate_smoother

from corporeal.assets.default_body import read_default_body
from corporeal.geometry.surface import vertex_normals

FINE: Final = 0.012
"""These fields are smoothed over this length, metres: half of an edge of the trunk."""
BONES: Final = (
    (((0.025, 1.275), (0.085, 1.292), (0.135, 1.315)), 0.016, 0.006),
    (((0.100, 0.892), (0.118, 0.920), (0.146, 0.942)), 0.024, 0.011),
    (((0.0, 1.255), (0.0, 1.150)), 0.012, 0.002),
)
"""Front of the trunk: points from the midline and the ground, then width and height of the ridge,
metres. Collar bone, hip bone from its front spine along the crest, breast bone."""
BLADES: Final = (
    (((0.055, 1.245), (0.075, 1.175)), 0.020, 0.006),
    (((0.060, 1.255), (0.130, 1.290)), 0.018, 0.005),
    (((0.045, 0.890), (0.075, 0.915)), 0.025, 0.005),
)
"""Back: inner border and spine of the shoulder blade, rear of the hip bone."""
HOLLOWS: Final = (
    ((0.075, 1.335), 0.022, 0.008),
    ((0.105, 1.262), 0.022, 0.005),
    ((0.075, 0.850), 0.028, 0.005),
)
"""Front, above and below the collar bone and inside the hip bone: middle, radius, depth."""
BUTTOCK: Final = ((0.125, 0.80), 0.045, 0.010)
"""Back, behind the hip joint."""
ARCH: Final = (1.118, 1.15, 0.012)
"""Height of the rib margin in the midline, its fall to the sides, half its width, metres."""
ARCH_RISE, BELLY_DEPTH = 0.007, 0.021
"""How far the margin stands out and the belly below it is hollow, metres."""
CHEEKS: Final = 0.45
"""Of the fullest face's displacement, taken away."""
APRON: Final = ((0.840, 0.890), (0.915, 0.985))
"""Between these heights the apron begins above the groin, and between these it ends below the
navel, metres."""
APRON_WIDTH: Final = (0.09, 0.155)
"""From the midline to where it begins to thin out and where it ends, metres."""
APRON_STEP: Final = (-0.075, 0.030)
"""How far it hangs down and forwards, metres."""


def gauntness(anatomy: Anatomy) -> np.ndarray:
    """Bones stand out, and what lies between them is hollow."""
    x, y, _ = anatomy.vertices.T
    points = np.stack([np.abs(x), y], axis=1)
    smooth = plate_smoother(anatomy.vertices, anatomy.triangles, 0.03)
    normals = smooth(np.asarray(vertex_normals(anatomy.vertices, anatomy.triangles), float))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)
    front, back = ramp(normals[:, 2], 0.1, 0.5), ramp(-normals[:, 2], 0.1, 0.5)
    height = front * sum(amount * ridge(points, line, width) for line, width, amount in BONES)
    height += back * sum(amount * ridge(points, line, width) for line, width, amount in BLADES)
    above = np.maximum(front, ramp(normals[:, 1], 0.2, 0.6))
    height -= above * sum(amount * ridge(points, (spot,), r) for spot, r, amount in HOLLOWS)
    spot, radius, amount = BUTTOCK
    height -= back * amount * ridge(points, (spot,), radius)
    height += front * hollow_belly(points)
    trunk = 1 - np.clip(anatomy.weight_of("elbow", "wrist", "knee", "ankle", "head"), 0, 1)
    field = (height * trunk)[:, None] * normals
    template = read_default_body().template
    smoothed = plate_smoother(anatomy.vertices, anatomy.triangles, FINE)(field)
    return smoothed - CHEEKS * face_fullness(template)


def hollow_belly(points: np.ndarray) -> np.ndarray:
    """The rib margin, an arch from the end of the breast bone down to the sides, and the belly
    below it down to the hips, metres along the normal."""
    side, y = points.T
    top, fall, width = ARCH
    beneath = top - fall * side - y
    margin = np.exp(-0.5 * ((beneath + width) / (1.2 * width)) ** 2)
    margin *= ramp(side, 0.02, 0.06) * (1 - ramp(side, 0.12, 0.16))
    hollow = ramp(beneath, 0.0, 0.05) * ramp(y, 0.85, 0.93) * (1 - ramp(side, 0.07, 0.14))
    return ARCH_RISE * margin - BELLY_DEPTH * hollow


def ridge(points: np.ndarray, line: tuple[tuple[float, float], ...], width: float) -> np.ndarray:
    """A bell across the way from point to point of a line, in the plane of the front."""
    corners = np.array(line)
    away = np.full(len(points), np.inf)
    ends = corners[1:] if len(corners) > 1 else corners
    for start, end in zip(corners[: len(ends)], ends, strict=True):
        way = end - start
        share = np.clip((points - start) @ way / max(way @ way, 1e-12), 0.0, 1.0)
        away = np.minimum(away, np.linalg.norm(points - start - share[:, None] * way, axis=1))
    return np.exp(-0.5 * (away / width) ** 2)


def belly_apron(anatomy: Anatomy) -> np.ndarray:
    """The lower belly hangs down before the groin, which keeps its place."""
    x, y, z = anatomy.vertices.T
    (low, begun), (full, high) = APRON
    trunk = 1 - anatomy.weight_of("knee", "ankle", "shoulder", "elbow", "wrist")
    mask = ramp(y, low, begun) * (1 - ramp(y, full, high)) * ramp(z, 0.0, 0.06)
    mask *= trunk * (1 - ramp(np.abs(x), *APRON_WIDTH))
    down, forwards = APRON_STEP
    field = mask[:, None] * np.array([0.0, down, forwards])
    still = ramp(y, low - 0.03, low)[:, None]
    return still * plate_smoother(anatomy.vertices, anatomy.triangles, 0.02)(field)
