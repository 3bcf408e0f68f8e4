"""Eyeballs: a picture of the iris, and where the eyes look."""

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.appearance.hair_colours import IRIS
from corporeal.appearance.noise import step
from corporeal.appearance.resolving import ResolvedLook
from corporeal.appearance.texels import eight_bits
from corporeal.assets.eyes import IRIS_DEG, PUPIL_DEG, default_eyes
from corporeal.body.attachment import Attachment
from corporeal.body.colours import srgb_from_linear
from corporeal.body.identity import Identity
from corporeal.body.material import Material
from corporeal.body.mesh import Mesh

SIZE = 256
_REACH_DEG = 75.0
"""Angle from the line of sight that the picture reaches at its edge."""
SOCKET_SHADE = 0.80
"""Light left in an eye's socket: lids and lashes are too small for the shadow maps."""


@lru_cache(maxsize=8)
def eye_material(colour: str, seed: int) -> Material:
    """Pupil, iris with fibres, limbus, white with a few veins."""
    random = np.random.default_rng([seed, 5])
    inner, outer = (np.asarray(c) for c in IRIS[colour])
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    x, y = (x + 0.5) / SIZE * 2 - 1, (y + 0.5) / SIZE * 2 - 1
    angle_deg, around = _REACH_DEG * np.hypot(x, y), np.arctan2(y, x)
    waves = random.integers(9, 90, 24)
    phases, sizes = random.uniform(0, 2 * np.pi, 24), random.uniform(0.3, 1.0, 24)
    fibres = sum(s * np.cos(n * around + p) for n, p, s in zip(waves, phases, sizes, strict=True))
    fibres = np.asarray(fibres) / 4
    part = np.clip((angle_deg - PUPIL_DEG) / (IRIS_DEG - PUPIL_DEG), 0, 1)
    ring = step(part + 0.08 * fibres, 0.25, 0.62)[..., None]
    iris = (inner * (1 - ring) + outer * ring) * (1 + 0.28 * fibres[..., None])
    limbus = step(part, 0.80, 1.0)[..., None]
    iris = iris * (1 - 0.78 * limbus)
    veins = step(_veins(x, y, random), 0.80, 1.0) * step(angle_deg, 36, 60)
    white = np.array([0.70, 0.66, 0.62]) * (1 - 0.10 * step(angle_deg, 25, 70)[..., None])
    white = white + 0.22 * veins[..., None] * (np.array([0.62, 0.28, 0.24]) - white)
    edge = step(angle_deg, IRIS_DEG - 1.6, IRIS_DEG + 1.6)[..., None]
    pupil = step(angle_deg, PUPIL_DEG - 0.8, PUPIL_DEG + 0.8)[..., None]
    rgb = (iris * pupil + 0.003) * (1 - edge) + white * edge
    # the upper lid and its lashes shade the eye below them
    rgb = (
        rgb
        * (1 - 0.62 * step(-_REACH_DEG * y, 6.0, 24.0) - 0.20 * step(_REACH_DEG * y, 14, 34))[
            ..., None
        ]
    )
    pixels = np.full((SIZE, SIZE, 4), 255, np.uint8)
    pixels[..., :3] = eight_bits(srgb_from_linear(SOCKET_SHADE * np.clip(rgb, 0, 1)))
    rough = 0.06 + 0.16 * step(angle_deg, IRIS_DEG, IRIS_DEG + 12)
    return Material("eye", "eye", pixels, eight_bits(rough))


def _veins(
    x: Float[NumpyArray, "s s"], y: Float[NumpyArray, "s s"], random: np.random.Generator
) -> Float[NumpyArray, "s s"]:
    angle, radius = np.arctan2(y, x), np.hypot(x, y)
    bend = sum(
        random.uniform(0.5, 1) * np.cos(n * angle + 6 * radius + random.uniform(0, 6))
        for n in (7, 11, 17, 23)
    )
    return np.abs(np.cos(3 * np.asarray(bend) + 9 * angle))


def eyes(identity: Identity, look: ResolvedLook) -> tuple[Attachment, ...]:
    """Both eyeballs of a body in the default topology, painted, looking where the look says."""
    material = eye_material(look.appearance.eyes, look.appearance.seed)
    colour = np.asarray(IRIS[look.appearance.eyes][1])
    turn = _turn(look.appearance.gaze_across, look.appearance.gaze_up)
    made = []
    for eye in default_eyes(identity):
        ball = np.asarray(eye.mesh.vertices, np.float64)
        centre = (ball[0] + ball[-1]) / 2
        directions = (ball - centre) / np.linalg.norm(ball[0] - centre)
        far_deg = np.degrees(np.arccos(np.clip(directions[:, 2], -1, 1)))
        flat = (
            directions[:, :2] / np.maximum(np.linalg.norm(directions[:, :2], axis=1), 1e-9)[:, None]
        )
        uv = 0.5 + 0.5 * np.minimum(far_deg / _REACH_DEG, 0.98)[:, None] * flat
        turned = (centre + (ball - centre) @ turn.T).astype(np.float32)
        mesh = Mesh(turned, eye.mesh.triangles, None, uv.astype(np.float32), eye.mesh.triangles)
        colours = np.array(eye.vertex_colours)
        ring = (far_deg > PUPIL_DEG + 1) & (far_deg < IRIS_DEG - 1)
        colours[ring] = colour
        made.append(replace(eye, mesh=mesh, material=material, vertex_colours=colours))
    return tuple(made)


def _turn(across_deg: float, up_deg: float) -> Float[NumpyArray, "3 3"]:
    """Rotation of +z to the left (+x) and then up, degrees."""
    a, b = math.radians(across_deg), math.radians(up_deg)
    about_y = np.array([[math.cos(a), 0, math.sin(a)], [0, 1, 0], [-math.sin(a), 0, math.cos(a)]])
    about_x = np.array([[1, 0, 0], [0, math.cos(b), math.sin(b)], [0, -math.sin(b), math.cos(b)]])
    return about_y @ about_x
