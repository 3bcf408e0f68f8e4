"""Where flesh meets flesh: fields are held back so that heavy bodies do not run into themselves.

The left half of a symmetric body meets the right half in the plane x = 0, so inner thighs and
buttocks are kept on their side of it: a linear condition, hence one that holds for every mixture of
regions if it holds for all of them at full.
"""

from itertools import product

import numpy as np
from adiposity_fields import Anatomy, Fields, phenotype_shape, ramp
from scipy.spatial import KDTree
from surface_smoothing import plate_smoother

from corporeal.assets.default_body import DefaultBody

GAP = 0.002
"""Distance kept from the middle plane, metres."""
SEAM_WIDTH = 0.06
"""Beside the crotch and the cleft of the buttocks the flesh keeps its distance, metres."""
ROUNDING = 0.02
"""The edge of a contact is rounded over this length, metres."""
TRIAL_WEIGHT, TRIAL_MUSCLE = 0.7, 0.4
"""Sliders of the trial bodies: stouter than average, as solvers may mix sliders and fat."""


def trial_bodies(body: DefaultBody) -> list[np.ndarray]:
    """Skins of women and men, young and old, short and tall, without added fat."""
    return [
        phenotype_shape(
            body, gender=gender, age=age, height=height, weight=TRIAL_WEIGHT, muscle=TRIAL_MUSCLE
        )[0]
        for gender, age, height in product((0.0, 1.0), (20.0, 75.0), (0.15, 0.5, 0.75))
    ]


def keep_apart(fields: Fields, anatomy: Anatomy, posed_vertices: list[np.ndarray]) -> Fields:
    """Take back what moves a side across the middle plane, region by region in proportion."""
    x = anatomy.vertices[:, 0]
    side = np.where(np.abs(x) < 1e-4, 0, np.sign(x))
    nearest = np.min([skin[:, 0] * side for skin in posed_vertices], axis=0)
    inwards = np.minimum(fields.vertices[:, :, 0] * side, 0)
    total = (fields.vertices[:, :, 0] * side).sum(axis=0)
    excess = np.maximum(closest_allowed(anatomy, nearest, side) - nearest - total, 0)
    excess = np.maximum(
        excess, plate_smoother(anatomy.vertices, anatomy.triangles, ROUNDING)(excess)
    )
    share = np.minimum(excess / np.maximum(-inwards.sum(axis=0), 1e-9), 1)
    skin = fields.vertices.copy()
    skin[:, :, 0] -= side * share * inwards
    skin[:, side == 0, 0] = 0
    return Fields(skin, fields.joints)


def closest_allowed(anatomy: Anatomy, nearest: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Smallest distance from the middle plane: `GAP`, but beside the seam nearly the body's own."""
    from_seam, _ = KDTree(anatomy.vertices[side == 0]).query(anatomy.vertices)
    own = 0.97 * np.maximum(nearest, 0)
    return np.maximum(np.minimum(GAP, own), (1 - ramp(from_seam, 0.0, SEAM_WIDTH)) * own)
