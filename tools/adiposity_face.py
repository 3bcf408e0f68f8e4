"""Fuller cheeks and chin: bumps along the skin's normals that leave lips, lids and nose alone."""

import numpy as np
from scipy.spatial import KDTree
from surface_smoothing import plate_smoother

from corporeal.body.template import Template
from corporeal.geometry.surface import unique_edges, vertex_normals

CAVITIES = ("inner_mouth", "left_eye_socket", "right_eye_socket")
BUMPS = (((0.055, -0.018, 0.035), 0.028, 0.013), ((0.045, -0.05, 0.03), 0.025, 0.012),
         ((0.0, -0.068, 0.045), 0.024, 0.016))  # fmt: skip
"""Centre from the head joint, width and height of every bump, metres; mirrored."""
SHIELD = (0.008, 0.028)
"""Nearer to an opening than the first, skin does not move; beyond the second, freely; metres."""


def face_fullness(template: Template) -> np.ndarray:
    """Displacement of the fullest face, metres; exactly 0 on lips, lids and inside the openings."""
    points = np.asarray(template.mesh.vertices, float)
    triangles = template.mesh.triangles
    smooth = plate_smoother(points, triangles, 0.02)
    normals = smooth(np.asarray(vertex_normals(points, triangles), float))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)
    head = np.asarray(template.skeleton.joints)[template.skeleton.index("head")]
    height = np.zeros(len(points))
    for centre, width, amount in BUMPS:
        for side in {np.sign(centre[0]), -np.sign(centre[0])}:
            away = points - head - np.array(centre) * [side if side else 1, 1, 1]
            bump = amount * np.exp(-0.5 * (away**2).sum(axis=1) / width**2)
            height = np.maximum(height, np.where(bump > 0.05 * amount, bump - 0.05 * amount, 0))
    return (smooth(height) * movable(template))[:, None] * normals


def movable(template: Template) -> np.ndarray:
    """0 in the openings of the face and at their rims, 1 a little away from them."""
    points = np.asarray(template.mesh.vertices, float)
    edges = unique_edges(template.mesh.triangles)
    free = np.ones(len(points))
    for part in CAVITIES:
        inside = np.zeros(len(points), bool)
        inside[template.part(part)] = True
        rim = np.unique(edges[inside[edges[:, 0]] != inside[edges[:, 1]]])
        distance, _ = KDTree(points[rim]).query(points)
        step = np.clip((distance - SHIELD[0]) / (SHIELD[1] - SHIELD[0]), 0, 1)
        free *= np.where(inside, 0, step * step * (3 - 2 * step))
    skin = np.isin(template.part_labels, [template.part_names.index(n) for n in ("head", "neck")])
    return free * skin
