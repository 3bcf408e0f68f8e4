"""Measuring bodies: the posture, the readings, their derivatives."""

import csv
from pathlib import Path

import numpy as np
import public_data
import pytest
from solids import box, icosphere

from corporeal.anthropometry.corpulence import body_at_bmi
from corporeal.anthropometry.definitions import (
    COMPANIONS,
    DIMENSIONS,
    NAMES,
    READINGS,
    SHORT_NAMES,
    dimension,
    full_name,
)
from corporeal.anthropometry.kinds import Distance, Extent, Girth, Landmark, Mass
from corporeal.anthropometry.landmarks import FINGERTIPS
from corporeal.anthropometry.measure import measure
from corporeal.anthropometry.reading import UP, plan_for, read, read_value
from corporeal.anthropometry.sensitivity import sensitivity
from corporeal.anthropometry.shape_space import SLIDERS, ShapeSpace
from corporeal.anthropometry.standing import REACH_RETRACTION_DEG, standing_map, standing_pose
from corporeal.body.identity import Identity
from corporeal.body.measurements import Measurements
from corporeal.cli.console import measurement_table
from corporeal.errors import InputError
from corporeal.geometry import section_cpu
from corporeal.geometry.section import convex_tape_length, plane_section, section_loops
from corporeal.geometry.volume import enclosed_volume, volume_gradient
from corporeal.geometry.volume_cpu import volume_and_gradient
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.skinning.linear import LinearBlendSkinning
from corporeal.units import BODY_DENSITY, reading_unit

ANSUR = public_data.folder("ansur2")


@pytest.fixture(scope="module")
def model():
    return PhenotypeModel()


@pytest.fixture(scope="module")
def woman(model):
    return model.prepare({"gender": 0.0, "weight": 0.7})


def changed(identity, vertices, joints):
    return Identity(vertices, joints, identity.parameters)


def points_of(model, identity):
    skin = np.asarray(identity.rest_vertices, float)
    return standing_map(model.template)(skin, np.asarray(identity.joints, float))


def test_every_dimension_has_its_own_name_and_a_meaning():
    assert len(set(NAMES)) == len(DIMENSIONS)
    assert all(d.meaning and d.ansur for d in DIMENSIONS)
    assert all(full_name(short) == full for short, full in SHORT_NAMES.items())
    with pytest.raises(InputError, match="no measurement 'girth'"):
        full_name("girth")


def test_the_docs_list_every_dimension():
    page = Path(__file__).parents[1] / "docs/methods/measurements.md"
    text = page.read_text(encoding="utf-8")
    assert [name for name in NAMES if f"`{name}`" not in text] == []


@pytest.mark.data("ansur2")
def test_every_dimension_is_a_column_of_the_survey():
    with (ANSUR / "ansur2_male.csv").open(encoding="utf-8") as file:
        columns = next(csv.reader(file))
    assert {d.ansur for d in DIMENSIONS} <= set(columns)


def test_standing_points_are_those_of_linear_blend_skinning(model, woman):
    """The map must equal the deformer in the same pose, to float64 rounding."""
    points = points_of(model, woman)
    body = changed(woman, np.asarray(woman.rest_vertices, float), np.asarray(woman.joints, float))
    skinning, pose = LinearBlendSkinning(model.template), standing_pose(model.template)
    count = len(body.rest_vertices)
    assert np.abs(points[:count] - skinning.vertices(body, pose)).max() < 1e-6
    joints = skinning.world_from_joint(body, pose)[..., :3, 3]
    assert np.abs(points[count:-2] - joints).max() < 1e-9


