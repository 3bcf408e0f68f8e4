"""The template's leg beside a real one: BodyParts3D, (c) The Database Center for Life Science.

One adult man's right leg (CC BY-SA 2.1 JP, for validation only): skin, bones, and most muscles (the
vastus lateralis and some of the shin are missing, so areas and volumes of muscle are lower bounds).
`python tests/test_anatomy_reference.py` prints the table of the documentation.
"""

from typing import NamedTuple

import numpy as np
import public_data
import pytest

from corporeal.anatomy.building.muscle import vertex_volumes
from corporeal.anatomy.template import layered_template
from corporeal.formats.stl import read_stl
from corporeal.geometry.surface_tree import SurfaceTree

DATA = public_data.folder("bodyparts3d")
STEP = 0.003
"""Of the grid on which areas are counted, metres."""
SHARES = (0.15, 0.35, 0.5, 0.65, 0.8)
"""Heights of the sections, as shares of the bone's length from its lower end: ten in all."""
SEGMENTS = {
    "tibia": ("right_ankle", "right_knee", "right_shin"),
    "femur": ("right_knee", "right_hip", "right_thigh"),
}
CALF = ("gastrocnemius", "soleus", "plantaris", "popliteus", "tibialis", "fibularis")
CALF += ("extensor hallucis longus", "extensor digitorum longus")
CALF += ("flexor hallucis longus", "flexor digitorum longus")
THIGH = ("sartorius", "semitendinosus", "semimembranosus", "pectineus", "adductor brevis", "vastus")
THIGH += ("adductor longus", "adductor magnus", "adductor minimus", "rectus femoris", "gracilis")
THIGH += ("biceps femoris", "tensor fasciae")
pytestmark = pytest.mark.data("bodyparts3d")


class Section(NamedTuple):
    """Areas inside one section of a leg, cm²."""

    skin: float
    bone: float
    flesh: float
    """Bone and muscle."""

    @property
    def muscle(self) -> float:
        return self.flesh - self.bone

    @property
    def fat(self) -> float:
        return self.skin - self.flesh


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


def section(height: float, middle: np.ndarray, surfaces: list[SurfaceTree]) -> Section:
    """Areas at `height` inside skin, bone and flesh of the leg at `middle`."""
    x = middle[0] + np.arange(-0.13, 0.13, STEP)
    z = middle[2] + np.arange(-0.16, 0.16, STEP)
    grid = np.stack(np.meshgrid(x, z), axis=-1).reshape(-1, 2)
    points = np.stack([grid[:, 0], np.full(len(grid), height), grid[:, 1]], axis=1)
    points = points[points[:, 0] * middle[0] > 0]  # one leg alone
    points = points[surfaces[0].winding(points) > 0.5]
    inside = [(s.winding(points) > 0.5).sum() for s in surfaces[1:]]
    return Section(*(1e4 * STEP**2 * float(count) for count in (len(points), *inside)))


def real_sections() -> dict[tuple[str, float], Section]:
    """Of the real leg, by bone and share of its length."""
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
    flesh = SurfaceTree(
        np.concatenate([bone, muscle]), np.concatenate([faces, muscle_faces + len(bone)])
    )
    surfaces = [skin, SurfaceTree(bone, faces), flesh]
    found = {}
    for name in SEGMENTS:
        ends = pieces[order.index(f"right {name}")]
        for share in SHARES:
            height = ends[:, 1].min() + share * np.ptp(ends[:, 1])
            found[name, share] = section(height, ends.mean(axis=0), surfaces)
    return found


def made_sections() -> dict[tuple[str, float], Section]:
    """Of the template's right leg, between the same joints."""
    template = layered_template("male")
    surfaces = [
        SurfaceTree(surface, template.triangles)
        for surface in (template.skin, template.bone, template.muscle)
    ]
    joints = dict(zip(template.body.skeleton.names, template.joints, strict=True))
    found = {}
    for name, (low, high, _) in SEGMENTS.items():
        for share in SHARES:
            place = (1 - share) * joints[low] + share * joints[high]
            found[name, share] = section(place[1], place, surfaces)
    return found


def muscle_volumes() -> dict[str, tuple[float, float]]:
    """Litres of muscle of calf and thigh: of the atlas's muscles, and of the template's layer."""
    template = layered_template("male")
    layer = vertex_volumes(template.prisms(), template.muscle, template.bone)
    index = np.genfromtxt(
        DATA / "muscles_index.csv", delimiter=",", names=True, dtype=None, encoding="utf-8"
    )
    found = {}
    for bone, words in (("tibia", CALF), ("femur", THIGH)):
        chosen = [
            "right" in row["name"] and any(word in row["name"] for word in words) for row in index
        ]
        atlas = 1e-3 * index["volume_cm3"][np.array(chosen)].sum()
        part = template.body.part(SEGMENTS[bone][2])
        found[bone] = (float(atlas), 1e3 * float(layer[part].sum()))
    return found


@pytest.fixture(scope="module")
def legs():
    return real_sections(), made_sections()


def test_ten_sections_of_the_leg_are_a_mans(legs):
    """Skin within an eighth everywhere and a twentieth on average; bone surface no thinner than
    bone and at most four times its area (it bridges tibia and fibula); muscle no less than what the
    atlas has, less a tenth, and fat between an eighth and a half of the section."""
    real, made = legs
    assert len(real) == 10
    ratios = np.array([made[k].skin / real[k].skin for k in real])
    assert np.abs(ratios - 1).max() < 0.125
    assert np.abs(ratios - 1).mean() < 0.05
    for key in real:
        assert 0.6 * real[key].bone < made[key].bone < 4 * real[key].bone
        assert made[key].flesh > 0.9 * real[key].flesh
        assert 0.12 < made[key].fat / made[key].skin < 0.5


def test_the_calf_muscle_is_as_thick_as_a_mans(legs):
    """Where the atlas has nearly all muscles, areas of bone and muscle agree within a quarter."""
    real, made = legs
    for share in (0.5, 0.65, 0.8):
        assert made["tibia", share].flesh == pytest.approx(real["tibia", share].flesh, rel=0.25)


def test_muscle_volumes_are_a_mans():
    """The calf's within a fifth of the atlas's; the thigh's above it, which lacks a quadriceps
    head, and by no more than that head and the spaces between muscles are."""
    volumes = muscle_volumes()
    assert volumes["tibia"][1] == pytest.approx(volumes["tibia"][0], rel=0.2)
    assert 1.0 < volumes["femur"][1] / volumes["femur"][0] < 2.0


if __name__ == "__main__":
    mine = made_sections()
    for key, theirs in real_sections().items():
        pairs = (
            (getattr(mine[key], k), getattr(theirs, k)) for k in ("skin", "bone", "muscle", "fat")
        )
        row = " | ".join(f"{own:.0f} / {other:.0f}" for own, other in pairs)
        print(f"| {key[0]} {100 * key[1]:.0f} % | {row} |")
    print(muscle_volumes())
