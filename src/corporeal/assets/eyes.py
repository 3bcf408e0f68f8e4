"""Eyeballs for any body in the default topology."""

from collections.abc import Mapping
from functools import cache

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.assets.archive import read_archive
from corporeal.assets.default_body import load_default_body
from corporeal.body.attachment import Attachment
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.errors import InputError

PUPIL_DEG, IRIS_DEG = 9.5, 27.5
"""Edges of pupil and iris, as angles from the line of sight seen from the eye's centre."""
EDGE_DEG = 1.2
"""Width over which one colour turns into the next."""
MERIDIANS = 36

_PUPIL = (0.004, 0.003, 0.003)
_IRIS_INNER = (0.20, 0.11, 0.045)
_IRIS_OUTER = (0.075, 0.042, 0.022)
_LIMBUS = (0.035, 0.025, 0.02)
_SCLERA = (0.78, 0.74, 0.70)
_BACK = (0.62, 0.42, 0.37)

RINGS: tuple[tuple[float, tuple[float, float, float]], ...] = (
    (PUPIL_DEG / 2, _PUPIL),
    (PUPIL_DEG, _PUPIL),
    (PUPIL_DEG + EDGE_DEG, _IRIS_INNER),
    ((PUPIL_DEG + IRIS_DEG) / 2, _IRIS_INNER),
    (IRIS_DEG - 3 * EDGE_DEG, _IRIS_OUTER),
    (IRIS_DEG - EDGE_DEG, _LIMBUS),
    (IRIS_DEG + EDGE_DEG, _SCLERA),
    (40.0, _SCLERA),
    (55.0, _SCLERA),
    (70.0, _SCLERA),
    (90.0, _BACK),
    (115.0, _BACK),
    (140.0, _BACK),
    (165.0, _BACK),
)
"""Circles of the eyeball's mesh from front to back: angle from the line of sight, linear RGB."""


def default_eyes(identity: Identity) -> tuple[Attachment, Attachment]:
    """The left and the right eyeball of one body, looking straight ahead and following the head."""
    body = load_default_body()
    vertices = np.asarray(identity.rest_vertices)
    if vertices.shape != body.template.mesh.vertices.shape:
        raise InputError(
            f"identity has rest vertices of shape {vertices.shape}; expected one body in the "
            f"default topology, {body.template.mesh.vertices.shape}."
        )
    mirror = body.template.mesh.mirror
    assert mirror is not None
    head = body.template.skeleton.index("head")
    socket = _functionals()["socket"]
    directions, colours, triangles = _unit_eye()
    eyes = []
    for name, side, indices in (("left_eye", 1.0, socket), ("right_eye", -1.0, mirror[socket])):
        centre, radius = _centre_and_radius(vertices[indices], side)
        mesh = Mesh((centre + radius * directions).astype(vertices.dtype), triangles)
        eyes.append(Attachment(name, mesh, colours, head))
    return eyes[0], eyes[1]


def _centre_and_radius(
    socket: Float[NumpyArray, "n 3"], side: float
) -> tuple[Float[NumpyArray, "3"], float]:
    """Linear functions of the socket's vertices, metres; `side` is 1 for left and −1 for right."""
    functionals = _functionals()
    # c = Σ_v w_v x_v,  r = Σ_vc u_vc x_vc, with the right socket mirrored to the left
    centre = functionals["centre_weights"] @ socket
    turned = socket * np.array([side, 1.0, 1.0])
    return centre, float(np.sum(functionals["radius_weights"] * turned))


@cache
def _functionals() -> Mapping[str, NumpyArray]:
    stored = read_archive("eyes")
    return {
        "socket": stored["socket"].astype(np.int64),
        "centre_weights": stored["centre_weights"].astype(np.float64),
        "radius_weights": stored["radius_weights"].astype(np.float64),
    }


@cache
def _unit_eye() -> tuple[
    Float[NumpyArray, "V 3"], Float[NumpyArray, "V 3"], Int[NumpyArray, "F 3"]
]:
    """Directions, colours and triangles of a ball of radius 1 that looks along +z."""
    polar = np.radians([angle for angle, _ in RINGS])
    around = 2 * np.pi * np.arange(MERIDIANS) / MERIDIANS
    ring = np.stack([np.cos(around), np.sin(around)], axis=1)
    circles = np.concatenate(
        [np.column_stack([np.sin(p) * ring, np.full(MERIDIANS, np.cos(p))]) for p in polar]
    )
    directions = np.concatenate([[[0.0, 0.0, 1.0]], circles, [[0.0, 0.0, -1.0]]])
    bands = np.repeat([colour for _, colour in RINGS], MERIDIANS, axis=0)
    colours = np.concatenate([[RINGS[0][1]], bands, [RINGS[-1][1]]])
    return directions, colours, _ball_triangles(len(RINGS), MERIDIANS)


def _ball_triangles(circles: int, meridians: int) -> Int[NumpyArray, "F 3"]:
    """Front pole 0, circles of `meridians` vertices, back pole last; counter-clockwise outside."""
    here = np.arange(meridians)
    after = (here + 1) % meridians
    last = 1 + circles * meridians
    front = np.column_stack([np.zeros_like(here), 1 + here, 1 + after])
    strips = []
    for circle in range(circles - 1):
        near, far = 1 + circle * meridians, 1 + (circle + 1) * meridians
        strips.append(np.column_stack([near + here, far + here, far + after]))
        strips.append(np.column_stack([near + here, far + after, near + after]))
    rim = last - meridians
    back = np.column_stack([np.full_like(here, last), rim + after, rim + here])
    return np.concatenate([front, *strips, back]).astype(np.int32)