def test_the_standing_map_is_linear_and_its_pull_back_its_transpose(model, woman):
    """⟨g, S x⟩ = ⟨Sᵀ g, x⟩ for random g and x."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(1)
    carry = standing_map(model.template)
    skin, joints = rng.standard_normal(woman.rest_vertices.shape), rng.standard_normal((52, 3))
    points = carry(skin, joints)
    assert np.allclose(carry(2 * skin, 2 * joints), 2 * points)
    weights = np.zeros(points.size)
    weights[rng.choice(points.size, 500)] = rng.standard_normal(500)
    weights[-8:] = 1.0
    by_vertex, by_joint = carry.pull_back(csr_array(weights[None]))
    assert (by_vertex @ skin.reshape(-1) + by_joint @ joints.reshape(-1))[0] == pytest.approx(
        weights @ points.reshape(-1), rel=1e-9
    )


def test_arms_hang_away_from_the_trunk_and_feet_stay(model, woman):
    points = points_of(model, woman)
    index = model.template.skeleton.index
    count = len(woman.rest_vertices)
    arm = points[count + index("right_wrist")] - points[count + index("right_shoulder")]
    assert 10 < np.degrees(np.arccos(-arm[1] / np.linalg.norm(arm))) < 25
    assert np.allclose(points[count + index("right_ankle")], woman.joints[index("right_ankle")])


def test_a_larger_copy_measures_proportionally_more(model, woman):
    """Lengths grow with s, area with s², mass and volume with s³."""
    s = 1.1
    small, large = (
        measure(changed(woman, k * woman.rest_vertices, k * woman.joints)) for k in (1.0, s)
    )
    for d in DIMENSIONS:
        power = 3 if isinstance(d.kind, Mass) else 1
        assert large[d.name] == pytest.approx(s**power * small[d.name], rel=1e-5), d.name
    assert large.surface_area == pytest.approx(s**2 * small.surface_area, rel=1e-5)
    assert large.bmi == pytest.approx(s * small.bmi, rel=1e-5)


def test_a_shifted_body_measures_the_same(woman):
    shift = np.array([0.3, -1.0, 2.0], np.float32)
    here, there = (
        measure(changed(woman, woman.rest_vertices + k * shift, woman.joints + k * shift))
        for k in (0.0, 1.0)
    )
    for name in NAMES:
        assert there[name] == pytest.approx(here[name], rel=1e-5), name


def test_mass_is_density_times_volume(model, woman):
    measured = measure(woman)
    skin = np.asarray(woman.rest_vertices, float)
    volume = enclosed_volume(skin, model.template.mesh.triangles)
    assert measured.volume == pytest.approx(volume)
    assert measured.mass == pytest.approx(BODY_DENSITY * volume)
    assert measured.bmi == pytest.approx(measured.mass / measured.stature**2)
    assert measured.stature == pytest.approx(np.ptp(skin[:, 1]), abs=2e-3)


@pytest.mark.parametrize(
    ("name", "loops"), [("waist_circumference", 1), ("thigh_circumference", 1)]
)
def test_a_girth_is_the_tape_around_the_loop_of_its_part(model, woman, name, loops):
    """Against the reference: cut the whole skin, take the loop through the landmark's side."""
    points = points_of(model, woman)
    plan = plan_for(model.template)
    kind = next(d.kind for d in DIMENSIONS if d.name == name)
    origin = plan.place(kind.at, points)
    skin = points[: len(woman.rest_vertices)]
    found = section_loops(plane_section(skin, model.template.mesh.triangles, origin, UP))
    # the loop nearest to the landmark, arms and the other leg being others
    nearest = min(found, key=lambda loop: np.linalg.norm(loop - origin, axis=1).min())
    assert len(found) > loops
    expected = convex_tape_length(nearest, UP)
    assert read(plan, kind, points).value == pytest.approx(expected, rel=1e-9)


def test_a_tape_around_all_is_longer_than_one_without_arms(model, woman):
    points, plan = points_of(model, woman), plan_for(model.template)
    chest = next(d.kind for d in DIMENSIONS if d.name == "chest_circumference")
    around_all = read(plan, Girth("whole", chest.at), points).value
    assert around_all > read(plan, chest, points).value + 0.1


