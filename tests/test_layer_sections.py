"""Sections and skinfold sites of layers: closed forms, and people beside published data."""

import numpy as np
import pytest
from solids import circle, tube

from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.template import layered_template
from corporeal.anthropometry.corpulence import body_at_bmi
from corporeal.anthropometry.solve import solve_measurements
from corporeal.body.layers import Layers
from corporeal.body.tissues import UNLAYERED_MUSCLE, unlayered_muscle
from corporeal.errors import InputError
from corporeal.evaluation.layer_sections import (
    SECTIONS,
    SITES,
    Place,
    fat_thickness,
    limb_section,
)
from corporeal.models.phenotype.model import PhenotypeModel

CORNERS = 96
JOINTS = {
    "left_hip": np.array([0.0, 0.4, 0.0]),
    "left_knee": np.array([0.0, -0.4, 0.0]),
    "right_hip": np.array([-0.2, 0.4, 0.0]),
}


def tubes(*radii: float) -> Layers:
    """Skin, muscle and bone as prisms on regular 96-gons about the y axis."""
    surfaces = [tube(circle(radius, CORNERS), 1.0) for radius in radii]
    (skin, triangles), (muscle, _), (bone, _) = surfaces
    return Layers(skin, muscle, bone, triangles, np.ones(len(skin), bool))


def polygon(radius: float) -> float:
    """Area of the regular n-gon, n/2 r² sin(2π/n)."""
    return CORNERS / 2 * radius**2 * np.sin(2 * np.pi / CORNERS)


def test_areas_of_concentric_tubes():
    """Fat, muscle and bone are the differences of three n-gons."""
    found = limb_section(tubes(0.09, 0.06, 0.02), JOINTS, Place("left_hip", "left_knee", 0.3))
    assert found.bone == pytest.approx(polygon(0.02), rel=1e-9)
    assert found.muscle == pytest.approx(polygon(0.06) - polygon(0.02), rel=1e-9)
    assert found.fat == pytest.approx(polygon(0.09) - polygon(0.06), rel=1e-9)
    assert found.whole == pytest.approx(polygon(0.09), rel=1e-9)
    assert found.fat_share == pytest.approx(found.fat / (found.fat + found.muscle))


def test_a_slanted_section_is_an_ellipse():
    """Across a way that leans by 60° the areas are twice those across the axis."""
    lean = {"a": np.array([0.0, 0.1, 0.0]), "b": np.array([0.1 * np.tan(np.pi / 3), 0.0, 0.0])}
    found = limb_section(tubes(0.05, 0.04, 0.02), JOINTS | lean, Place("a", "b", 0.0))
    assert found.bone == pytest.approx(2 * polygon(0.02), rel=1e-9)


def test_thickness_is_the_shortest_way_not_that_along_the_ray():
    """From a corner of the skin's n-gon to the muscle's corner right beneath: 3 cm; a ray that
    leans by 45° comes to skin whose shortest way to the muscle is the same."""
    layers = tubes(0.09, 0.06, 0.02)
    for direction in ((0.0, 0.0, 1.0), (0.0, np.sqrt(0.5), np.sqrt(0.5))):
        place = Place("left_hip", "left_knee", 0.5, direction)
        found = fat_thickness(layers, JOINTS, place)
        assert found == pytest.approx(0.03, rel=2 * (1 - np.cos(np.pi / CORNERS)))


def test_a_place_outside_is_refused():
    with pytest.raises(InputError, match="cuts no layer"):
        limb_section(tubes(0.09, 0.06, 0.02), JOINTS, Place("left_hip", "left_knee", 9.0))
    with pytest.raises(InputError, match="no skin"):
        fat_thickness(tubes(0.09, 0.06, 0.02), JOINTS, Place("left_hip", "left_knee", 9.0))


def person(sex: str, bmi: float, age: float) -> tuple[Layers, dict[str, np.ndarray]]:
    model = PhenotypeModel()
    stature = {"female": 1.63, "male": 1.76}[sex]
    identity = body_at_bmi(model, float(sex == "male"), bmi, stature, age)
    wanted = predict_composition(identity, age, sex).composition
    joints = np.asarray(identity.joints, np.float64)
    names = model.template.skeleton.names
    return fit_layers(identity, sex, wanted), dict(zip(names, joints, strict=True))


@pytest.fixture(scope="module", params=[("female", 17.0), ("female", 24.0), ("female", 34.0)])
def woman(request):
    return person(*request.param, 40.0)


@pytest.fixture(scope="module", params=[("male", 18.0), ("male", 24.0), ("male", 34.0)])
def man(request):
    return person(*request.param, 40.0)


