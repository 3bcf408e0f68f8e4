"""The space that a body takes up: what lies inside its skin, overlaps counted once.

Parallel rays cross the surface. Along each the winding number grows by one where the ray enters and
falls by one where it leaves; the body is where it is above zero. So two limbs that run through each
other count once, and skin turned inside out (winding below zero) counts as nothing. Lengths along
the rays are exact; across them the sum over a grid is the midpoint rule.
"""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.errors import InputError
from corporeal.geometry.volume import require_closed

SPACING = 2e-3
"""Metres between rays: the default body's volume is then within a millilitre."""
_OFFSET = (0.3819660, 0.2360680)
"""Place of the first ray in its cell: off round numbers, where modelled vertices lie."""


def union_volume(
    vertices: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    spacing: float = SPACING,
) -> float:
    """Volume where the winding number of a closed, outward surface is above zero, m³."""
    if not spacing > 0:
        raise InputError(f"rays are {spacing} m apart; expected more than 0.")
    require_closed(triangles)
    if not np.isfinite(vertices).all():
        raise InputError("a volume was asked of vertices that are not finite; repair them first.")
    from corporeal.evaluation.union_volume_cpu import crossings, lengths_inside

    points = np.ascontiguousarray(vertices, np.float64)
    faces = np.ascontiguousarray(triangles, np.int64)
    low, high = points.min(axis=0), points.max(axis=0)
    origin = low[:2] - spacing * np.asarray(_OFFSET)
    counts = np.ceil((high[:2] - origin) / spacing).astype(np.int64) + 1
    starts, heights, signs = crossings(points, faces, origin, spacing, counts)
    return float(lengths_inside(starts, heights, signs) * spacing**2)
