"""Reading a dimension off the standing points, with its derivative by every point.

A plan resolves the table of dimensions for one template: edges a tape can touch, rows and shares
of landmarks. Then each reading is a function of the points alone, and comes with the few points it
depends on and its gradient by them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np

from corporeal._typing import Bool, Float, Int, NumpyArray
from corporeal.anthropometry.definitions import COMPANIONS, DIMENSIONS
from corporeal.anthropometry.kinds import (
    Axis,
    Bulge,
    Distance,
    Extent,
    Fullest,
    Girth,
    Height,
    Landmark,
    Part,
    PointKind,
    Span,
    Stature,
)
from corporeal.anthropometry.standing import standing_map
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.geometry.section import convex_tape_length, edge_crossings
from corporeal.geometry.surface import unique_edges

_ARM = ("shoulder", "elbow", "wrist", "index", "middle", "pinky", "ring", "thumb")
_PALM = ("wrist", "index", "middle", "pinky", "ring")


def part_edges(template: Template, part: Part) -> Int[NumpyArray, "E 2"]:
    """Edges of the surface whose ends both belong to `part`."""
    edges = unique_edges(template.mesh.triangles)
    inside = _membership(template, part)
    return edges[inside[edges].all(axis=1)]


def _membership(template: Template, part: Part) -> Bool[NumpyArray, "V"]:
    """Vertices of a part, by the joint that holds most of their weight."""
    names = template.skeleton.names
    leading = template.weights.joint_indices[:, 0]

    def led_by(accepts: Callable[[str], bool]) -> Bool[NumpyArray, "V"]:
        return np.array([accepts(name) for name in names])[leading]

    arms = led_by(lambda name: name.partition("_")[2].rstrip("123") in _ARM)
    right = np.asarray(template.mesh.vertices)[:, 0] < 1e-6
    if part == "whole":
        return np.ones(len(leading), bool)
    if part == "trunk":
        return ~arms
    if part == "right_leg":
        return ~arms & right
    if part == "right_arm":
        return arms & right
    if part == "right_palm":
        return right & led_by(lambda name: name.partition("_")[2].rstrip("123") in _PALM)
    return led_by(lambda name: name in ("neck", "head", "spine3"))


UP: Final = np.array([0.0, 1.0, 0.0])
_AXES: Final = {"x": np.array([1.0, 0.0, 0.0]), "y": UP, "z": np.array([0.0, 0.0, 1.0])}
_TAPE: Final = np.zeros(3)
"""No direction: the section is taped, not measured with a caliper."""
REACH: Final = 0.2
"""Edges further from a plane than this on the template, metres, are never met by it on a body."""


LEAST_BULGE: Final = 1e-6
"""What a flat or hollow part reads, m³, so that it has a logarithm."""


@dataclass(frozen=True, eq=False)
class Reading:
    """A value, and its gradient by the points it depends on (a point may stand twice)."""

    value: float
    """Metres; cubic metres of a bulge."""
    rows: Int[NumpyArray, "n"]
    """Rows of the standing points."""
    gradient: Float[NumpyArray, "n 3"]
    """Change of the value by each of them, metres a metre."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What the readings need of a template, found once."""

    vertex_count: int
    """Number V of the template's vertices; joints follow them in the list of points."""
    joint_names: tuple[str, ...]
    """Of the template's skeleton, in order."""
    edges: dict[Part, Int[NumpyArray, "E 2"]]
    """Edges of the skin of every part that a tape or caliper touches, as pairs of vertices."""
    standing: Float[NumpyArray, "P 3"]
    """Points of the template itself, metres."""
    patches: dict[Bulge, tuple[Int[NumpyArray, "t 3"], Int[NumpyArray, "n"]]]
    """Triangles of every bulge, and the vertices of its border."""
    _near: dict[tuple[Part, Landmark], Int[NumpyArray, "e 2"]] = field(default_factory=dict)
    """Edges within reach of a plane, by its part and place."""

    def rows(self, landmark: Landmark) -> tuple[Int[NumpyArray, "n"], Float[NumpyArray, "n"]]:
        """Rows of the standing points that make up a landmark, and their shares."""
        rows = [
            member
            if isinstance(member, int)
            else self.vertex_count + self.joint_names.index(member)
            for member in landmark.members
        ]
        return np.array(rows), np.array(landmark.shares)

    def place(self, landmark: Landmark, points: Float[NumpyArray, "P 3"]) -> Float[NumpyArray, "3"]:
        """Where a landmark is, metres."""
        rows, shares = self.rows(landmark)
        return shares @ points[rows]

    def normal(self, kind: Girth | Extent, points: Float[NumpyArray, "P 3"]) -> NumpyArray:
        """Normal of the plane of a section, of any length."""
        along = kind.along if isinstance(kind, Girth) else None
        if along is None:
            return UP
        return self.place(along[1], points) - self.place(along[0], points)

    def edges_near(self, kind: Girth | Extent) -> Int[NumpyArray, "e 2"]:
        """Edges of the part that the plane of a section can meet, on any body; found once."""
        key = (kind.part, kind.at)
        if key not in self._near:
            normal = self.normal(kind, self.standing)
            away = (self.standing - self.place(kind.at, self.standing)) @ normal
            within = np.abs(away) < REACH * np.linalg.norm(normal)
            edges = self.edges[kind.part]
            self._near[key] = np.ascontiguousarray(edges[within[edges].any(axis=1)])
        return self._near[key]

    def spread(
        self, landmark: Landmark, gradient: Float[NumpyArray, "3"]
    ) -> tuple[Int[NumpyArray, "n"], Float[NumpyArray, "n 3"]]:
        """A gradient by a landmark, shared out over its members."""
        rows, shares = self.rows(landmark)
        return rows, shares[:, None] * gradient