@pytest.mark.parametrize(("gender", "bmi", "stature"), [(0.0, 47.0, 1.5), (1.0, 17.0, 1.95)])
def test_edges_out_of_reach_are_never_met(model, gender, bmi, stature):
    """Sections over the edges near their place on the template equal those over all edges."""
    body = body_at_bmi(model, gender, bmi, stature)
    points, plan = points_of(model, body), plan_for(model.template)
    for d in DIMENSIONS:
        if isinstance(d.kind, Girth | Extent):
            plane = (plan.place(d.kind.at, points), plan.normal(d.kind, points))
            all_met, near_met = (
                len(section_cpu.crossings(points, edges, *plane)[0])
                for edges in (plan.edges[d.kind.part], plan.edges_near(d.kind))
            )
            assert near_met == all_met, d.name


def test_values_alone_are_those_that_come_with_derivatives(model, woman):
    """Without a kernel, and with one: sums of some hundred lengths, so to the last digits."""
    points, plan = points_of(model, woman), plan_for(model.template)
    for d in (*DIMENSIONS, *COMPANIONS):
        if not isinstance(d.kind, Mass):
            value = read(plan, d.kind, points).value
            assert read_value(plan, d.kind, points) == pytest.approx(value, rel=1e-13), d.name


def test_a_body_is_measured_without_compiling(woman, monkeypatch):
    """The sections' kernel took several seconds of every first run."""

    def refused(*_):
        raise AssertionError("a kernel was asked for")

    monkeypatch.setattr(section_cpu, "read_section", refused)
    assert measure(woman)["chest_circumference"] > 0.5


def test_the_fullest_tape_is_the_largest_of_its_girths(model, woman):
    points, plan = points_of(model, woman), plan_for(model.template)
    hips = COMPANIONS[0].kind
    girths = [read(plan, Girth(hips.part, level), points).value for level in hips.levels]
    assert read(plan, hips, points).value == max(girths) > min(girths)
    assert girths[1] == pytest.approx(measure(woman)["buttock_circumference"], rel=1e-6)


def test_a_distance_along_an_axis_is_the_component_of_the_line(model, woman):
    points, plan = points_of(model, woman), plan_for(model.template)
    ends = dimension("foot_breadth").kind
    line = plan.place(ends.end, points) - plan.place(ends.start, points)
    assert read(plan, ends, points).value == pytest.approx(abs(line[0]), rel=1e-12)
    straight = read(plan, Distance(ends.start, ends.end), points).value
    assert straight == pytest.approx(np.linalg.norm(line), rel=1e-12)


def test_stretched_arms_draw_the_collar_bones_back(model, woman):
    """Each hand comes in by (1 − cos θ) of the collar bone's extent along x (they lie within 1 mm
    of the plane z = const, which adds sin θ of that)."""
    index, joints = model.template.skeleton.index, np.asarray(woman.joints, float)
    tips = np.asarray(woman.rest_vertices, float)[list(FINGERTIPS)]
    collars = [
        joints[index(f"{side}_shoulder")] - joints[index(f"{side}_collar")]
        for side in ("left", "right")
    ]
    shorter = sum(abs(c[0]) for c in collars) * (1 - np.cos(np.radians(REACH_RETRACTION_DEG)))
    expected = np.linalg.norm(tips[0] - tips[1]) - shorter
    aside = np.sin(np.radians(REACH_RETRACTION_DEG)) * sum(abs(c[2]) for c in collars)
    assert measure(woman)["span"] == pytest.approx(expected, abs=aside + 1e-4)


def test_a_plane_that_misses_its_part_is_refused(model, woman):
    """A plane through the middle finger's tip is below every part of the head."""
    low = Girth("head", Landmark((2119,), (1.0,)))
    with pytest.raises(InputError, match="does not cut the head"):
        read(plan_for(model.template), low, points_of(model, woman))


