"""Where flesh meets flesh: fields are held back so that heavy bodies do not run into themselves.

The left half of a symmetric body meets the right half in the plane x = 0, so inner thighs and
buttocks are kept on their side of it: a linear condition, hence one that holds for every mixture of
regions if it holds for all of them at full. Elsewhere growth is damped around what touches, until
nothing does.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from adiposity_fields import Anatomy, Fields, below_chin, phenotype_shape, ramp, symmetric
from scipy.spatial import KDTree
from surface_smoothing import plate_smoother

from corporeal.assets.default_body import DefaultBody
from corporeal.geometry.dihedral import fold_angles
from corporeal.geometry.intersection import intersecting_triangle_pairs

GAP = 0.002
"""Distance kept from the middle plane, metres."""
SEAM_WIDTH = 0.06
"""Beside the crotch and the cleft of the buttocks the flesh keeps its distance, metres."""
SHARP = np.radians(115.0)
"""Folds are smoothed before they reach 120°."""
DAMPING = 0.12
"""Share of the growth that is taken back around a contact in a round."""
REACH = 0.02
"""How far around a contact growth is damped, metres."""


@dataclass(frozen=True)
class Trial:
    """A body without added fat, and what is already wrong with it."""

    vertices: np.ndarray
    pairs: frozenset[tuple[int, int]]
    folded: np.ndarray


def trials(body: DefaultBody, triangles: np.ndarray) -> list[Trial]:
    """Women and men, young and old, short and tall."""
    found = []
    for gender, age, height in product((0.0, 1.0), (20.0, 75.0), (0.15, 0.5, 0.75)):
        skin, _ = phenotype_shape(body, gender=gender, age=age, height=height)
        skin = skin.astype(float)
        pairs = intersecting_triangle_pairs(skin, triangles)
        _, angles = fold_angles(skin, triangles)
        found.append(Trial(skin, frozenset(map(tuple, pairs.tolist())), np.abs(angles) > SHARP))
    return found


def keep_apart(fields: Fields, anatomy: Anatomy, bodies: list[Trial]) -> Fields:
    """Take back what moves a side across the middle plane, region by region in proportion."""
    side = np.where(np.abs(anatomy.vertices[:, 0]) < 1e-4, 0, np.sign(anatomy.vertices[:, 0]))
    nearest = np.min([body.vertices[:, 0] * side for body in bodies], axis=0)
    nearest_seam, _ = KDTree(anatomy.vertices[side == 0]).query(anatomy.vertices)
    beside_seam = 1 - ramp(nearest_seam, 0.0, SEAM_WIDTH)
    floor = 0.97 * np.maximum(nearest, 0)
    floor = np.maximum(np.minimum(GAP, floor), beside_seam * floor)
    inwards = np.minimum(fields.vertices[:, :, 0] * side, 0)
    total = (fields.vertices[:, :, 0] * side).sum(axis=0)
    excess = np.maximum(floor - nearest - total, 0)
    blur = plate_smoother(anatomy.vertices, anatomy.triangles, REACH)
    excess = np.maximum(excess, blur(excess))
    share = np.minimum(excess / np.maximum(-inwards.sum(axis=0), 1e-9), 1)
    skin = fields.vertices.copy()
    skin[:, :, 0] -= side * share * inwards
    skin[:, side == 0, 0] = 0
    return Fields(skin, fields.joints)


def relax_contacts(
    skin: np.ndarray, anatomy: Anatomy, bodies: list[Trial], mixtures: np.ndarray, rounds: int
) -> np.ndarray:
    """Damp the fields (R, V, 3) where a mixture makes a trial body touch itself, smooth folds."""
    spread = plate_smoother(anatomy.vertices, anatomy.triangles, REACH)
    smooth = plate_smoother(anatomy.vertices, anatomy.triangles, 2 * REACH)
    for turn in range(rounds):
        touched, folded = np.zeros(len(anatomy.vertices)), np.zeros(len(anatomy.vertices))
        for body in bodies:
            for mixture in mixtures:
                shape = body.vertices + np.tensordot(mixture, skin, 1)
                touched[new_contacts(shape, anatomy.triangles, body)] = 1
                folded[new_folds(shape, anatomy.triangles, body)] = 1
        touched, folded = touched * movable(anatomy), folded * movable(anatomy)
        print(f"round {turn}: {int(touched.sum())} vertices touch, {int(folded.sum())} fold")
        if not touched.any() and not folded.any():
            break
        near = np.clip(4 * spread(np.maximum(touched, folded)), 0, 1) * movable(anatomy)
        contact = np.clip(4 * spread(touched), 0, 1) * movable(anatomy)
        smoothed = np.stack([smooth(field) for field in skin])
        skin = skin + near[:, None] * (smoothed - skin)
        skin = symmetric(skin * (1 - DAMPING * contact[:, None]), anatomy.mirror)
    return skin


def movable(anatomy: Anatomy) -> np.ndarray:
    """1 where fat grows, 0 on face, hands and feet."""
    return (below_chin(anatomy) > 0.999) * (anatomy.weight_of("ankle", "foot", "wrist") < 0.5)


def new_contacts(shape: np.ndarray, triangles: np.ndarray, body: Trial) -> np.ndarray:
    """Vertices of triangle pairs that meet in `shape` and not in the trial body."""
    pairs = intersecting_triangle_pairs(shape, triangles)
    new = [pair for pair in pairs.tolist() if tuple(pair) not in body.pairs]
    return np.unique(triangles[np.array(new, int)]) if new else np.zeros(0, int)


def new_folds(shape: np.ndarray, triangles: np.ndarray, body: Trial) -> np.ndarray:
    """Vertices of edges that fold sharply in `shape` and not in the trial body."""
    edges, angles = fold_angles(shape, triangles)
    return np.unique(edges[(np.abs(angles) > SHARP) & ~body.folded])
