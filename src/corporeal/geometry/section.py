"""Plane sections of a surface, and the length of a tape pulled tight around one.

This is the readable reference, quick enough to read one body; `section_cpu` is the compiled path
with derivatives, for solvers, and must agree with it. A tape spans hollows, so its length is the
perimeter of the section's convex hull.
"""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.errors import InputError


def plane_section(
    vertices: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    origin: Float[NumpyArray, "3"],
    normal: Float[NumpyArray, "3"],
) -> Float[NumpyArray, "n 2 3"]:
    """Segments in which the plane through `origin` cuts the triangles, metres.

    A vertex in the plane counts as above it, so that a closed surface gives closed loops.
    """
    height = (vertices - origin) @ normal
    above = height >= 0
    crossed = triangles[(above[triangles].sum(axis=1) % 3) != 0]
    # Turn every triangle so that its first corner is alone on its side.
    side = above[crossed]
    alone = np.argmax(side != (side.sum(axis=1) == 2)[:, None], axis=1)
    turned = crossed[np.arange(len(crossed))[:, None], (alone[:, None] + [0, 1, 2]) % 3]
    ends = [_crossing(vertices, height, turned[:, 0], turned[:, k]) for k in (1, 2)]
    return np.stack(ends, axis=1)


def edge_crossings(
    points: Float[NumpyArray, "P 3"],
    edges: Int[NumpyArray, "E 2"],
    origin: Float[NumpyArray, "3"],
    normal: Float[NumpyArray, "3"],
) -> Float[NumpyArray, "n 3"]:
    """Where the plane through `origin` cuts the edges, metres; a point in the plane counts as
    above it."""
    height = (points - origin) @ normal
    above = height >= 0
    start, end = edges[above[edges[:, 0]] != above[edges[:, 1]]].T
    return _crossing(points, height, start, end)


def section_loops(segments: Float[NumpyArray, "n 2 3"]) -> list[Float[NumpyArray, "m 3"]]:
    """Join segments that share ends into loops or open lines, longest first, metres.

    Neighbouring triangles compute the crossing of their edge alike to the last bit.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, depth_first_order

    if len(segments) == 0:
        return []
    points, inverse = np.unique(segments.reshape(-1, 3), axis=0, return_inverse=True)
    ends = inverse.reshape(-1, 2)
    shape = (len(points), len(points))
    graph = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=shape)
    count, label = connected_components(graph, directed=False)
    degree = np.bincount(ends.reshape(-1), minlength=len(points))
    loops = []
    for k in range(count):
        members = np.flatnonzero(label == k)
        start = members[np.argmin(np.where(degree[members] == 1, 0, 1))]
        order, _ = depth_first_order(graph, start, directed=False)
        loops.append(points[order])
    return sorted(loops, key=polyline_length, reverse=True)


def polyline_length(points: Float[NumpyArray, "m 3"]) -> float:
    """Length of an open line through the points, metres."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def convex_tape_length(points: Float[NumpyArray, "n 3"], normal: Float[NumpyArray, "3"]) -> float:
    """Perimeter of the convex hull of points in a plane with the given normal, metres."""
    if len(points) < 3:
        raise InputError(
            f"tape has {len(points)} points to go around; expected at least 3. "
            f"Does the plane cut the surface?"
        )
    first, second = plane_axes(normal)
    corners = convex_hull(np.stack([points @ first, points @ second], axis=1))
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1).sum())


def plane_axes(
    normal: Float[NumpyArray, "3"],
) -> tuple[Float[NumpyArray, "3"], Float[NumpyArray, "3"]]:
    """Two unit vectors that span the plane and make a right-handed frame with its normal."""
    unit = normal / np.linalg.norm(normal)
    seed = np.eye(3)[np.argmin(np.abs(unit))]
    first = np.cross(seed, unit)
    first /= np.linalg.norm(first)
    return first, np.cross(unit, first)


def convex_hull(points: Float[NumpyArray, "n 2"]) -> Float[NumpyArray, "m 2"]:
    """Corners of the convex hull, counter-clockwise (Andrew's monotone chain)."""
    order = points[np.lexsort((points[:, 1], points[:, 0]))].tolist()
    return np.array(_half_hull(order) + _half_hull(order[::-1]))


def _half_hull(sorted_points: list[list[float]]) -> list[list[float]]:
    chain: list[list[float]] = []
    for point in sorted_points:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
            chain.pop()
        chain.append(point)
    return chain[:-1]


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    """Positive where the way a, b, c turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _crossing(
    vertices: Float[NumpyArray, "V 3"],
    height: Float[NumpyArray, "V"],
    start: Int[NumpyArray, "n"],
    end: Int[NumpyArray, "n"],
) -> Float[NumpyArray, "n 3"]:
    low, high = np.minimum(start, end), np.maximum(start, end)
    share = (height[low] / (height[low] - height[high]))[:, None]
    return (1 - share) * vertices[low] + share * vertices[high]
