"""Skin is not of one colour: lips, brows, a shaved scalp, warm cheeks and knuckles, pale palms.

All of it is painted on the vertices of the default body, by masks from 0 to 1. Masks on the face
are drawn in its texture map, where the face lies flat: there `across` is the distance from the
middle line and `down` grows from the forehead to the chin.
"""

from typing import NamedTuple

import numpy as np

from corporeal._typing import Float, Float32, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.body.template import Template
from corporeal.geometry.surface import vertex_normals
from corporeal.scene.materials import Colour
from corporeal.scene.scene import DECAL_SIZE, Decal

_MIDDLE_LINE = 0.4835
"""Where the face's middle line lies in the texture map."""
_FACE = (0.72, 0.35, 1.0, 0.62)
"""Part of the texture map that the face fills: u, v of its corners."""
_EARS = (0.0, 0.54, 0.16, 0.64)


_DECAL = (0.79, 0.40, 0.94, 0.567)
"""Part of the texture map that lips, brows and lashes are drawn in."""


class _Face(NamedTuple):
    """Places on the face, in texture coordinates."""

    across: Float[NumpyArray, "*n"]
    down: Float[NumpyArray, "*n"]


class Complexion(NamedTuple):
    """Paint for the default body."""

    colours: Float32[NumpyArray, "V 3"]
    """Linear RGB reflectance."""
    gloss: Float32[NumpyArray, "V"]
    """Factor on the reflection of lights."""
    decal: Decal
    """Lips, brows and lashes, finer than the vertices are."""


def complexion(template: Template, tone: Colour, hair: Colour) -> Complexion:
    """Paint the default body in a skin tone and a hair colour, both linear RGB."""
    uv = _vertex_uv(template.mesh)
    vertices = np.asarray(template.mesh.vertices, np.float64)
    skin = np.asarray(tone, np.float64)
    scalp = _scalp(vertices, uv)
    layers = (
        (0.8 * _palms_and_soles(template, vertices), skin**0.55 * (0.78, 0.66, 0.60)),
        (0.75 * _blush(template, vertices, uv), skin * (1.0, 0.80, 0.78)),
        (scalp, 0.12 * skin + 0.88 * np.asarray(hair)),
    )
    colours = np.broadcast_to(skin, vertices.shape)
    for mask, colour in layers:
        colours = colours + mask[:, None] * (colour - colours)
    gloss = 1.0 - 0.75 * scalp
    return Complexion(colours.astype(np.float32), gloss.astype(np.float32), _decal(uv, skin, hair))


def _decal(uv: Float[NumpyArray, "V 2"], skin: Float[NumpyArray, "3"], hair: Colour) -> Decal:
    """Lips, brows and lashes as a picture: finer than the vertices are."""
    u, v = (np.linspace(_DECAL[k], _DECAL[2 + k], DECAL_SIZE) for k in range(2))
    down, across = np.meshgrid(u, np.abs(v - _MIDDLE_LINE))
    face = _Face(across, down)
    lips, dark = 0.85 * _lips(face), 0.85 * np.maximum(_brows(face), _lash_line(face))
    opacity = np.maximum(lips, dark)
    paint = np.empty((DECAL_SIZE, DECAL_SIZE, 4), np.float32)
    paint[..., :3] = np.where((lips > dark)[..., None], skin * (0.80, 0.50, 0.53), hair)
    paint[..., 3] = opacity
    places = (uv - _DECAL[:2]) / np.subtract(_DECAL[2:], _DECAL[:2])
    elsewhere = (uv[:, 0] < 0.6) | (uv[:, 1] < 0.15)
    places[elsewhere] = (5.0, 0.5)
    return Decal(paint, places)


def _vertex_uv(mesh: Mesh) -> Float[NumpyArray, "V 2"]:
    """One texture coordinate a vertex (seams have several; none crosses the face)."""
    uv = np.zeros((mesh.vertex_count, 2))
    if mesh.uv is not None and mesh.uv_triangles is not None:
        uv[mesh.triangles.ravel()] = mesh.uv[mesh.uv_triangles.ravel()]
    return uv


def _within(
    uv: Float[NumpyArray, "V 2"], box: tuple[float, float, float, float]
) -> Float[NumpyArray, "V"]:
    inside = (uv > box[:2]) & (uv < box[2:])
    return np.all(inside, axis=1).astype(np.float64)


def _step(field: Float[NumpyArray, "*n"], start: float, end: float) -> Float[NumpyArray, "*n"]:
    """Smoothly from 0 at `start` to 1 at `end`."""
    x = np.clip((field - start) / (end - start), 0, 1)
    return np.asarray(x * x * (3 - 2 * x))


