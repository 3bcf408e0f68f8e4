"""Looks: skin on its scale, paint where it belongs, faces, hair, worn assets, textures in files."""

import io
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from glb_reader import GlbReader
from PIL import Image
from public_data import folder as data_folder

from corporeal.appearance.appearance import SKIN_NAMES, Appearance, read_appearance
from corporeal.appearance.dress import faced_identity, looks_of, with_face
from corporeal.appearance.eye_paint import eyes
from corporeal.appearance.faces import (
    expression_morph,
    expression_names,
    face_offsets,
    face_sliders,
    random_face,
    target_weights,
)
from corporeal.appearance.following import soft_part_places
from corporeal.appearance.hair import hair_parts
from corporeal.appearance.random_looks import random_appearance
from corporeal.appearance.resolving import Wearer, resolve
from corporeal.appearance.skin_paint import skin_material
from corporeal.appearance.skin_tone import skin_colour, skin_lab
from corporeal.appearance.texels import body_texels, surface_texels
from corporeal.appearance.wear import base_vertices, fitted
from corporeal.assets.default_body import load_default_body
from corporeal.body.attachment import SkinBinding
from corporeal.body.colours import (
    lab_from_linear,
    linear_from_srgb,
    srgb_from_linear,
    typology_angle_deg,
)
from corporeal.body.identity import Identity
from corporeal.body.material import Material
from corporeal.body.mesh import Mesh
from corporeal.errors import FormatError, InputError
from corporeal.formats.gltf import write_glb
from corporeal.formats.mhclo import read_mhclo
from corporeal.pipelines.presentation import LookOptions
from corporeal.pipelines.results import still
from corporeal.scene.camera import Camera
from corporeal.scene.raster import render
from corporeal.scene.scene import Actor, Scene, Surface
from corporeal.scene.textures import SurfaceTexture

MAN, WOMAN = Wearer(1.0, 30.0), Wearer(0.0, 30.0)


@pytest.mark.quick
@pytest.mark.parametrize("angle_deg", [-70.0, -40.0, 0.0, 33.0, 60.0])
@pytest.mark.parametrize("undertone", [-1.0, 0.5])
def test_a_skin_colour_has_the_angle_that_was_asked_for(angle_deg: float, undertone: float):
    """L* = 50 + b* tan ITA, through CIELAB, linear RGB and back."""
    assert typology_angle_deg(skin_lab(angle_deg, undertone)) == pytest.approx(angle_deg, abs=1e-9)
    back = lab_from_linear(skin_colour(angle_deg, undertone))
    assert typology_angle_deg(back) == pytest.approx(angle_deg, abs=1e-3)


def test_srgb_comes_back_and_white_is_white():
    light = np.linspace(0, 1, 101)
    np.testing.assert_allclose(linear_from_srgb(srgb_from_linear(light)), light, atol=1e-9)
    np.testing.assert_allclose(lab_from_linear(np.ones(3)), [100, 0, 0], atol=0.02)


def test_an_appearance_survives_json(tmp_path: Path):
    asked = Appearance(
        skin=-20.0, hair="bun", face=(("nose-hump", 0.5),), expression=(("jawOpen", 1.0),)
    )
    file = tmp_path / "look.json"
    file.write_text(json.dumps(asked.plain()))
    assert read_appearance(file) == asked
    assert Appearance.of({"skin": "deep"}).skin == SKIN_NAMES["deep"]


@pytest.mark.parametrize(
    "values",
    [
        {"skn": 1},
        {"skin": 200},
        {"skin": "mauve"},
        {"skin": float("nan")},
        {"hair": "mohawk"},
        {"freckles": [1]},
        {"face": {"nose-hump": 7}},
        {"face": {"nose-hump": True}},
        {"wear": "shirt.mhclo"},
        {"expression": 3},
    ],
)
def test_what_is_no_appearance_is_refused(values: dict):
    with pytest.raises(InputError):
        Appearance.of(values)


def test_a_file_that_is_no_appearance_is_refused(tmp_path: Path):
    for text in ("[1]", "{", "[" * 3000):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(InputError):
            read_appearance(tmp_path / "x.json")


