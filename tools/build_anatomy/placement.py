"""One bone into one body: joint centres first, then inside the skin, with bounded scale.

    x' = R diag(s) (x − c) + c + t

minimises the distance of joint centres from where they belong, of bone vertices from lying
`margin` beneath the skin, and of the scale s from what was expected, with s in `SCALES`.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.building.affine import Affine
from corporeal.geometry.surface_tree import SurfaceTree

SCALES = (0.8, 1.1)
"""Smallest and largest scale of a bone along any axis, against the source."""
SAMPLES = 800
"""Vertices of a bone that are watched while it is placed."""


IDENTITY = Affine(np.eye(3), np.zeros(3))


@dataclass(frozen=True)
class Anchor:
    """A point of the source that belongs at a point of the body."""

    source: Float64[NumpyArray, "3"]
    target: Float64[NumpyArray, "3"]
    spread: float
    """How far off it may be, metres (one standard deviation)."""


@dataclass(frozen=True)
class Freedom:
    """What a placement may change."""

    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Expected scale along x, y, z."""
    scale_spread: float = 0.05
    turn: tuple[float, float, float] = (0.3, 0.3, 0.3)
    """Spread of the rotation vector, radians."""
    margin: float = 0.004
    """Least depth of the bone beneath the skin, metres."""
    margin_spread: float = 0.001
    midline: bool = False
    """Keep the bone symmetric: no shift across, and turns about x alone."""


def place(
    points: Float64[NumpyArray, "n 3"],
    anchors: list[Anchor],
    skin: SurfaceTree,
    freedom: Freedom,
) -> Affine:
    """The placement of one bone, or of several that move as one."""
    centre = points.mean(axis=0)
    expected = np.clip(freedom.scale, SCALES[0] + 1e-3, SCALES[1] - 1e-3)
    start = np.mean([a.target - a.source for a in anchors], axis=0)
    watched = points[:: max(1, len(points) // SAMPLES)]
    free = np.array([0, 1, 1, 1, 0, 0, 1, 1, 1] if freedom.midline else [1] * 9, bool)

    def unpack(q: NumpyArray) -> Affine:
        full = np.concatenate([start, np.zeros(3), expected])
        full[free] += q
        matrix = Rotation.from_rotvec(full[3:6]).as_matrix() @ np.diag(full[6:])
        return Affine(matrix, centre + full[:3] - matrix @ centre)

    def residuals(q: NumpyArray) -> NumpyArray:
        affine = unpack(q)
        full = np.zeros(9)
        full[free] = q
        moved = affine(watched)
        depth = np.maximum(0.0, skin.signed_distance(moved) + freedom.margin)
        return np.concatenate(
            [
                *[(affine(a.source) - a.target) / a.spread for a in anchors],
                depth / freedom.margin_spread / np.sqrt(len(watched) / 40),
                full[3:6] / freedom.turn,
                full[6:] / freedom.scale_spread,
            ]
        )

    low = np.concatenate([np.full(6, -np.inf), SCALES[0] - expected])[free]
    high = np.concatenate([np.full(6, np.inf), SCALES[1] - expected])[free]
    found = least_squares(
        residuals, np.zeros(free.sum()), bounds=(low, high), x_scale="jac", max_nfev=40
    )
    return unpack(found.x)


def aligned(
    source: tuple[NumpyArray, NumpyArray],
    target: tuple[NumpyArray, NumpyArray],
    width: float | None = None,
) -> Affine:
    """The shortest turn and stretch that carry a bone's two ends onto two joints.

    Across itself the bone is scaled by `width`, or as along itself.
    """
    along, wanted = source[1] - source[0], target[1] - target[0]
    scale = np.linalg.norm(wanted) / np.linalg.norm(along)
    axis = np.cross(along, wanted)
    sine = np.linalg.norm(axis) / np.linalg.norm(along) / np.linalg.norm(wanted)
    angle = np.arctan2(sine, along @ wanted / np.linalg.norm(along) / np.linalg.norm(wanted))
    turn = Rotation.from_rotvec(angle * axis / max(np.linalg.norm(axis), 1e-12)).as_matrix()
    if width is None:
        return Affine(scale * turn, target[0] - scale * turn @ source[0])
    axis = wanted / np.linalg.norm(wanted)
    matrix = (width * np.eye(3) + (scale - width) * np.outer(axis, axis)) @ turn
    return Affine(matrix, target[0] - matrix @ source[0])


def between(lower: Affine, upper: Affine, share: float) -> Affine:
    """A placement on the way from one bone's to another's, for vertebrae."""
    return Affine(
        (1 - share) * lower.matrix + share * upper.matrix,
        (1 - share) * lower.shift + share * upper.shift,
    )
