"""Knees, elbows and ankles as fixed sums of the skin vertices around them.

The source's joint cubes do not follow the surface there: over the sliders' range the knee cube
strays 44 mm along the leg from the knee that was sculpted, elbow and ankle cubes about 10 mm. The
skin lies close to the bone at these joints, so it says where the joint is; at hips, shoulders and
spine it does not, and the cubes stay.
"""

import numpy as np
from makehuman_source import BODY_VERTEX_COUNT, MakeHumanSource

RINGS = {"knee": ("upper-leg", "ankle"), "elbow": ("shoulder", "hand"), "ankle": ("knee", None)}
"""Joint, and the joint cubes before and after it, which give the direction of the limb."""
HALF_WIDTH_M = 0.015
SECTORS = 8
"""Sectors around the limb, each with the same share, however densely meshed."""


def joint_rings(source: MakeHumanSource, average: np.ndarray) -> dict[str, np.ndarray]:
    """Weights (all vertices,) by joint name; they give the cube's place on the average adult."""
    rings = {}
    for joint, (before, after) in RINGS.items():
        centre, start, end = (
            None if cube is None else average[source.group_vertices[f"joint-l-{cube}"]].mean(axis=0)
            for cube in (joint, before, after)
        )
        along = (centre if end is None else end) - start
        left = _ring(average[:BODY_VERTEX_COUNT], centre, along / np.linalg.norm(along))
        weights = np.zeros(len(average))
        weights[:BODY_VERTEX_COUNT] = left
        mirrored = np.zeros(len(average))
        mirrored[source.mirror] = weights
        rings |= {f"left_{joint}": weights, f"right_{joint}": mirrored}
    return rings


def _ring(skin: np.ndarray, centre: np.ndarray, along: np.ndarray) -> np.ndarray:
    offset = skin - centre
    near = np.linalg.norm(offset, axis=1) < 0.12
    ring = np.flatnonzero((np.abs(offset @ along) < HALF_WIDTH_M) & near)
    across = np.cross(along, [0.3, 0.5, 0.8])
    angle = np.arctan2(offset[ring] @ np.cross(along, across), offset[ring] @ across)
    sector = ((angle / (2 * np.pi) + 0.5) * SECTORS).astype(int) % SECTORS
    counts = np.bincount(sector, minlength=SECTORS)
    weights = 1 / counts[sector] / np.count_nonzero(counts)
    # the smallest change of weights that gives the centre exactly, and the sum 1
    system = np.vstack([offset[ring].T, np.ones(len(ring))])
    missing = np.array([0, 0, 0, 1]) - system @ weights
    weights += np.linalg.pinv(system) @ missing
    spread = np.zeros(len(skin))
    spread[ring] = weights
    return spread