def _lips(face: _Face) -> Float[NumpyArray, "*n"]:
    """Between two arcs that meet in the mouth's corners; the upper one has a Cupid's bow."""
    reach = np.clip(1 - (face.across / 0.0245) ** 2, 0, 1)
    bow = 0.0022 * np.exp(-((face.across / 0.0035) ** 2))
    upper = 0.9095 - 0.0115 * reach**0.75 + bow
    lower = 0.9095 + 0.0150 * reach**0.75
    return (reach > 0) * _step(np.minimum(face.down - upper, lower - face.down), -0.001, 0.002)


def _brows(face: _Face) -> Float[NumpyArray, "*n"]:
    """An arch over each eye that thins out towards the temple, of slanting hairs."""
    along = (face.across - 0.0135) / 0.047
    inward = np.clip(along, 0, 1)
    centre = 0.8205 - 0.0058 * np.sin(0.5 * np.pi * (inward / 0.62) ** 1.3)
    edge = 0.0036 - 0.0023 * inward - np.abs(face.down - centre)
    ends = _step(along, -0.03, 0.12) * (1 - _step(along, 0.8, 1.03))
    hairs = 0.95 + 0.05 * np.sin(4600 * face.across + 2600 * (face.down - centre))
    return ends * hairs * _step(edge, -0.0014, 0.0020)


def _lash_line(face: _Face) -> Float[NumpyArray, "*n"]:
    """A dark line along the upper lid's edge."""
    along = (face.across - 0.0345) / 0.0130
    edge = 0.8382 - 0.0022 * np.clip(1 - along**2, 0, 1)
    ends = 1 - _step(np.abs(along), 0.7, 1.0)
    return ends * (1 - _step(np.abs(face.down - edge), 0.0006, 0.0013))


def _scalp(
    vertices: Float[NumpyArray, "V 3"], uv: Float[NumpyArray, "V 2"]
) -> Float[NumpyArray, "V"]:
    """Above a hairline from the forehead over the temples and behind the ears to the nape."""
    forehead = _nearest(vertices, uv, 0.768, _MIDDLE_LINE)
    temple = _nearest(vertices, uv, 0.812, _MIDDLE_LINE + 0.105)
    ear = _nearest(vertices, uv, 0.845, _MIDDLE_LINE + 0.142)
    head = vertices[:, 1] > ear[1] - 0.12
    back = vertices[head, 2].min()
    depths = [back, ear[2] - 0.035, ear[2] + 0.012, temple[2], forehead[2]]
    heights = [ear[1] - 0.055, ear[1] - 0.03, ear[1] + 0.03, temple[1], forehead[1]]
    line = np.interp(vertices[:, 2], depths, heights)
    return head * (1 - _within(uv, _EARS)) * _step(vertices[:, 1] - line, -0.008, 0.02)


def _nearest(
    vertices: Float[NumpyArray, "V 3"], uv: Float[NumpyArray, "V 2"], u: float, v: float
) -> Float[NumpyArray, "3"]:
    return vertices[np.argmin(np.hypot(uv[:, 0] - u, uv[:, 1] - v))]


def _blush(
    template: Template,
    vertices: Float[NumpyArray, "V 3"],
    uv: Float[NumpyArray, "V 2"],
) -> Float[NumpyArray, "V"]:
    """Where blood shows: cheeks, nose, ears, knuckles, elbows, knees, heels."""
    face = _Face(np.abs(uv[:, 1] - _MIDDLE_LINE), uv[:, 0])
    cheek = np.exp(-(((face.across - 0.055) / 0.022) ** 2) - ((face.down - 0.872) / 0.016) ** 2)
    nose = np.exp(-((face.across / 0.012) ** 2) - ((face.down - 0.872) / 0.009) ** 2)
    mask = 0.45 * _within(uv, _FACE) * np.maximum(cheek, nose) + 0.5 * _within(uv, _EARS)
    joints = np.asarray(template.skeleton.joints, np.float64)
    for name, joint in zip(template.skeleton.names, joints, strict=True):
        reach = 0.013 if name[-1] in "123" else 0.05 if name.endswith(("elbow", "knee")) else 0.0
        if reach and not name.startswith("spine"):
            far = np.linalg.norm(vertices - joint, axis=1) / reach
            mask = np.maximum(mask, 0.5 * np.exp(-(far**2)))
    return np.clip(mask, 0, 1)


def _palms_and_soles(
    template: Template, vertices: Float[NumpyArray, "V 3"]
) -> Float[NumpyArray, "V"]:
    """Skin that faces down in the T-pose, on hands and feet."""
    joints = np.asarray(template.skeleton.joints, np.float64)
    normals = vertex_normals(vertices, template.mesh.triangles)
    wrist = joints[template.skeleton.index("left_wrist")]
    ankle = joints[template.skeleton.index("left_ankle")]
    hand = _step(np.abs(vertices[:, 0]), wrist[0] + 0.005, wrist[0] + 0.03)
    foot = 1 - _step(vertices[:, 1], ankle[1] - 0.05, ankle[1] - 0.03)
    return np.maximum(hand, foot) * _step(-normals[:, 1], -0.1, 0.45)
