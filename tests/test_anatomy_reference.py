"""The template's leg beside a real one: BodyParts3D, (c) The Database Center for Life Science.

One adult man's right leg (CC BY-SA 2.1 JP, for validation only): skin, bones, and most muscles (the
vastus lateralis and some of the shin are missing, so areas of muscle are lower bounds).
"""

from pathlib import Path

import numpy as np
import pytest

from corporeal.anatomy.template import layered_template
from corporeal.formats.stl import read_stl
from corporeal.geometry.surface_tree import SurfaceTree

DATA = Path(__file__).parents[1].parent / "shared/data/bodyparts3d"
STEP = 0.003
"""Of the grid on which areas are counted, metres."""
HEIGHTS = (0.35, 0.5, 0.65, 0.8)
"""Of the sections, as shares of the bone's length from its lower end."""
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="BodyParts3D is not beside the checkout")


def ours(points: np.ndarray) -> np.ndarray:
    """Metres, y up, +z front, +x left, from millimetres with −y front and z up."""
    return np.asarray(points, float)[:, [0, 2, 1]] * [1e-3, 1e-3, -1e-3]


def parts(file: str, wanted) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Joined meshes of the parts that `wanted` accepts, and each one's vertices."""
    with np.load(DATA / file) as stored:
        names, v, f = stored["names"].astype(str), stored["v_offsets"], stored["f_offsets"]
        vertices, faces = ours(stored["vertices_mm"]), stored["faces"]
    chosen = [i for i, name in enumerate(names) if wanted(name, vertices[v[i] : v[i + 1]])]
    pieces = [vertices[v[i] : v[i + 1]] for i in chosen]
    starts = np.cumsum([0] + [len(piece) for piece in pieces])
    triangles = [faces[f[i] : f[i + 1]] + starts[k] for k, i in enumerate(chosen)]
    return np.concatenate(pieces), np.concatenate(triangles).astype(np.int64), pieces


def areas(height: float, middle: np.ndarray, *surfaces: SurfaceTree) -> list[float]:
    """Area of the section at `height` inside the first surface and each further one, cm²."""
    x = middle[0] + np.arange(-0.13, 0.13, STEP)
    z = middle[2] + np.arange(-0.16, 0.16, STEP)
    grid = np.stack(np.meshgrid(x, z), axis=-1).reshape(-1, 2)
    points = np.stack([grid[:, 0], np.full(len(grid), height), grid[:, 1]], axis=1)
    points = points[points[:, 0] * middle[0] > 0]  # one leg alone
    points = points[surfaces[0].winding(points) > 0.5]
    inside = [(s.winding(points) > 0.5).sum() for s in surfaces[1:]]
    return [1e4 * STEP**2 * float(count) for count in (len(points), *inside)]


@pytest.fixture(scope="module")
def reference():
    """Skin, bones, and bones with muscles of the real leg; ends of its shin and thigh bone."""
    mesh = read_stl(DATA / "right_leg_skin_FMA7163.stl")
    skin = SurfaceTree(ours(np.asarray(mesh.vertices)), mesh.triangles)
    long_bones = ("right tibia", "right femur", "right fibula", "right patella")
    bone, faces, pieces = parts("bones.npz", lambda name, _: name.lower() in long_bones)
    with np.load(DATA / "bones.npz") as stored:
        order = [n.lower() for n in stored["names"].astype(str) if n.lower() in long_bones]
    muscle, muscle_faces, _ = parts(
        "muscles.npz",
        lambda _, v: bool(skin.winding(v.mean(axis=0, keepdims=True))[0] > 0.5),
    )
    bones = SurfaceTree(bone, faces)
    flesh = SurfaceTree(
        np.concatenate([bone, muscle]), np.concatenate([faces, muscle_faces + len(bone)])
    )
    ends = {name: pieces[order.index(name)] for name in ("right tibia", "right femur")}
    return skin, bones, flesh, ends


@pytest.fixture(scope="module")
def template_leg():
    template = layered_template("male")
    surfaces = [
        SurfaceTree(surface, template.triangles)
        for surface in (template.skin, template.bone, template.muscle)
    ]
    joints = dict(zip(template.body.skeleton.names, template.joints, strict=True))
    return surfaces, joints


@pytest.mark.parametrize(
    ("bone", "low", "high"),
    [("right tibia", "right_ankle", "right_knee"), ("right femur", "right_knee", "right_hip")],
)
def test_sections_of_the_leg_are_a_mans(reference, template_leg, bone, low, high):
    """Skin within a tenth; bone surface no thinner than bone and at most four times its area (it
    bridges tibia and fibula); muscle between what the atlas has and the skin."""
    skin, bones, flesh, ends = reference
    surfaces, joints = template_leg
    for share in HEIGHTS:
        bottom, top = ends[bone][:, 1].min(), ends[bone][:, 1].max()
        real = areas(bottom + share * (top - bottom), ends[bone].mean(axis=0), skin, bones, flesh)
        place = (1 - share) * joints[low] + share * joints[high]
        made = areas(place[1], place, *surfaces)
        assert made[0] == pytest.approx(real[0], rel=0.12)
        assert 0.6 * real[1] < made[1] < 4 * real[1]
        assert made[2] > 0.95 * real[2]
        assert made[2] < 0.85 * made[0]


def test_the_calf_muscle_is_as_thick_as_a_mans(reference, template_leg):
    """Where the atlas has nearly all muscles, areas of bone and muscle agree within a quarter."""
    skin, bones, flesh, ends = reference
    surfaces, joints = template_leg
    tibia = ends["right tibia"]
    for share in (0.5, 0.65, 0.8):
        height = tibia[:, 1].min() + share * np.ptp(tibia[:, 1])
        real = areas(height, tibia.mean(axis=0), skin, bones, flesh)
        place = (1 - share) * joints["right_ankle"] + share * joints["right_knee"]
        made = areas(place[1], place, *surfaces)
        assert made[2] == pytest.approx(real[2], rel=0.25)