def test_flags_change_what_they_name(tmp_path: Path):
    (tmp_path / "a.json").write_text('{"hair": "bun", "skin": 10, "freckles": 0.2}')
    shown = LookOptions(
        appearance=tmp_path / "a.json",
        skin="deep",
        look=("freckles=0.7", "hair-colour=red"),
        expression=("jawOpen=0.5",),
    ).presentation()
    look = shown.appearance
    assert (look.hair, look.skin, look.freckles) == ("bun", SKIN_NAMES["deep"], 0.7)
    assert (look.hair_colour, look.expression) == ("red", (("jawOpen", 0.5),))
    with pytest.raises(InputError, match="NAME=VALUE"):
        LookOptions(look=("freckles",)).presentation()


def test_texels_reproduce_a_linear_field():
    """On a square of two triangles a field linear in space is linear in the texture."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    mesh = Mesh(corners, triangles, None, corners[:, :2].copy(), triangles)
    texels = surface_texels(mesh, 16)
    assert len(texels.rows) == 256
    np.testing.assert_allclose(texels.values(corners[:, 0]), texels.u, atol=1e-6)
    np.testing.assert_allclose(texels.values(corners[:, 1]), texels.v, atol=1e-6)


def covered(material: Material, wearer: Wearer, part: str) -> np.ndarray:
    """Linear RGB of the texels of a part of the body."""
    template = load_default_body().template
    texels = body_texels(len(material.colour))
    inside = np.zeros(template.mesh.vertex_count)
    inside[template.part(part)] = 1
    rows = texels.values(inside) > 0.99
    pixels = material.colour[texels.rows[rows], texels.columns[rows], :3]
    return linear_from_srgb(pixels / 255.0)


def test_skin_keeps_its_angle_and_its_seed():
    """The median of a thigh, which has no marks of its own, is within a class of the scale."""
    for angle_deg in (-50.0, 0.0, 50.0):
        look = resolve(Appearance(skin=angle_deg, seed=3), WOMAN)
        material = skin_material(look, 512)
        median = np.median(covered(material, WOMAN, "left_thigh"), axis=0)
        assert typology_angle_deg(lab_from_linear(median)) == pytest.approx(angle_deg, abs=9)
    again = skin_material.__wrapped__(look, 512)
    np.testing.assert_array_equal(again.colour, material.colour)
    other = skin_material(resolve(Appearance(skin=50.0, seed=4), WOMAN), 512)
    assert (other.colour != material.colour).any()


def test_clothes_are_of_the_wearer():
    """A man's chest is bare by default, a woman's and an unknown person's is not."""
    for wearer, dressed in ((MAN, False), (WOMAN, True), (Wearer(), True)):
        material = skin_material(resolve(Appearance(cloth_colour="wine"), wearer), 512)
        chest = np.median(covered(material, wearer, "left_breast"), axis=0)
        assert (chest[1] < 0.06) == dressed
        hips = np.median(covered(material, wearer, "left_buttock"), axis=0)
        assert hips[1] < 0.06
    with pytest.raises(InputError, match="texels"):
        skin_material(resolve(Appearance(), MAN), 300)


def test_sliders_choose_the_target_of_their_sign():
    assert target_weights({"nose-hump": 0.5}) == {"nose/nose-hump-incr": 0.5}
    assert target_weights({"nose-hump": -0.25}) == {"nose/nose-hump-decr": 0.25}
    both = target_weights({"eye-scale": 1.0})
    assert set(both) == {"eyes/l-eye-scale-incr", "eyes/r-eye-scale-incr"}
    with pytest.raises(InputError, match="no face slider"):
        target_weights({"nose-jump": 1.0})


def test_random_faces_are_bounded_repeatable_and_of_the_head_alone():
    sliders = random_face(7)
    assert sliders == random_face(7) != random_face(8)
    assert random_face(0) == {}
    for name, value in random_face(9, 1.5).items():
        assert abs(value) <= min(1.0, 1.5 * 1.4 * face_sliders()[name].width + 1e-12)
    offsets = face_offsets(Appearance(face_seed=7, african=1.0, asian=0.0, european=0.0), WOMAN)
    template = load_default_body().template
    for part in ("left_hand", "belly", "left_foot", "chest"):
        assert np.abs(offsets[template.part(part)]).max() < 2e-3
    assert 2e-3 < np.abs(offsets).max() < 0.05


