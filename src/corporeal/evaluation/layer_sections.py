"""What scanners and callipers see of layers: tissue areas of a section, fat thickness at a site.

Areas are those inside the section of a surface: fat is what lies between skin and muscle surface,
skin included; muscle what lies between muscle and bone surface, with the fat between muscles;
bone what the bone surface encloses, which bridges the two bones of forearm and shin.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.layers import Layers
from corporeal.errors import InputError
from corporeal.geometry.section import plane_axes, plane_section, section_loops
from corporeal.geometry.surface_tree import SurfaceTree

Joints = Mapping[str, Float64[NumpyArray, "3"]]
"""Joint centres by name, metres, in the layers' zero pose."""


@dataclass(frozen=True)
class Place:
    """A place on the way from one joint to another, and a direction from there to the skin."""

    start: str
    """Joint at share 0."""
    end: str
    """Joint at share 1."""
    share: float
    """How far along."""
    direction: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Unit vector to the skin of a site; sections need none."""
    beside: float = 0.0
    """Shift to the left, as a share of the distance between the hip joints."""


SECTIONS: Mapping[str, Place] = {
    "mid-thigh": Place("left_hip", "left_knee", 0.5),
    "calf": Place("left_knee", "left_ankle", 0.34),
    "mid-upper arm": Place("left_shoulder", "left_elbow", 0.5),
}
"""Limb sections: half of the femur, 66 % of the tibia from below, half of the humerus."""

SITES: Mapping[str, Place] = {
    "triceps": Place("left_shoulder", "left_elbow", 0.5, (0.0, 0.0, -1.0)),
    "biceps": Place("left_shoulder", "left_elbow", 0.5, (0.0, 0.0, 1.0)),
    "subscapular": Place("spine2", "spine3", 0.5, (0.0, 0.0, -1.0), 0.55),
    "suprailiac": Place("pelvis", "spine1", 0.85, (1.0, 0.0, 0.0)),
    "abdomen": Place("pelvis", "spine1", 0.8, (0.0, 0.0, 1.0), 0.3),
    "front thigh": Place("left_hip", "left_knee", 0.5, (0.0, 0.0, 1.0)),
    "medial calf": Place("left_knee", "left_ankle", 0.3, (-1.0, 0.0, 0.0)),
    "gluteal": Place("left_hip", "left_knee", 0.0, (0.0, 0.0, -1.0)),
}
"""Skinfold sites of the left side, in the T-pose: the back of the arm faces backwards."""


@dataclass(frozen=True)
class TissueAreas:
    """Areas of one section, m²."""

    fat: float
    """Between skin and muscle surface, skin included."""
    muscle: float
    """Between muscle and bone surface."""
    bone: float
    """Inside the bone surface."""

    @property
    def whole(self) -> float:
        """Inside the skin, m²."""
        return self.fat + self.muscle + self.bone

    @property
    def fat_share(self) -> float:
        """Fat of fat and muscle, bone left out."""
        return self.fat / (self.fat + self.muscle)


def limb_section(layers: Layers, joints: Joints, place: Place) -> TissueAreas:
    """Areas of the section across the way between two joints, of the loop around that way."""
    origin, normal = _origin(joints, place), joints[place.end] - joints[place.start]
    skin, muscle, bone = (
        _enclosed_area(np.asarray(surface, np.float64), layers, origin, normal)
        for surface in (layers.skin, layers.muscle, layers.bone)
    )
    return TissueAreas(skin - muscle, muscle - bone, bone)


def fat_thickness(layers: Layers, joints: Joints, place: Place) -> float:
    """Shortest way from the skin of a site to the muscle surface, metres: half a skinfold."""
    skin = np.asarray(layers.skin, np.float64)
    site = _skin_point(skin, layers.triangles, _origin(joints, place), np.array(place.direction))
    tree = SurfaceTree(np.asarray(layers.muscle, np.float64), layers.triangles)
    near, _ = tree.closest(site[None])
    return float(np.linalg.norm(near[0] - site))


def _origin(joints: Joints, place: Place) -> Float64[NumpyArray, "3"]:
    """The place itself, metres."""
    start, end = joints[place.start], joints[place.end]
    width = joints["left_hip"][0] - joints["right_hip"][0]
    return (1 - place.share) * start + place.share * end + [place.beside * width, 0.0, 0.0]


def _enclosed_area(
    surface: Float64[NumpyArray, "V 3"],
    layers: Layers,
    origin: Float64[NumpyArray, "3"],
    normal: Float64[NumpyArray, "3"],
) -> float:
    """Of the loop whose middle is nearest to `origin`, m²."""
    loops = section_loops(plane_section(surface, layers.triangles, origin, normal))
    if not loops:
        raise InputError("the plane cuts no layer there; expected a place inside the body.")
    loop = min(loops, key=lambda points: float(np.linalg.norm(points.mean(axis=0) - origin)))
    first, second = plane_axes(normal)
    x, y = (loop - origin) @ first, (loop - origin) @ second
    return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2  # Gauss's shoelace


def _skin_point(
    skin: Float64[NumpyArray, "V 3"],
    triangles: NumpyArray,
    origin: Float64[NumpyArray, "3"],
    direction: Float64[NumpyArray, "3"],
) -> Float64[NumpyArray, "3"]:
    """The first point of the skin on the ray from `origin` (Möller and Trumbore 1997)."""
    corner = skin[triangles]
    edge, other = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    across = np.cross(direction, other)
    determinant = np.einsum("fd,fd->f", edge, across)
    scale = 1.0 / np.where(np.abs(determinant) < 1e-14, np.inf, determinant)
    away = origin - corner[:, 0]
    u, turned = scale * np.einsum("fd,fd->f", away, across), np.cross(away, edge)
    v, far = scale * (turned @ direction), scale * np.einsum("fd,fd->f", other, turned)
    hit = (scale != 0) & (u >= 0) & (v >= 0) & (u + v <= 1) & (far > 0)
    if not hit.any():
        raise InputError("no skin lies in the direction of the site; expected a place inside.")
    return origin + far[hit].min() * direction
