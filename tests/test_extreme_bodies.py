"""Bodies from BMI 16 to 48 stay sound: no new sharp folds, no new contacts, legs that taper."""

import json
from pathlib import Path

import numpy as np
import pytest

from corporeal.anthropometry.corpulence import body_at_bmi, body_size, corpulent_body
from corporeal.anthropometry.validity import surface_validity, touching_skin
from corporeal.assets.adiposity import read_adiposity
from corporeal.errors import AssetError, UnreachableError
from corporeal.geometry.intersection import intersecting_triangle_pairs
from corporeal.geometry.section import convex_tape_length, plane_section, section_loops
from corporeal.models.phenotype.model import PhenotypeModel

MODEL = PhenotypeModel()
TEMPLATE = MODEL.template
FAT = read_adiposity()
SHORT_NAMES = tuple(name.rpartition("/")[2] for name in FAT.names)
ROUNDING = 5e-6  # metres: half a stored step


def _validity(body, gender, age):
    """Against the same person of average build."""
    height = float(body.parameters["height"])
    base = corpulent_body(MODEL, gender, 0.0, age, height)
    return surface_validity(
        np.asarray(body.rest_vertices, float), np.asarray(base.rest_vertices, float), TEMPLATE
    )


def _leg_girths(body):
    """Tape girths square to the left leg, from below the crotch to the knee, metres."""
    index = TEMPLATE.skeleton.index
    hip, knee, ankle = (body.joints[index(f"left_{n}")] for n in ("hip", "knee", "ankle"))
    along = (ankle - hip) / np.linalg.norm(ankle - hip)
    girths = []
    for station in np.linspace(0.3, 1.0, 15):
        centre = hip + station * (knee - hip)
        segments = plane_section(body.rest_vertices, TEMPLATE.mesh.triangles, centre, along)
        loops = section_loops(segments)
        leg = min(loops, key=lambda loop, c=centre: np.linalg.norm(loop.mean(axis=0) - c))
        girths.append(convex_tape_length(leg, along))
    return np.array(girths)


def _check_body(gender, bmi, stature, age):
    body = body_at_bmi(MODEL, gender, bmi, stature, age)
    achieved_stature, achieved_bmi = body_size(body, MODEL)
    assert achieved_bmi == pytest.approx(bmi, rel=1e-3)
    assert achieved_stature == pytest.approx(stature, rel=1e-3)
    found = _validity(body, gender, age)
    assert len(found.new_contacts) == 0
    assert len(found.new_folds) == 0
    girths = _leg_girths(body)
    # millimetres: a thin leg's knee-cap, and a heavy one's top, which presses on the other leg
    assert np.diff(girths[4:]).max() < 0.006
    assert np.diff(girths[:5]).max() < 0.010
    assert girths[-4] < 0.5 * (girths[0] + girths[-1]) + 0.02  # no bulge above the knee


@pytest.mark.parametrize("gender", [0.0, 1.0], ids=["woman", "man"])
@pytest.mark.parametrize(
    ("bmi", "stature", "age"),
    [
        (16.0, 1.7, 45.0),
        (30.0, 1.6, 70.0),
        (40.0, 1.7, 20.0),
        (48.0, 1.5, 70.0),
        (48.0, 1.95, 20.0),
    ],
)
def test_extreme_bodies_are_sound(gender, bmi, stature, age):
    _check_body(gender, bmi, stature, age)


