"""Places on the default body that are painted: hairline, cheeks, palms, chest, limbs.

Fields belong to the vertices of the average adult, so that paint follows every shape. Those of the
face are drawn in its texture chart, where it lies flat: `across` is the distance from the middle
line and `down` grows from the forehead to the chin.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.appearance.noise import step
from corporeal.assets.default_body import load_default_body
from corporeal.body.mesh import Mesh
from corporeal.body.template import Template
from corporeal.geometry.surface import vertex_normals

MIDDLE_LINE = 0.4835
"""Where the face's middle line lies in the texture chart."""
FACE_CHART = (0.64, 0.14, 1.0, 0.83)
"""Part of the texture that the head fills: u, v of its corners."""
MOUTH_CHART = (0.75, 0.0, 0.94, 0.15)


@dataclass(frozen=True, eq=False)
class Regions:
    """Fields over the vertices; masks are 0 to 1."""

    joints: Float[NumpyArray, "V"]
    """Knuckles, elbows, knees, heels: where blood shows."""
    palms: Float[NumpyArray, "V"]
    """Palms and soles."""
    chest_hair: Float[NumpyArray, "V"]
    """A man's chest and the line to the navel."""
    limb_hair: Float[NumpyArray, "V"]
    """Forearms, shins and thighs."""
    sun: Float[NumpyArray, "V"]
    """Face, shoulders and arms, which the sun sees."""
    head: Float[NumpyArray, "V"]
    """1 on the head."""
    neck: Float[NumpyArray, "V"]
    """1 on the front of the neck, for its lines."""


@cache
def regions() -> Regions:
    """Of the default body."""
    template = load_default_body().template
    vertices = np.asarray(template.mesh.vertices, np.float64)
    normals = np.asarray(vertex_normals(vertices, template.mesh.triangles), np.float64)
    joints = {
        name: np.asarray(joint, np.float64)
        for name, joint in zip(template.skeleton.names, template.skeleton.joints, strict=True)
    }
    head = np.isin(template.part_labels, [template.part_names.index("head")]).astype(np.float64)
    return Regions(
        joints=_joints(vertices, joints),
        palms=_palms(vertices, normals, joints),
        chest_hair=_chest(vertices, normals, joints),
        limb_hair=_limbs(vertices, joints),
        sun=_sun(vertices, normals, joints, head),
        head=head,
        neck=_parts(template, "neck"),
    )


def vertex_uv(mesh: Mesh) -> Float[NumpyArray, "V 2"]:
    """One texture coordinate a vertex (seams have several; none crosses the face)."""
    uv = np.zeros((mesh.vertex_count, 2))
    if mesh.uv is not None and mesh.uv_triangles is not None:
        uv[mesh.triangles.ravel()] = mesh.uv[mesh.uv_triangles.ravel()]
    return uv


def _parts(template: Template, *names: str) -> Float[NumpyArray, "V"]:
    numbers = [template.part_names.index(name) for name in names]
    return np.isin(template.part_labels, numbers).astype(np.float64)


def scalp_field(
    vertices: Float[NumpyArray, "V 3"], uv: Float[NumpyArray, "V 2"], recession: float = 0.0
) -> Float[NumpyArray, "V"]:
    """Height above a hairline from the forehead over the temples and behind the ears to the nape,
    metres; far below it elsewhere. `vertices` may be of any shape in the default topology. Beside
    the middle of the forehead the hairline goes back by `recession`, metres, and it is nowhere
    quite straight."""
    forehead = _nearest(vertices, uv, 0.775, MIDDLE_LINE)
    temple = _nearest(vertices, uv, 0.806, MIDDLE_LINE + 0.096)
    sideburn = _nearest(vertices, uv, 0.845, MIDDLE_LINE + 0.126)
    ear = _nearest(vertices, uv, 0.845, MIDDLE_LINE + 0.142)
    inside = (
        (uv[:, 0] > FACE_CHART[0])
        & (uv[:, 1] > FACE_CHART[1])
        & (uv[:, 1] < FACE_CHART[3])
        & (vertices[:, 1] > ear[1] - 0.14)
    )
    back = vertices[inside, 2].min()
    # along the nape, up behind the ear, the sideburn before it, then the temple and the forehead
    line = (
        (back, ear[1] - 0.062),
        (ear[2] - 0.050, ear[1] - 0.055),
        (ear[2] - 0.015, ear[1] - 0.012),
        (sideburn[2] - 0.006, ear[1] - 0.002),
        (sideburn[2] + 0.010, ear[1] + 0.000),
        (sideburn[2] + 0.018, ear[1] + 0.016),
        (temple[2] - 0.003, temple[1] - 0.006),
        (temple[2] + 0.007, temple[1] + 0.018),
        (forehead[2] - 0.008, forehead[1] - 0.004),
        (forehead[2], forehead[1]),
    )
    depths, heights = np.array(line).T
    order = np.argsort(depths)
    line = np.interp(vertices[:, 2], depths[order], heights[order])
    across, down = np.abs(uv[:, 1] - MIDDLE_LINE), uv[:, 0]
    corner = np.exp(-(((across - 0.062) / 0.024) ** 2)) * (1 - step(down, 0.83, 0.86))
    uneven = 0.0012 * np.sin(across / 0.0067 + 1.0) + 0.0008 * np.sin(across / 0.0041)
    return np.where(inside, vertices[:, 1] - line - recession * corner - uneven, -0.5)


