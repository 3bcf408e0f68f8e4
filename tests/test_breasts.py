"""Breasts of women: their volume as 3D scans read it, what is expected of it, and bodies' own."""

import numpy as np
import pytest

from corporeal.anthropometry.companions import (
    DROP_AGE,
    LARGE,
    MOST_VOLUME,
    VOLUME,
    breast_drop,
    breast_volume,
    companion_spreads,
    expected_readings,
    with_breasts,
)
from corporeal.anthropometry.definitions import COMPANIONS, NAMES, READINGS
from corporeal.anthropometry.kinds import Bulge
from corporeal.anthropometry.measure import measure
from corporeal.anthropometry.population import people
from corporeal.anthropometry.reading import LEAST_BULGE, plan_for, read
from corporeal.anthropometry.solve import solve_measurements
from corporeal.anthropometry.standing import standing_map
from corporeal.models.phenotype.model import PhenotypeModel

MODEL = PhenotypeModel()
BREAST = Bulge("right_breast", 1)
assert COMPANIONS[READINGS.index("breast_volume") - len(NAMES)].kind == BREAST
WOMAN = people(0.0, ("firmness",)).mean[: len(NAMES)]
"""Log dimensions of the average woman of the survey."""


def standing_points(cup: float) -> np.ndarray:
    body = MODEL.prepare({"gender": 0.0, "cup": cup})
    parts = (np.asarray(part, np.float64) for part in (body.rest_vertices, body.joints))
    return standing_map(MODEL.template)(*parts)


def test_a_bulge_is_the_cone_over_its_border():
    """Every vertex of the patch on its base but one: a pyramid of height h over the border's mean.

    Its volume is a third of h times the area of that vertex's neighbours' polygon, seen along h.
    """
    plan = plan_for(MODEL.template)
    triangles, border = plan.patches[BREAST]
    points = np.zeros_like(plan.standing)
    round_ = np.linspace(0, 2 * np.pi, len(border), endpoint=False)
    points[border, 0], points[border, 1] = np.cos(round_), np.sin(round_)
    inner = np.setdiff1d(triangles, border)
    flat = read(plan, BREAST, points)
    assert flat.value == LEAST_BULGE
    assert not flat.gradient.any()
    tip = inner[0]
    around = triangles[(triangles == tip).any(axis=1)]
    points[inner, :2] = np.random.default_rng(0).uniform(-0.5, 0.5, (len(inner), 2))
    points[tip, 2] = 0.3
    corners = points[around][:, :, :2]
    area = 0.5 * np.linalg.det(
        np.stack([corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], 1)
    )
    expected = 0.1 * area.sum()
    if expected < 0:
        points[tip, 2], expected = -0.3, -expected
    assert read(plan, BREAST, points).value == pytest.approx(expected, rel=1e-9)


def test_its_gradient_is_that_of_central_differences():
    """Cubic in the points: a step h leaves h² of the third derivative, 1e-10 here."""
    plan, points, step = plan_for(MODEL.template), standing_points(0.8), 1e-5
    found = read(plan, BREAST, points)
    way = np.random.default_rng(1).standard_normal(points.shape)
    ends = [read(plan, BREAST, points + h * way).value for h in (step, -step)]
    along = float((found.gradient * way[found.rows]).sum())
    assert along == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6)


def test_volume_grows_with_the_cup_and_does_not_know_where_the_body_stands():
    plan = plan_for(MODEL.template)
    values = [read(plan, BREAST, standing_points(cup)).value for cup in (0.3, 0.5, 0.7, 1.0)]
    assert values == sorted(values)
    moved = read(plan, BREAST, standing_points(0.7) + np.array([1.0, 2.0, -3.0])).value
    assert moved == pytest.approx(values[2], rel=1e-6)


def test_what_is_expected_follows_mass_and_stature_alone():
    taller = WOMAN.copy()
    taller[NAMES.index("stature")] += np.log(1.1)
    taller[NAMES.index("mass")] += np.log(1.1**2)
    one, other = (expected_readings(d, 30.0, 0.0) for d in (WOMAN, taller))
    assert one[-1] == pytest.approx(other[-1], abs=1e-12)
    assert breast_volume(25.0) == VOLUME
    heavy = WOMAN.copy()
    heavy[NAMES.index("mass")] += 1.0
    assert np.exp(expected_readings(heavy, 30.0, 0.0)[-1]) == pytest.approx(MOST_VOLUME)


def test_a_bra_holds_large_and_old_breasts_higher_than_they_hang():
    young, large, old = (
        float(breast_drop(v, a))
        for v, a in ((LARGE, DROP_AGE), (np.e * LARGE, DROP_AGE), (LARGE, DROP_AGE + 30))
    )
    assert young == 0 < old <= large
    bare = np.exp(expected_readings(WOMAN, 70.0, 0.0))
    drop = float(breast_drop(breast_volume(bare[1] / bare[0] ** 2), 70.0))
    assert np.exp(WOMAN[NAMES.index("chest_height")]) - bare[NAMES.index("chest_height")] == (
        pytest.approx(drop, abs=1e-9)
    )


def test_men_are_asked_for_nothing():
    """No weight on the volume, the taped nipple, the firmness that they had."""
    assert np.isinf(companion_spreads(1.0)[-1])
    assert np.isfinite(companion_spreads(0.0)).all()
    found = expected_readings(WOMAN, 70.0, 1.0)
    np.testing.assert_allclose(found[: len(NAMES)], WOMAN, rtol=0, atol=1e-12)
    unknowns = with_breasts(np.array([0.4]), ("firmness",), WOMAN, 70.0, 1.0)
    assert unknowns == pytest.approx(0.4)


@pytest.mark.parametrize(("bmi", "least"), [(19.0, 200e-6), (22.0, 270e-6), (30.0, 330e-6)])
def test_solved_women_have_breasts_of_their_size(bmi, least):
    """Within 15 % of what scans say, up to `MOST_VOLUME`; by chest girths alone they had half."""
    body = solve_measurements({"stature": 1.65, "mass": bmi * 1.65**2}, "female", 25.0)
    volume = measure(body.identity)["breast_volume"]
    asked = min(float(breast_volume(bmi)), MOST_VOLUME)
    assert volume > least
    assert volume == pytest.approx(asked, rel=0.15)
    assert max(abs(off) for off in body.residuals.values()) < 2e-3