def test_the_thigh_of_women_is_about_half_fat(woman):
    """Mid-thigh by CT: 104 ± 45 cm² of fat below the skin and 99 ± 17 of muscle with the fat
    between, of women of 73 years and BMI 27.5 (Goodpaster 2003): 0.51; two deviations of the fat
    alone make 0.12 to 0.66, which all ages and BMI from 17 to 34 stay in."""
    layers, joints = woman
    found = limb_section(layers, joints, SECTIONS["mid-thigh"])
    assert 0.30 < found.fat_share < 0.66
    assert 56e-4 < found.muscle < 180e-4


def test_the_thigh_of_men_is_about_a_quarter_fat(man):
    """The same of men: 47 ± 20 of fat, 140 ± 22 of muscle: 0.25; two deviations: 0.05 to 0.44.

    At 40 years there is more muscle, as men lose 0.6 % a year (Kasai 2015): (131 + 44)/(1 − 33 ·
    0.006) + 9 = 227 cm² at most."""
    layers, joints = man
    found = limb_section(layers, joints, SECTIONS["mid-thigh"])
    assert 0.05 < found.fat_share < 0.44
    assert 87e-4 < found.muscle < 227e-4


@pytest.mark.parametrize(("bmi", "age", "fattest"), [(32.0, 45.0, 0.62), (27.5, 73.0, 0.66)])
def test_muscle_of_heavy_and_old_women_lies_in_their_thighs(bmi, age, fattest):
    """By computed tomography 0.54 and 0.51 of a mid-thigh's fat and muscle is fat above the fascia
    (PMC2828653, BMI 34.8; Goodpaster 2003, 73 years); fat between muscles counts as muscle here
    too. Before fat beneath the fascia was told apart these bodies had 0.64 and 0.67."""
    body = solve_measurements(
        {"stature": 1.62, "mass": bmi * 1.62**2, "waist": WAISTS[bmi]}, "female", age
    )
    wanted = predict_composition(body.identity, age, "female").composition
    layers = fit_layers(body.identity, "female", wanted, age=age)
    places = np.asarray(body.identity.joints, np.float64)
    joints = dict(zip(PhenotypeModel().template.skeleton.names, places, strict=True))
    found = limb_section(layers, joints, SECTIONS["mid-thigh"])
    assert 0.42 < found.fat_share < fattest


WAISTS = {32.0: 1.03, 27.5: 0.97}
"""Of women of 45 and 73 years (NHANES), metres."""


def test_lean_people_are_lean_everywhere():
    """At BMI 17 no skinfold site of a woman has over 30 mm of fat: sums of eight sites are 12 to
    245 mm over BMI 18.6 to 40 (Störchle 2017), 51 in athletes."""
    layers, joints = person("female", 17.0, 25.0)
    assert max(fat_thickness(layers, joints, place) for place in SITES.values()) < 0.030


def test_muscle_that_lies_in_no_layer_is_named_and_a_ninth_of_all(woman):
    """What layers lack is the sum of the named shares, not a number that makes masses meet."""
    layers, _ = woman
    assert layers.composition is not None
    assert unlayered_muscle(1.0) == pytest.approx(sum(UNLAYERED_MUSCLE.values()))
    assert unlayered_muscle(1.0) < 0.12


def relief(surface: np.ndarray) -> float:
    """Largest distance of the left breast's vertices from the quadric z(x, y) that fits them best,
    metres: what is left of a rib cage's bend is millimetres, of a breast and its nipple more."""
    template = layered_template("female")
    part = template.body.part_names.index("left_breast")
    x, y, z = np.asarray(surface, np.float64)[template.body.part_labels == part].T
    x, y = x - x.mean(), y - y.mean()
    terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1)
    return float(np.abs(z - terms @ np.linalg.lstsq(terms, z, rcond=None)[0]).max())


@pytest.mark.parametrize("bmi", [23.0, 32.0, 42.0])
def test_the_muscle_wall_of_women_has_no_breasts(bmi):
    """Behind breasts that stand out by a centimetre and more, muscle and bone are smooth within
    3 mm; nipples alone left 4.5 mm on the muscle once."""
    body = solve_measurements({"stature": 1.62, "mass": bmi * 1.62**2}, "female", 40.0)
    wanted = predict_composition(body.identity, 40.0, "female").composition
    layers = fit_layers(body.identity, "female", wanted)
    assert relief(layers.skin) > 0.01
    assert relief(layers.muscle) < 0.003
    assert relief(layers.bone) < 0.003
