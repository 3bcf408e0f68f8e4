"""A small dragon that needs no licensed data: skin, skeleton and a flapping motion, from code.

`write_dragon("here")` leaves `dragon.off`, `dragon.skel` and `flap.bvh`. The skin is a smooth union
of cones along the bones and of thin wings; two eyes are loose parts.
"""

from pathlib import Path
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.mesh import Mesh, triangles_from_quads
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.formats.bvh import write_bvh
from corporeal.formats.off import write_off
from corporeal.formats.skel import write_skel
from corporeal.geometry.level_set import zero_surface

_TRUNK: Final = {
    "pelvis": ("", (0.0, 0.80, -0.35), 0.19),
    "spine": ("pelvis", (0.0, 0.84, 0.0), 0.21),
    "chest": ("spine", (0.0, 0.88, 0.32), 0.20),
    "neck": ("chest", (0.0, 1.04, 0.60), 0.12),
    "throat": ("neck", (0.0, 1.28, 0.76), 0.10),
    "head": ("throat", (0.0, 1.40, 0.92), 0.12),
    "snout": ("head", (0.0, 1.36, 1.14), 0.075),
    "tail1": ("pelvis", (0.0, 0.74, -0.66), 0.13),
    "tail2": ("tail1", (0.0, 0.66, -0.98), 0.095),
    "tail3": ("tail2", (0.0, 0.60, -1.30), 0.07),
    "tail4": ("tail3", (0.0, 0.58, -1.60), 0.05),
}
"""Joint → parent, place (metres), radius of the skin around it (metres)."""
_SIDE: Final = {
    "hip": ("pelvis", (0.14, 0.72, -0.38), 0.13),
    "knee": ("hip", (0.20, 0.42, -0.26), 0.085),
    "hock": ("knee", (0.20, 0.12, -0.40), 0.06),
    "toe": ("hock", (0.20, 0.06, -0.27), 0.055),
    "shoulder": ("chest", (0.14, 0.76, 0.32), 0.11),
    "elbow": ("shoulder", (0.20, 0.44, 0.24), 0.075),
    "wrist": ("elbow", (0.20, 0.12, 0.32), 0.055),
    "paw": ("wrist", (0.20, 0.06, 0.44), 0.055),
    "wing": ("chest", (0.10, 1.00, 0.20), 0.08),
    "wing_elbow": ("wing", (0.55, 1.22, 0.22), 0.055),
    "wing_wrist": ("wing_elbow", (1.00, 1.26, 0.30), 0.045),
    "wing_tip": ("wing_wrist", (1.45, 1.16, -0.10), 0.04),
}
"""Of the left side (+x); the right is its mirror image."""
_MEMBRANE: Final = (("wing", "wing_elbow", "pelvis"), ("wing_elbow", "wing_wrist", "pelvis"))
_OUTER: Final = ("wing_wrist", "wing_tip")
_THICKNESS: Final = 0.03
_BLEND: Final = 0.05
"""Metres over which neighbouring shapes melt into each other."""
_EYES: Final = (0.085, 1.45, 0.97)
_FPS: Final = 30.0


def write_dragon(folder: str | Path, spacing: float = 0.028) -> None:
    """Write `dragon.off`, `dragon.skel` and `flap.bvh` into a folder that exists."""
    skeleton = dragon_skeleton()
    write_off(Path(folder) / "dragon.off", dragon_skin(spacing))
    write_skel(Path(folder) / "dragon.skel", skeleton)
    write_bvh(Path(folder) / "flap.bvh", flap(skeleton), unit="cm")


def dragon_skeleton() -> Skeleton:
    """35 joints, metres."""
    rows = [(name, *row[:2]) for name, row in _TRUNK.items()]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for name, (parent, place, _) in _SIDE.items():
            above = f"{side}_{parent}" if parent in _SIDE else parent
            rows.append((f"{side}_{name}", above, (sign * place[0], *place[1:])))
    names = tuple(row[0] for row in rows)
    parents = tuple(names.index(row[1]) if row[1] else -1 for row in rows)
    return Skeleton(names, parents, np.array([row[2] for row in rows]))