@pytest.mark.slow
@pytest.mark.parametrize("gender", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("age", [20.0, 45.0, 70.0])
@pytest.mark.parametrize("stature", [1.5, 1.65, 1.8, 1.95])
@pytest.mark.parametrize("bmi", np.arange(16.0, 50.0, 4.0))
def test_all_extreme_bodies_are_sound(gender, age, stature, bmi):
    _check_body(gender, bmi, stature, age)


@pytest.mark.parametrize("gender", [0.0, 1.0], ids=["woman", "man"])
@pytest.mark.parametrize("missing", [None, *SHORT_NAMES])
def test_mixtures_make_no_contacts(gender, missing):
    """Every region at full, and all but one: the corners of the box that a solver may search."""
    fat = {name: float(name != missing) for name in SHORT_NAMES}
    phenotype = {"gender": gender, "age": 40.0}
    body = MODEL.prepare(phenotype, fat)
    base = MODEL.prepare(phenotype)
    found = surface_validity(
        np.asarray(body.rest_vertices, float), np.asarray(base.rest_vertices, float), TEMPLATE
    )
    assert len(found.new_contacts) == 0


def test_targets_are_symmetric():
    mirrored = FAT.vertex_offsets[:, TEMPLATE.mesh.mirror] * np.array([-1, 1, 1], np.float32)
    np.testing.assert_allclose(mirrored, FAT.vertex_offsets, atol=2 * ROUNDING)


def test_lips_and_eyelids_do_not_move_and_hands_hardly():
    """Skin that touches skin must stay exactly where it is."""
    for part in ("inner_mouth", "left_eye_socket", "right_eye_socket"):
        assert not FAT.vertex_offsets[:, TEMPLATE.part(part)].any()
    fingers = TEMPLATE.part("left_hand")
    assert np.abs(FAT.vertex_offsets[:, fingers]).max() < 0.006


def test_feet_move_as_one_piece_with_their_joints():
    """The thighs turn the legs outwards; a foot is carried along, level and unbent."""
    thighs = SHORT_NAMES.index("adiposity-thighs")
    ankle = TEMPLATE.skeleton.index("left_ankle")
    joint = FAT.joint_offsets[thighs, ankle]
    assert joint[0] == pytest.approx(0.8 * np.tan(np.deg2rad(4.4)), abs=0.01)
    toes = np.flatnonzero(
        touching_skin(TEMPLATE) & (np.asarray(TEMPLATE.mesh.vertices)[:, 0] > 0.05)
    )
    toes = toes[np.asarray(TEMPLATE.mesh.vertices)[toes, 1] < 0.05]
    np.testing.assert_allclose(
        FAT.vertex_offsets[thighs, toes], np.broadcast_to(joint, (len(toes), 3)), atol=2 * ROUNDING
    )


def test_every_target_adds_volume():
    """At the average adult each region makes the body heavier, by a kilogram at least."""
    mass = {}
    for name in (None, *SHORT_NAMES):
        stature, bmi = body_size(MODEL.prepare({}, {name: 1.0} if name else {}), MODEL)
        mass[name] = bmi * stature**2
    assert all(mass[name] > mass[None] + 1.0 for name in SHORT_NAMES)


def test_legs_pushed_together_are_reported():
    """Thighs moved 2 cm across the middle plane must meet."""
    base = np.asarray(TEMPLATE.mesh.vertices, float)
    legs = np.concatenate([TEMPLATE.part("left_thigh"), TEMPLATE.part("right_thigh")])
    broken = base.copy()
    broken[legs, 0] -= 0.04 * np.sign(base[legs, 0])
    found = surface_validity(broken, base, TEMPLATE)
    assert len(found.new_contacts) > 10
    assert not found.is_sound


def test_a_spike_is_reported_as_a_fold():
    base = np.asarray(TEMPLATE.mesh.vertices, float)
    tip = TEMPLATE.part("belly")[0]
    broken = base.copy()
    broken[tip, 2] += 0.2
    found = surface_validity(broken, base, TEMPLATE)
    assert len(found.new_folds) > 0
    assert (found.new_folds == tip).any()


def test_contacts_inside_the_mouth_are_excused():
    """The mouth's inside pressed flat meets itself, as mouths do."""
    base = np.asarray(TEMPLATE.mesh.vertices, float)
    mouth = TEMPLATE.part("inner_mouth")
    closed = base.copy()
    closed[mouth, 1] += -1.2 * (base[mouth, 1] - base[mouth, 1].mean())
    assert len(intersecting_triangle_pairs(closed, TEMPLATE.mesh.triangles)) > 0
    assert len(surface_validity(closed, base, TEMPLATE).new_contacts) == 0


def test_a_body_is_sound_against_itself():
    base = np.asarray(TEMPLATE.mesh.vertices, float)
    assert surface_validity(base, base, TEMPLATE).is_sound


@pytest.mark.parametrize(("bmi", "stature", "word"), [(90.0, 1.7, "BMI"), (22.0, 3.1, "stature")])
def test_impossible_bodies_are_refused_with_the_range(bmi, stature, word):
    with pytest.raises(UnreachableError, match=f"{word} .* out of range"):
        body_at_bmi(MODEL, 1.0, bmi, stature)


def test_a_damaged_file_is_refused(tmp_path):
    package = Path(__file__).parents[1] / "src/corporeal/assets/data"
    data = bytearray((package / "adiposity.npz.xz").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "adiposity.npz.xz").write_bytes(data)
    (tmp_path / "adiposity.json").write_text((package / "adiposity.json").read_text())
    with pytest.raises(AssetError, match="damaged"):
        read_adiposity(tmp_path)


def test_the_manifest_names_its_source():
    package = Path(__file__).parents[1] / "src/corporeal/assets/data"
    manifest = json.loads((package / "adiposity.json").read_text())
    body = json.loads((package / "default_body.json").read_text())
    assert manifest["source_sha256"]["default_body.npz.xz"] == body["sha256"], (
        "the default body was rebuilt; run tools/build_adiposity.py"
    )
    assert manifest["licence"].startswith("CC0")
