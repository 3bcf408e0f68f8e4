"""Where a line from the skin meets the volumetric skeleton.

Komaritzan 2022, appendix A, equations (A.1) to (A.4).

====== ==========================================================
l₀, l   start and unit direction of the line
c₀, c   start and unit direction of the axis, C its length
r₀, r₁  radii at the axis' start and end; r_d = (r₁ − r₀)/C
λ       distance along the line, metres; infinity where there is no hit
====== ==========================================================

These are the readable forms, for any number of lines; `intersections_cpu` holds the same equations
for all elements of a skeleton, and the tests compare the two.
"""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.physics.volumetric_mesh.bones import VolumetricSkeleton
from corporeal.runtime.pytree_dataclass import pytree_dataclass

CONE_SHARE = 0.8
"""Radii of the frustum between a bone and a joint, as shares of theirs."""

NO_HIT, ON_JOINT, ON_BONE, ON_START_CONE, ON_END_CONE = range(5)


@pytree_dataclass()
class Hits:
    """First hit of every line."""

    distances: Float[NumpyArray, "V"]
    """λ, metres; the whole length where nothing was hit."""
    kinds: Int[NumpyArray, "V"]
    """`NO_HIT`, `ON_JOINT`, `ON_BONE`, `ON_START_CONE` or `ON_END_CONE`."""
    elements: Int[NumpyArray, "V"]
    """Node of an `ON_JOINT` hit, else the bone; −1 without a hit."""


def line_sphere(
    origins: Float[NumpyArray, "m 3"],
    directions: Float[NumpyArray, "m 3"],
    centre: Float[NumpyArray, "3"],
    radius: float,
) -> Float[NumpyArray, "m"]:
    """λ where lines enter a sphere: a = 1, b = lᵀ(l₀−c₀), c = |l₀−c₀|² − r₀²."""
    offset = origins - centre
    b = np.sum(directions * offset, axis=1)
    c = np.sum(offset * offset, axis=1) - radius**2
    return _first_root(np.ones_like(b), b, c)


def line_cylinder(
    origins: Float[NumpyArray, "m 3"],
    directions: Float[NumpyArray, "m 3"],
    start: Float[NumpyArray, "3"],
    end: Float[NumpyArray, "3"],
    radius: float,
) -> Float[NumpyArray, "m"]:
    """λ where lines enter a cylinder's side between `start` and `end`: (A.4) with r_d = 0."""
    return line_frustum(origins, directions, start, end, radius, radius)


def line_frustum(
    origins: Float[NumpyArray, "m 3"],
    directions: Float[NumpyArray, "m 3"],
    start: Float[NumpyArray, "3"],
    end: Float[NumpyArray, "3"],
    start_radius: float,
    end_radius: float,
) -> Float[NumpyArray, "m"]:
    """λ where lines enter the side of a conical frustum between `start` and `end` (A.4)."""
    length = float(np.linalg.norm(end - start))
    if length == 0.0:
        return np.full(len(origins), np.inf)
    axis, slope = (end - start) / length, (end_radius - start_radius) / length
    offset = origins - start
    line_axis, offset_axis = directions @ axis, offset @ axis
    # a = 1 − (lᵀc)²(1+r_d²)
    a = 1.0 - line_axis**2 * (1.0 + slope**2)
    # b = lᵀ(l₀−c₀) − (lᵀc)((l₀−c₀)ᵀc)(1+r_d²) − (lᵀc) r_d r₀
    b = np.sum(directions * offset, axis=1)
    b -= line_axis * offset_axis * (1.0 + slope**2) + line_axis * slope * start_radius
    # c = |l₀−c₀|² − r₀² − ((l₀−c₀)ᵀc)²(1+r_d²) − 2 r_d r₀ (l₀−c₀)ᵀc
    c = np.sum(offset * offset, axis=1) - start_radius**2
    c -= offset_axis**2 * (1.0 + slope**2) + 2.0 * slope * start_radius * offset_axis
    distance = _first_root(a, b, c)
    place = offset_axis + np.where(np.isfinite(distance), distance, 0.0) * line_axis
    return np.where((place > 0.0) & (place < length), distance, np.inf)


def shrink_lines(
    skin: Float[NumpyArray, "V 3"],
    base_points: Float[NumpyArray, "V 3"],
    skeleton: VolumetricSkeleton,
) -> Hits:
    """First element that every segment from skin to base point (metres) enters."""
    from corporeal.physics.volumetric_mesh.intersections_cpu import first_hits

    starts, ends = skeleton.nodes[skeleton.bones[:, 0]], skeleton.nodes[skeleton.bones[:, 1]]
    places = skeleton.capsule_places()
    return Hits(
        *first_hits(
            np.ascontiguousarray(skin, np.float64),
            np.ascontiguousarray(base_points, np.float64),
            skeleton.nodes,
            skeleton.node_radii,
            skeleton.bones,
            skeleton.bone_radii,
            starts + places[:, :1] * (ends - starts),
            starts + places[:, 1:] * (ends - starts),
            CONE_SHARE,
        )
    )


def _first_root(
    a: Float[NumpyArray, "m"], b: Float[NumpyArray, "m"], c: Float[NumpyArray, "m"]
) -> Float[NumpyArray, "m"]:
    """λ = (−b − √(b² − ac))/a where it is positive, else infinity."""
    d = b * b - a * c
    usable = (d >= 0.0) & (np.abs(a) > 1e-12)
    root = (-b - np.sqrt(np.where(usable, d, 0.0))) / np.where(usable, a, 1.0)
    return np.where(usable & (root > 0.0), root, np.inf)
