"""The ways of measuring: tape, caliper, height above the ground, ruler.

Each kind says where on the body; `reading` says how. A landmark is an affine combination of skin
vertices (whole numbers) and joint centres (names), so it follows every shape linearly.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True)
class Landmark:
    """A point that moves with the body; `shares` add up to 1."""

    members: tuple[int | str, ...]
    """Vertices by index and joints by name."""
    shares: tuple[float, ...]
    """Weight of each member in the point."""


def vertex(index: int) -> Landmark:
    """A skin vertex."""
    return Landmark((index,), (1.0,))


def between(start: int | str, end: int | str, share: float) -> Landmark:
    """The point at `share` of the way from one vertex or joint to another."""
    return Landmark((start, end), (1 - share, share))


Part: TypeAlias = Literal["whole", "trunk", "right_leg", "right_arm", "right_palm", "head"]
Axis: TypeAlias = Literal["x", "y", "z"]


@dataclass(frozen=True)
class Girth:
    """A tape around one part: the perimeter of the convex hull of a plane section."""

    part: Part
    """Part of the body that the tape goes round."""
    at: Landmark
    """Point through which the plane passes."""
    along: tuple[Landmark, Landmark] | None = None
    """The plane is square to the line between these; horizontal if None."""


@dataclass(frozen=True)
class Fullest:
    """A tape moved up and down one part until it reads most: the largest of some level girths."""

    part: Part
    """Part of the body that the tape goes round."""
    levels: tuple[Landmark, ...]
    """Points at whose heights the tape is tried."""


@dataclass(frozen=True)
class Extent:
    """A caliper: size of a horizontal section of one part along an axis."""

    part: Part
    """Part of the body between the arms of the caliper."""
    at: Landmark
    """Point at whose height the section lies."""
    axis: Axis
    """World axis along which the size is taken."""


@dataclass(frozen=True)
class Height:
    """Height of a landmark above the lowest point of the body."""

    of: Landmark
    """The point whose height is taken, metres above the ground."""


@dataclass(frozen=True)
class Distance:
    """The straight line between two landmarks, or what it covers along an axis."""

    start: Landmark
    """One end of the line."""
    end: Landmark
    """The other end of the line."""
    axis: Axis | None = None
    """World axis along which the distance is taken; along the line itself if None."""


@dataclass(frozen=True)
class Span:
    """Distance between the middle fingertips in the T-pose."""


@dataclass(frozen=True)
class Stature:
    """Height of the highest point above the lowest."""


@dataclass(frozen=True)
class Bulge:
    """Volume between a part of the skin and a base over its border, as 3D scans of breasts are
    read: the base is the cone from the border's mean, so a plane where the border lies in one."""

    part: str
    """Part of the body, by the name that the template gives its vertices."""
    rings: int
    """Rings of vertices around it that count as well."""


@dataclass(frozen=True)
class Mass:
    """Enclosed volume times `units.BODY_DENSITY`."""


PointKind: TypeAlias = Girth | Fullest | Extent | Height | Distance | Span | Stature | Bulge
"""Kinds that are read off the standing points."""
Kind: TypeAlias = PointKind | Mass