def test_expressions_do_what_their_names_say():
    template = load_default_body().template
    count, look = template.mesh.vertex_count, Appearance()
    rest = np.asarray(template.mesh.vertices)
    blink = expression_morph("eyeBlinkLeft", look, count)
    moved = np.linalg.norm(blink, axis=1) > 1e-4
    assert moved.any()
    assert (rest[moved, 0] > 0).all()
    jaw = expression_morph("jawOpen", look, count)
    assert jaw[:, 1].min() < -0.008
    assert len(expression_names()) == len(set(expression_names())) >= 20
    with pytest.raises(InputError, match="no expression"):
        face_offsets(Appearance(expression=(("wink", 1.0),)), WOMAN)


def test_a_face_turns_with_the_head(average: Identity):
    """Offsets of the rest pose are turned by the joints: in a body turned about the vertical by ψ,
    by exactly that."""
    template = load_default_body().template
    looks = looks_of(template, average, Appearance(face_seed=4, hair="bald"), 512)
    turn = 0.7
    plain = still(template, average, turn)
    gap = np.asarray(with_face(plain, looks).vertices[0]) - np.asarray(plain.vertices[0])
    c, s = math.cos(turn), math.sin(turn)
    about_y = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    head = np.flatnonzero(template.weights.dense()[:, template.skeleton.index("head")] > 0.9999)
    assert len(head) > 1000
    assert looks.offsets is not None
    np.testing.assert_allclose(gap[head], looks.offsets[head] @ about_y.T, atol=2e-6)


def test_eyes_look_where_they_are_told(average: Identity):
    """The front pole of a ball that looks α to the left and β up: (sin α cos β, sin β, …)."""
    look = resolve(Appearance(gaze_across=20.0, gaze_up=10.0), WOMAN)
    for eye in eyes(average, look):
        ball = np.asarray(eye.mesh.vertices, np.float64)
        ahead = ball[0] - ball[-1]
        ahead /= np.linalg.norm(ahead)
        a, b = math.radians(20), math.radians(10)
        expected = [math.sin(a) * math.cos(b), math.sin(b), math.cos(a) * math.cos(b)]
        np.testing.assert_allclose(ahead, expected, atol=1e-4)


@pytest.mark.parametrize("style", ["cropped", "short", "bun", "long"])
def test_hair_grows_with_the_head(average: Identity, style: str):
    """A body 1.2 times as large has hair as far out as its own head; all of it is near the head,
    or hangs behind it."""
    look = resolve(Appearance(hair=style), WOMAN)  # pyright: ignore[reportArgumentType]
    rest = np.asarray(average.rest_vertices, np.float64)
    skull = rest[load_default_body().template.part("head")]
    hair = np.concatenate([np.asarray(p.mesh.vertices) for p in hair_parts(average, look)])
    assert hair[:, 1].max() > skull[:, 1].max()
    assert hair[:, 1].max() < skull[:, 1].max() + 0.05
    assert np.abs(hair[:, 0]).max() < 0.16
    large = replace(average, rest_vertices=(1.2 * rest).astype(np.float32))
    more = np.concatenate([np.asarray(p.mesh.vertices) for p in hair_parts(large, look)])
    assert more[:, 1].max() > 1.2 * skull[:, 1].max()


def test_looks_drawn_by_seed_are_whole():
    for seed in range(40):
        drawn = random_appearance(seed, MAN if seed % 2 else WOMAN)
        assert Appearance.of(drawn.plain()) == drawn
        assert drawn == random_appearance(seed, MAN if seed % 2 else WOMAN)


def test_soft_parts_are_handed_the_flesh_below(average: Identity):
    """x = LBS(part) + Σ_k s_k (skin_k − LBS(skin)_k): nothing more for plain blending, and all of a
    constant displacement of the skin."""
    template = load_default_body().template
    look = resolve(Appearance(hair="long"), WOMAN)
    part = next(p for p in hair_parts(average, look) if p.binding is not None)
    assert part.binding is not None
    full = replace(part, binding=replace(part.binding, shares=np.ones_like(part.binding.shares)))
    take = still(template, average, 0.4)
    plain = soft_part_places(full, take, 0)
    moved = replace(take, vertices=np.asarray(take.vertices) + np.float32([0.0, 0.02, 0.01]))
    np.testing.assert_allclose(
        soft_part_places(full, moved, 0) - plain,
        np.tile([0, 0.02, 0.01], (len(plain), 1)),
        atol=1e-5,
    )
    rows = np.arange(6.0).reshape(1, 2, 3)
    shares, carriers = np.array([[0.25, 0.75]]), np.array([[0, 1]])
    binding = SkinBinding(part.binding.weights, carriers, shares)
    np.testing.assert_allclose(binding.carried(rows)[0, 0], 0.25 * rows[0, 0] + 0.75 * rows[0, 1])