def test_derivatives_by_every_unknown_equal_central_differences(model):
    """Away from the sliders' kinks. At step 3e-4, float32 directions leave 1e-7/3e-4 = 3e-4, and a
    corner that joins or leaves a hull within the step about as much: 2e-3 covers both.
    """
    space = ShapeSpace(model, 0.3, 40.0)
    rng = np.random.default_rng(2)
    count = len(space.names)
    sliders = np.arange(count) < len(SLIDERS)
    away = rng.uniform(0.1, 0.4, count)
    signs = rng.choice([-1, 1], count)
    values = np.where(sliders, 0.5 + signs * away, np.where(space.low < 0, signs, 1) * away)
    exact, step = sensitivity(space, values).by_unknown, 3e-4
    for _ in range(6):
        way = rng.standard_normal(count)
        ends = [sensitivity(space, values + h * way).values for h in (step, -step)]
        numeric = (ends[0] - ends[1]) / (2 * step)
        scale = np.where(np.array(READINGS) == "mass", 50.0, 1.0)
        off = np.abs(exact @ way - numeric) / scale
        assert off.max() < 2e-3, READINGS[int(off.argmax())]


def test_the_space_makes_the_bodies_that_the_model_makes(model):
    space = ShapeSpace(model, 1.0, 30.0)
    rng = np.random.default_rng(4)
    values = rng.uniform(0.6 * np.maximum(space.low, -0.6), 0.6)
    identity = space.identity(values)
    measured = measure(Identity(identity.rest_vertices, identity.joints, {}))  # says no gender
    fast = sensitivity(space, values).values
    for name, value in zip(READINGS, fast, strict=True):
        assert measured[name] == pytest.approx(value, abs=2e-5 if name != "mass" else 2e-3)
    mirrored = identity.rest_vertices[model.template.mesh.mirror] * [-1, 1, 1]
    assert np.abs(mirrored - identity.rest_vertices).max() < 2e-3


def test_men_have_no_breast_volume(model):
    """What is read off a chest of a man is no measurement of his; a body that says nothing keeps
    the reading."""
    assert READINGS[-1] == "breast_volume"
    woman, man = (measure(model.prepare({"gender": gender})) for gender in (0.0, 1.0))
    assert set(woman.values) - set(man.values) == {"breast_volume"}
    unsaid = model.prepare({"gender": 1.0})
    unsaid = Identity(unsaid.rest_vertices, unsaid.joints, {})
    assert "breast_volume" in measure(unsaid).values


def test_every_reading_is_shown_in_the_unit_of_what_it_is():
    """A litre is a thousand millilitres, a metre a hundred centimetres; by kind, not by name."""
    units = {"m": (100.0, "cm"), "kg": (1.0, "kg"), "m³": (1e6, "ml")}
    for row in (*DIMENSIONS, *COMPANIONS):
        assert reading_unit(row.name)[:2] == units[row.unit], row.name
    table = measurement_table({"mass": 70.04, "breast_volume": 3.456e-4, "volume": 0.0693})
    assert [line.split()[-2:] for line in table.splitlines()] == [
        ["70.0", "kg"],
        ["69.3", "litres"],
        ["346", "ml"],
    ]


def test_the_compiled_volume_equals_the_reference():
    for vertices, triangles in (box(0.3, 0.5, 0.7), icosphere(2)):
        volume, gradient = volume_and_gradient(vertices, triangles)
        assert volume == pytest.approx(enclosed_volume(vertices, triangles), rel=1e-12)
        assert np.allclose(gradient, volume_gradient(vertices, triangles), atol=1e-14)


def test_foreign_bodies_and_batches_are_refused(woman):
    with pytest.raises(InputError, match="default body"):
        measure(changed(woman, woman.rest_vertices[:-1], woman.joints))
    with pytest.raises(InputError, match="takes one body"):
        measure(changed(woman, woman.rest_vertices[None], woman.joints[None]))


def test_the_noun_refuses_what_is_no_measurement(woman):
    measured = measure(woman)
    assert set(measured.circumferences) == {n for n in READINGS if n.endswith("circumference")}
    with pytest.raises(InputError, match="no measurement 'girth'"):
        measured["girth"]
    with pytest.raises(InputError, match="lack mass"):
        Measurements({k: v for k, v in measured.values.items() if k != "mass"})
    with pytest.raises(InputError, match="waist_circumference are not finite"):
        Measurements({**measured.values, "waist_circumference": float("nan")})