def _nearest(
    vertices: Float[NumpyArray, "V 3"], uv: Float[NumpyArray, "V 2"], u: float, v: float
) -> Float[NumpyArray, "3"]:
    return vertices[np.argmin(np.hypot(uv[:, 0] - u, uv[:, 1] - v))]


def _joints(
    vertices: Float[NumpyArray, "V 3"], joints: dict[str, NumpyArray]
) -> Float[NumpyArray, "V"]:
    mask = np.zeros(len(vertices))
    for name, joint in joints.items():
        reach = 0.013 if name[-1] in "123" else 0.05 if name.endswith(("elbow", "knee")) else 0.0
        if reach and not name.startswith("spine"):
            far = np.linalg.norm(vertices - joint, axis=1) / reach
            mask = np.maximum(mask, np.exp(-(far**2)))
    return mask


def _palms(
    vertices: Float[NumpyArray, "V 3"],
    normals: Float[NumpyArray, "V 3"],
    joints: dict[str, NumpyArray],
) -> Float[NumpyArray, "V"]:
    """Skin that faces down in the T-pose, on hands and feet."""
    wrist, ankle = joints["left_wrist"], joints["left_ankle"]
    hand = step(np.abs(vertices[:, 0]), wrist[0] + 0.005, wrist[0] + 0.03)
    foot = 1 - step(vertices[:, 1], ankle[1] - 0.05, ankle[1] - 0.03)
    return np.maximum(hand, foot) * step(-normals[:, 1], -0.1, 0.45)


def _chest(
    vertices: Float[NumpyArray, "V 3"],
    normals: Float[NumpyArray, "V 3"],
    joints: dict[str, NumpyArray],
) -> Float[NumpyArray, "V"]:
    x, y = np.abs(vertices[:, 0]), vertices[:, 1]
    chest, hip = joints["spine3"], joints["left_hip"]
    breast = np.exp(-((x / 0.085) ** 2) - ((y - chest[1] - 0.02) / 0.075) ** 2)
    line = np.exp(-((x / 0.018) ** 2)) * step(y, hip[1], hip[1] + 0.08)
    line *= 1 - step(y, chest[1] - 0.12, chest[1])
    return step(normals[:, 2], 0.0, 0.5) * np.maximum(breast, 0.8 * line)


def _limbs(
    vertices: Float[NumpyArray, "V 3"], joints: dict[str, NumpyArray]
) -> Float[NumpyArray, "V"]:
    x, y = np.abs(vertices[:, 0]), vertices[:, 1]
    elbow, wrist = joints["left_elbow"], joints["left_wrist"]
    knee, ankle, hip = joints["left_knee"], joints["left_ankle"], joints["left_hip"]
    forearm = step(x, elbow[0] - 0.03, elbow[0] + 0.05) * (1 - step(x, wrist[0] - 0.03, wrist[0]))
    leg = step(y, ankle[1], ankle[1] + 0.06) * (1 - step(y, hip[1] - 0.16, hip[1] - 0.06))
    kneecap = np.exp(-(((y - knee[1]) / 0.05) ** 2))
    return np.maximum(forearm, np.where(x < 0.35, leg * (1 - 0.7 * kneecap), 0))


def _sun(
    vertices: Float[NumpyArray, "V 3"],
    normals: Float[NumpyArray, "V 3"],
    joints: dict[str, NumpyArray],
    head: Float[NumpyArray, "V"],
) -> Float[NumpyArray, "V"]:
    x, y = np.abs(vertices[:, 0]), vertices[:, 1]
    shoulder = joints["left_shoulder"]
    arms = step(x, shoulder[0] - 0.02, shoulder[0] + 0.05) * step(normals[:, 1], -0.4, 0.3)
    top = step(y, shoulder[1] - 0.12, shoulder[1] + 0.02) * step(normals[:, 1], -0.3, 0.4)
    return np.clip(np.maximum(np.maximum(arms, 0.8 * top), head), 0, 1)