def asset(folder: Path, **changes: str) -> Path:
    """A triangle on three vertices of the trunk."""
    lines = {
        "name": "name patch",
        "obj_file": "obj_file patch.obj",
        "x_scale": "x_scale 5399 11998 2.0",
        "verts": "verts 0\n100 200 300 0.2 0.3 0.5 0.1 0.0 0.0\n100\n200 300 400 1.0 0.0 0.0 0 0 0",
        "delete_verts": "delete_verts\n10 - 12 20",
    }
    (folder / "patch.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    path = folder / "patch.mhclo"
    path.write_text("\n".join((lines | changes).values()) + "\n")
    return path


def test_an_asset_is_bound_as_its_file_says(tmp_path: Path, average: Identity):
    """Σ w b + s ∘ o with s = |Δx| / 2, on vertices that do not turn on the way to the T-pose."""
    read = read_mhclo(asset(tmp_path))
    assert (read.name, read.hidden.tolist()) == ("patch", [10, 11, 12, 20])
    base = base_vertices(np.asarray(average.rest_vertices))
    places = fitted(read, base)
    scale = abs(base[5399, 0] - base[11998, 0]) / 2.0
    expected = 0.2 * base[100] + 0.3 * base[200] + 0.5 * base[300]
    np.testing.assert_allclose(places[0], expected + np.array([0.1 * scale, 0, 0]), atol=1e-6)
    np.testing.assert_allclose(places[1], base[100], atol=1e-9)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("obj_file", "obj_file ../../etc/patch.obj", "beside it"),
        ("obj_file", "obj_file /etc/passwd", "beside it"),
        ("verts", "verts 0\n100 200 99999 1 0 0 0 0 0\n1\n2", "base vertex"),
        ("verts", "verts 0\n100 200 300 nan 0 0 0 0 0\n1\n2", "finite"),
        ("verts", "verts 0\n100 200\n1\n2", "expected 1 or 9"),
        ("verts", "verts 0\n1\n2", "surface has 3"),
        ("verts", "verts 0", "binds no vertices"),
        ("x_scale", "x_scale 1 2 0.0", "out of range"),
        ("x_scale", "x_scale one", "two vertices"),
        ("delete_verts", "delete_verts\n5 - 99999999999999", "hidden"),
    ],
)
def test_hostile_assets_are_refused(tmp_path: Path, key: str, value: str, words: str):
    with pytest.raises(FormatError, match=words):
        read_mhclo(asset(tmp_path, **{key: value}))


@pytest.mark.data("makehuman")
def test_community_assets_lie_around_the_body(average: Identity):
    """Clothes keep within a few centimetres of the skin, and suits hide some of it."""
    from scipy.spatial import KDTree

    folder = data_folder("makehuman") / "assets"
    files = sorted(folder.rglob("*.mhclo"))
    assert len(files) == 8
    rest = np.asarray(average.rest_vertices, np.float64)
    base = base_vertices(rest)
    for file in files:
        read = read_mhclo(file)
        apart, _ = KDTree(rest).query(fitted(read, base))
        assert np.quantile(apart, 0.9) < 0.06, file.name
        assert (len(read.hidden) > 0) == ("suit" in file.name or "shoes" in file.name), file.name