@lru_cache(maxsize=4)
def plan_for(template: Template) -> Plan:
    """The plan of a template with the default body's topology."""
    kinds = [d.kind for d in (*DIMENSIONS, *COMPANIONS)]
    sections = [kind for kind in kinds if isinstance(kind, Girth | Fullest | Extent)]
    parts: set[Part] = {kind.part for kind in sections}
    return Plan(
        template.mesh.vertex_count,
        template.skeleton.names,
        {part: np.ascontiguousarray(part_edges(template, part)) for part in parts},
        standing_map(template)(
            np.asarray(template.mesh.vertices, np.float64),
            np.asarray(template.skeleton.joints, np.float64),
        ),
        {kind: bulge_patch(template, kind) for kind in kinds if isinstance(kind, Bulge)},
    )


def bulge_patch(
    template: Template, kind: Bulge
) -> tuple[Int[NumpyArray, "t 3"], Int[NumpyArray, "n"]]:
    """Triangles of a part and of the rings around it, and the border's vertices."""
    inside = np.array(template.part_names)[template.part_labels] == kind.part
    triangles = np.asarray(template.mesh.triangles)
    for _ in range(kind.rings):
        inside[triangles[inside[triangles].any(axis=1)]] = True
    patch = np.ascontiguousarray(triangles[inside[triangles].all(axis=1)])
    edges = np.sort(patch[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    unique, times = np.unique(edges, axis=0, return_counts=True)
    return patch, np.unique(unique[times == 1])


def read(plan: Plan, kind: PointKind, points: Float[NumpyArray, "P 3"]) -> Reading:
    """Read one dimension off the standing points (metres, float64)."""
    match kind:
        case Girth() | Extent():
            return _section(plan, kind, points)
        case Fullest():
            tapes = (_section(plan, Girth(kind.part, level), points) for level in kind.levels)
            return max(tapes, key=lambda tape: tape.value)
        case Height():
            return _height(plan, kind, points)
        case Distance():
            return _line(points, plan.rows(kind.start), plan.rows(kind.end), kind.axis)
        case Span():
            first = plan.vertex_count + len(plan.joint_names)
            one = np.ones(1)
            return _line(points, (np.array([first]), one), (np.array([first + 1]), one))
        case Stature():
            return _stature(plan, points)
        case Bulge():
            return _bulge(points, *plan.patches[kind])


def read_value(plan: Plan, kind: PointKind, points: Float[NumpyArray, "P 3"]) -> float:
    """The value of `read` alone, without a kernel: one body is read before one is compiled."""
    match kind:
        case Girth() | Extent():
            where = edge_crossings(
                points,
                plan.edges_near(kind),
                plan.place(kind.at, points),
                plan.normal(kind, points),
            )
            if len(where) < 3:
                raise _no_section(plan, kind, points)
            if isinstance(kind, Extent):
                return float(np.ptp(where @ _AXES[kind.axis]))
            return convex_tape_length(where, plan.normal(kind, points))
        case Fullest():
            levels = kind.levels
            return max(read_value(plan, Girth(kind.part, level), points) for level in levels)
        case _:
            return read(plan, kind, points).value


def _no_section(plan: Plan, kind: Girth | Extent, points: Float[NumpyArray, "P 3"]) -> InputError:
    origin = plan.place(kind.at, points)
    return InputError(
        f"the plane at {np.round(origin, 3).tolist()} m does not cut the {kind.part}; expected "
        f"a body of the default topology in its zero pose."
    )


def _section(plan: Plan, kind: Girth | Extent, points: Float[NumpyArray, "P 3"]) -> Reading:
    from corporeal.geometry import section_cpu

    origin, normal = plan.place(kind.at, points), plan.normal(kind, points)
    direction = _AXES[kind.axis] if isinstance(kind, Extent) else _TAPE
    count, value, rows, gradient, by_origin, by_normal = section_cpu.read_section(
        points, plan.edges_near(kind), origin, normal, direction
    )
    if count < 3:
        raise _no_section(plan, kind, points)
    shares = [(rows, gradient), plan.spread(kind.at, by_origin)]
    if isinstance(kind, Girth) and kind.along is not None:
        start, end = kind.along
        shares += [plan.spread(end, by_normal), plan.spread(start, -by_normal)]
    return Reading(
        value, np.concatenate([r for r, _ in shares]), np.concatenate([g for _, g in shares])
    )


def _height(plan: Plan, kind: Height, points: Float[NumpyArray, "P 3"]) -> Reading:
    rows, shares = plan.rows(kind.of)
    lowest = int(points[: plan.vertex_count, 1].argmin())
    value = float(shares @ points[rows, 1] - points[lowest, 1])
    return Reading(value, np.append(rows, lowest), np.append(shares, -1.0)[:, None] * UP)


def _stature(plan: Plan, points: Float[NumpyArray, "P 3"]) -> Reading:
    height = points[: plan.vertex_count, 1]
    lowest, highest = int(height.argmin()), int(height.argmax())
    value = float(height[highest] - height[lowest])
    return Reading(value, np.array([highest, lowest]), np.stack([UP, -UP]))


def _bulge(
    points: Float[NumpyArray, "P 3"],
    triangles: Int[NumpyArray, "t 3"],
    border: Int[NumpyArray, "n"],
) -> Reading:
    """Σ det(a − c, b − c, d − c)/6 over the triangles, c the mean of the border's vertices."""
    corners = points[triangles] - points[border].mean(axis=0)
    a, b, d = corners.transpose(1, 0, 2)
    by_corner = np.stack([np.cross(b, d), np.cross(d, a), np.cross(a, b)], axis=1) / 6
    value = float((a * by_corner[:, 0]).sum())
    if value < LEAST_BULGE:
        value, by_corner = LEAST_BULGE, np.zeros_like(by_corner)
    by_centre = -by_corner.sum(axis=(0, 1)) / len(border)
    rows = np.concatenate([triangles.reshape(-1), border])
    return Reading(
        value,
        rows,
        np.concatenate([by_corner.reshape(-1, 3), np.tile(by_centre, (len(border), 1))]),
    )


def _line(
    points: Float[NumpyArray, "P 3"],
    start: tuple[Int[NumpyArray, "n"], Float[NumpyArray, "n"]],
    end: tuple[Int[NumpyArray, "m"], Float[NumpyArray, "m"]],
    axis: Axis | None = None,
) -> Reading:
    step = end[1] @ points[end[0]] - start[1] @ points[start[0]]
    if axis is not None:
        step = step * _AXES[axis]
    length = float(np.linalg.norm(step))
    factors = np.concatenate([-start[1], end[1]])
    return Reading(length, np.concatenate([start[0], end[0]]), factors[:, None] * (step / length))