def dragon_skin(spacing: float = 0.028) -> Mesh:
    """The skin and two eyes as quads; `spacing` is about the length of an edge, metres."""
    low, high = np.array([-1.6, -0.06, -1.75]), np.array([1.6, 1.65, 1.35])
    axes = [np.arange(a, b, spacing) for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    vertices, quads = zero_surface(_distance(grid), low, spacing)
    for x in (_EYES[0], -_EYES[0]):
        centre = np.array([x, *_EYES[1:]])
        ball = np.stack(np.meshgrid(*[np.arange(-0.04, 0.041, 0.01)] * 3, indexing="ij"), axis=-1)
        eye, faces = zero_surface(np.linalg.norm(ball, axis=-1) - 0.028, centre - 0.04, 0.01)
        quads = np.concatenate([quads, faces + len(vertices)])
        vertices = np.concatenate([vertices, eye])
    return Mesh(vertices, triangles_from_quads(quads), quads)


def flap(skeleton: Skeleton, seconds: float = 2.0) -> Motion:
    """Wings beat once a second; tail and neck swing, the body rises on each beat."""
    phase = 2.0 * np.pi * np.arange(round(seconds * _FPS) + 1) / _FPS
    rotations = np.zeros((len(phase), skeleton.joint_count, 3))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for name, size, lag in (
            ("wing", 0.55, 0.0),
            ("wing_elbow", 0.3, 0.6),
            ("wing_wrist", 0.3, 1.2),
        ):
            turn = size * np.sin(phase - lag)
            rotations[:, skeleton.index(f"{side}_{name}"), 2] = sign * turn
        for name, size in (("hip", -0.25), ("knee", 0.4), ("shoulder", -0.2), ("elbow", 0.3)):
            rotations[:, skeleton.index(f"{side}_{name}"), 0] = size * (1.0 - np.cos(phase))
    for place, name in enumerate(("tail1", "tail2", "tail3", "tail4")):
        rotations[:, skeleton.index(name), 1] = 0.3 * np.sin(phase - 0.7 * place)
    for name in ("neck", "throat", "head"):
        rotations[:, skeleton.index(name), 0] = 0.15 * np.sin(phase)
    way = np.zeros((len(phase), 3))
    way[:, 1] = 0.18 * (1.0 - np.cos(phase))
    return Motion("flap", _FPS, rotations, way, skeleton)


def _distance(points: Float[NumpyArray, "*grid 3"]) -> Float[NumpyArray, "*grid"]:
    """About the signed distance to the skin, metres; below 0 inside."""
    mirrored = points.copy()
    mirrored[..., 0] = np.abs(mirrored[..., 0])
    rows = _TRUNK | _SIDE
    shapes = [
        _cone(mirrored, *rows[parent][1:], place, radius)
        for parent, place, radius in rows.values()
        if parent
    ]
    sheets = [tuple(np.array(rows[name][1]) for name in names) for names in _MEMBRANE]
    root = 0.5 * (np.array(rows["pelvis"][1]) + np.array(rows["wing"][1]))
    sheets.append((*(np.array(rows[name][1]) for name in _OUTER), root))
    shapes += [_sheet(mirrored, *corners) - _THICKNESS for corners in sheets]
    total = shapes[0]
    for shape in shapes[1:]:
        total = _smooth_least(total, shape)
    return total


def _cone(
    points: NumpyArray,
    start: tuple[float, float, float],
    start_radius: float,
    end: tuple[float, float, float],
    end_radius: float,
) -> NumpyArray:
    """Distance to a line whose radius changes from end to end."""
    a, axis = np.array(start), np.array(end) - np.array(start)
    share = np.clip((points - a) @ axis / (axis @ axis), 0.0, 1.0)
    away = np.linalg.norm(points - a - share[..., None] * axis, axis=-1)
    return away - (start_radius + share * (end_radius - start_radius))


def _sheet(points: NumpyArray, a: NumpyArray, b: NumpyArray, c: NumpyArray) -> NumpyArray:
    """Distance to a triangle: to its plane above it, else to the nearest edge."""
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal)
    inside = np.ones(points.shape[:-1], bool)
    edges = np.full(points.shape[:-1], np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        axis = end - start
        inside &= (points - start) @ np.cross(normal, axis) >= 0
        share = np.clip((points - start) @ axis / (axis @ axis), 0.0, 1.0)
        edges = np.minimum(edges, np.linalg.norm(points - start - share[..., None] * axis, axis=-1))
    return np.where(inside, np.abs((points - a) @ normal), edges)


def _smooth_least(one: NumpyArray, other: NumpyArray) -> NumpyArray:
    """The lesser of two distances, rounded where they meet (Quilez 2008)."""
    overlap = np.maximum(_BLEND - np.abs(one - other), 0.0) / _BLEND
    return np.minimum(one, other) - 0.25 * _BLEND * overlap**2