def test_a_glb_carries_pictures_and_no_vertex_colours(tmp_path: Path, average: Identity):
    template = load_default_body().template
    looks = looks_of(template, average, Appearance(hair="long"), 512)
    hidden = np.zeros(len(template.mesh.triangles), bool)
    hidden[:1000] = True
    looks = replace(looks, hidden=hidden)
    path = tmp_path / "a.glb"
    write_glb(path, template, faced_identity(average, looks), looks=looks)
    glb = GlbReader(path)
    content = glb.json
    body = next(m for m in content["meshes"] if m["name"] == "body")["primitives"][0]
    assert "COLOR_0" not in body["attributes"]
    indices = content["accessors"][body["indices"]]["count"]
    assert indices == 3 * (len(template.mesh.triangles) - 1000)
    names = {image["name"] for image in content["images"]}
    assert {"skin_colour", "skin_normal", "skin_roughness", "eye_colour"} <= names
    view = content["bufferViews"][content["images"][0]["bufferView"]]
    start = view.get("byteOffset", 0)
    picture = Image.open(io.BytesIO(bytes(glb.binary[start : start + view["byteLength"]])))
    assert picture.size == (512, 512)
    assert looks.material is not None
    apart = np.asarray(picture, float) - looks.material.colour[..., :3]
    assert np.abs(apart).mean() < 3  # JPEG
    skinned = [n["name"] for n in content["nodes"] if "skin" in n]
    assert skinned == ["body", "upper_teeth", "lower_teeth", "tongue", "lashes", "hair_curtain"]


def quad(material: Material) -> Surface:
    """Two metres square, facing +z."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], float)
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    uv = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], float)
    texture = SurfaceTexture(material, np.arange(4), triangles, uv)
    return Surface(corners, triangles, np.full((4, 3), 0.5), texture=texture)


def test_pictures_lie_where_their_coordinates_say():
    """Left red, right blue; what is transparent shows the backdrop."""
    colour = np.zeros((64, 64, 4), np.uint8)
    colour[:, :32, 0], colour[:, 32:, 2], colour[..., 3] = 200, 200, 255
    colour[:32, :32, 3] = 0
    rough = np.full((64, 64), 255, np.uint8)
    material = Material("test", "other", colour, rough, cutout=True)
    camera = Camera((0.0, 0.0, 6.0), (0.0, 0.0, 0.0))
    seen = render(Scene((Actor((quad(material),)),), camera, ground_height=None), 60, 60)
    bare = render(Scene((), camera, ground_height=None), 60, 60)
    red, blue = seen[40, 20].astype(int), seen[40, 40].astype(int)
    assert red[0] > red[2] + 60
    assert blue[2] > blue[0] + 60
    np.testing.assert_allclose(seen[20, 20].astype(int), bare[20, 20].astype(int), atol=1)
    whole = render(
        Scene((Actor((quad(replace(material, cutout=False)),)),), camera, ground_height=None),
        60,
        60,
    )
    assert whole[20, 20][0] > whole[20, 20][2] + 60


def test_teeth_open_with_the_jaw_and_lashes_close_with_the_lid(average: Identity):
    """Morph targets of the skin carry them: lower teeth go down, upper ones stay, and the lashes of
    the lid that closes move while the others do not."""
    template = load_default_body().template
    count, look = template.mesh.vertex_count, Appearance()
    parts = {p.name: p for p in looks_of(template, average, look, 512).parts}
    jaw = expression_morph("jawOpen", look, count)
    moved = {name: parts[name].binding.carried(jaw) for name in ("upper_teeth", "lower_teeth")}
    assert moved["lower_teeth"][:, 1].max() < -0.008
    assert np.abs(moved["upper_teeth"]).max() < 0.002
    blink = parts["lashes"].binding.carried(expression_morph("eyeBlinkLeft", look, count))
    left = np.asarray(parts["lashes"].mesh.vertices)[:, 0] > 0
    assert np.abs(blink[left]).max() > 0.004
    assert np.abs(blink[~left]).max() == 0


def test_clothes_smooth_the_skin_in_engine_files_too(average: Identity):
    """Under painted cloth the exported rest shape is smoothed, by no more than 12 mm; bare skin is
    not."""
    from corporeal.pipelines.presentation import Presentation
    from corporeal.pipelines.results import engine_looks, looks_for

    template = load_default_body().template
    shown = Presentation(Appearance(hair="bald"), 512)
    plain, cloth = (f(template, average, shown) for f in (looks_for, engine_looks))
    assert plain.offsets is not None
    assert cloth.offsets is not None
    assert plain.coverage is not None
    moved = np.linalg.norm(cloth.offsets - plain.offsets, axis=1)
    assert 0.001 < moved[template.part("left_breast")].max() <= 0.0125
    assert moved[plain.coverage <= 0].max() == 0
