"""The default skeleton, fitted to a human surface of any topology in roughly T- or A-pose.

The surface is scaled to one stature and tried both ways round, upright along y and along z, with
arms held out, half way and down; the articulated body is laid onto it coarsely from each of these
starts, and finely from the best. The joints are those of the body where it then lies.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.formats.bvh_units import axis_rotation
from corporeal.geometry.surface import vertex_normals
from corporeal.registration.articulated import (
    ArticulatedBody,
    Stance,
    articulated_body,
    turned,
    upright,
)
from corporeal.registration.body_fit import COARSE, FINE, BodyFit, fit_body
from corporeal.registration.cloud import Cloud, sample_surface
from corporeal.registration.shape_components import STATURE

LEAST_CONFIDENCE = 0.8
"""Below this a surface is refused as not human."""
NEAR = 0.02
"""A point lies on the body within this share of the stature."""
_ARMS = (0.0, 0.6, 1.15)
"""How far the arms hang from the T-pose in the starts, radians."""
_KEPT = 3
"""Starts that are fitted finely."""
_POINTS = 8000
_ROUND = 2.5
"""Ratio of horizontal spreads below which all four headings are tried."""


@dataclass(frozen=True)
class SkeletonFit:
    """A skeleton in the mesh's own unit and axes, and how well it fits."""

    skeleton: Skeleton
    """All joints of the default body, by SMPL-H's names."""
    stature: float
    """Height of the surface, in the mesh's unit."""
    surface_distance: float
    """Mean distance of the surface from the fitted body, in the mesh's unit."""
    confidence: float
    """Share of surface and body that lie on each other, 0 to 1; the lesser of the two."""
    up: str
    """Upward axis of the mesh."""
    turn: float
    """Heading of the body about that axis from the front, radians."""
    body_vertices: Float[NumpyArray, "v 3"]
    """The fitted coarse body, in the mesh's unit and axes."""


@dataclass(frozen=True)
class _Frame:
    """From the mesh's unit and axes to a surface of one stature, y up, in front of us."""

    up: str
    axes: Float[NumpyArray, "3 3"]
    scale: float
    middle: Float[NumpyArray, "3"]
    stature: float

    def into(self, points: Float[NumpyArray, "n 3"]) -> Float[NumpyArray, "n 3"]:
        return self.scale * (points @ self.axes.T - self.middle)

    def back(self, points: Float[NumpyArray, "n 3"]) -> Float[NumpyArray, "n 3"]:
        return (points / self.scale + self.middle) @ self.axes


def fit_skeleton(mesh: Mesh, up: str = "auto") -> SkeletonFit:
    """Fit the default skeleton to a human surface; raises `InputError` for anything else.

    `up` is the mesh's upward axis, such as `+z`; without it `+y` and `+z` are tried. Holes, noise
    and loose parts are tolerated; unit and heading may be any.
    """
    if len(mesh.triangles) < 100:
        raise InputError(
            f"the mesh has {len(mesh.triangles)} triangles; expected a human surface of over 100."
        )
    body, cloud = articulated_body(), sample_surface(mesh, _POINTS)
    coarse: list[tuple[BodyFit, _Frame, Cloud]] = []
    for axis in ("+y", "+z") if up == "auto" else (up,):
        frame = _frame(cloud, axis)
        placed = Cloud(frame.into(cloud.points), cloud.normals @ frame.axes.T)
        coarse += [
            (fit_body(body, placed, start, COARSE), frame, placed)
            for start in _starts(body, placed)
        ]
    coarse.sort(key=lambda tried: tried[0].energy)
    fine = [
        (fit_body(body, placed, tried.stance, FINE), frame, placed)
        for tried, frame, placed in coarse[:_KEPT]
    ]
    fit, frame, placed = min(fine, key=lambda tried: tried[0].energy)
    return _judged(body, fit, frame, placed)


def _frame(cloud: Cloud, up: str) -> _Frame:
    axes = axis_rotation(up, "+z" if up.endswith("y") else "-y" if up.endswith("z") else "+y")
    points = cloud.points @ axes.T
    low, high = np.percentile(points, [0.1, 99.9], axis=0)
    stature = float(high[1] - low[1])
    if not stature > 0:
        raise InputError("the mesh is flat; expected a human surface.")
    return _Frame(up, axes, STATURE / stature, 0.5 * (low + high), stature)


def _starts(body: ArticulatedBody, surface: Cloud) -> Iterator[Stance]:
    """Both headings across the widest direction (all four where none is), with three poses."""
    flat = surface.points[:, [0, 2]] - np.median(surface.points[:, [0, 2]], axis=0)
    spreads, directions = np.linalg.eigh(flat.T @ flat)
    across = directions[:, 1]  # where the arms are
    heading = np.arctan2(-across[1], across[0])
    quarters = (0, 2) if spreads[1] > _ROUND * spreads[0] else (0, 1, 2, 3)
    rest = upright(body)
    low, high = body.vertices[:, 1].min(), body.vertices[:, 1].max()
    place = np.array([0.0, -0.5 * (low + high), 0.0])
    for quarter in quarters:
        turn = heading + 0.5 * np.pi * quarter
        for arms in _ARMS:
            pose = {
                "pelvis": [0.0, turn, 0.0],
                "left_shoulder": [0.0, 0.0, -arms],
                "right_shoulder": [0.0, 0.0, arms],
            }
            stance = turned(rest, body.skeleton, pose)
            yield replace(stance, pose=replace(stance.pose, translation=place))


def _judged(body: ArticulatedBody, fit: BodyFit, frame: _Frame, surface: Cloud) -> SkeletonFit:
    normals = vertex_normals(fit.posed.vertices, body.triangles)
    skin = sample_surface(Mesh(fit.posed.vertices, body.triangles), _POINTS)
    away = np.abs(_plane_gaps(surface, skin))
    covered = float((away < NEAR * STATURE).mean())
    to_surface = surface.nearest(fit.posed.vertices, normals)
    distance = np.linalg.norm(surface.points[to_surface] - fit.posed.vertices, axis=1)
    found = float((distance < 2.0 * NEAR * STATURE).mean())
    confidence = min(covered, found)
    if confidence < LEAST_CONFIDENCE:
        raise InputError(
            f"the mesh does not look like a standing person: {100 * covered:.0f} % of its surface "
            f"lies on the body that fits best, and {100 * found:.0f} % of that body on the "
            f"surface; expected {100 * LEAST_CONFIDENCE:.0f} %. It must stand in a T- or A-pose, "
            f"upright along y or z. For other creatures write a .skel."
        )
    root = fit.posed.world_rotations[0]
    turn = np.arctan2(root[0, 2], root[2, 2])
    return SkeletonFit(
        replace(body.skeleton, joints=frame.back(fit.posed.joints)),
        frame.stature,
        float(away.mean()) / frame.scale,
        confidence,
        frame.up,
        float(turn),
        frame.back(fit.posed.vertices),
    )


def _plane_gaps(points: Cloud, surface: Cloud) -> Float[NumpyArray, "n"]:
    """Distance of points from the tangent planes of the nearest points of a surface."""
    near = surface.nearest(points.points, points.normals)
    gap = points.points - surface.points[near]
    plane = np.abs(np.sum(gap * surface.normals[near], axis=1))
    return np.maximum(plane, np.linalg.norm(gap, axis=1) - 0.03 * STATURE)
