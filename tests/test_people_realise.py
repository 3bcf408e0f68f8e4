"""Bodies of many people at once: against one at a time, scipy, and what was asked for."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from corporeal.anthropometry.definitions import NAMES
from corporeal.anthropometry.measure import measure
from corporeal.anthropometry.population import people as people_of
from corporeal.anthropometry.sensitivity import sensitivity
from corporeal.anthropometry.shape_space import SLIDERS, ShapeSpace
from corporeal.anthropometry.validity import surface_validity
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.numerics.many_least_squares import minimise_many
from corporeal.population.crowd_space import crowd_space
from corporeal.population.realise import CALM, MATCHED, fold_counts, realise, sigmas
from corporeal.population.sampling import sample_people


@pytest.fixture(scope="module")
def model() -> PhenotypeModel:
    return PhenotypeModel()


@pytest.fixture(scope="module")
def people():
    return sample_people(0, 5, seed=1, crowd="even")


@pytest.fixture(scope="module")
def bodies(model, people):
    return realise(model, people)


def test_many_shapes_are_measured_as_one_is(model):
    """Dimensions and derivatives of a batch of two ages against the single path; the directions are
    float32 (6e-8): 1e-5 of a value is a hundred and more roundings."""
    space = crowd_space(model, 0.0)
    random = np.random.default_rng(0)
    plain = np.where(np.arange(len(space.names)) < len(SLIDERS), 0.5, 0.0)
    values = plain + 0.1 * random.standard_normal((2, len(plain)))
    values, ages = np.clip(values, space.low, space.high), np.array([22.0, 71.0])
    measured, slopes = space.sensitivities(values, ages)
    for i, age in enumerate(ages):
        alone = sensitivity(ShapeSpace(model, 0.0, float(age)), values[i])
        assert measured[i] == pytest.approx(alone.values, rel=1e-5)
        assert slopes[i] == pytest.approx(alone.by_unknown, rel=1e-5, abs=1e-5)


def test_many_bounded_problems_are_solved_as_scipy_does():
    """Linear least squares within bounds, each problem with a matrix of its own."""
    random = np.random.default_rng(1)
    matrices, sides = random.standard_normal((6, 9, 4)), random.standard_normal((6, 9))
    low, high = np.full(4, -0.2), np.full(4, 0.3)

    def residuals(rows: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = np.einsum("arc,ac->ar", matrices[rows], values) - sides[rows]
        return found, matrices[rows]

    found = minimise_many(residuals, np.zeros((6, 4)), low, high, tolerance=1e-12, iterations=60)
    for i in range(6):
        expected = lsq_linear(matrices[i], sides[i], (low, high), tol=1e-12)
        assert found.costs[i] == pytest.approx(expected.cost, rel=1e-5)
        assert found.values[i] == pytest.approx(expected.x, abs=1e-3)


def test_bodies_meet_their_persons(people, bodies, model):
    """Stature to 2 mm and mass to 0.1 kg; the other matched dimensions to 5 %, on average 1 %."""
    off = []
    for i in range(people.count):
        measured = measure(bodies.identity(i), model.template)
        assert measured.stature == pytest.approx(people.dimensions[i, 0], abs=2e-3)
        assert measured.mass == pytest.approx(people.dimensions[i, 1], abs=0.1)
        columns = [NAMES.index(name) for name in MATCHED]
        ours = np.array([measured[name] for name in MATCHED])
        off.append(np.abs(ours / people.dimensions[i, columns] - 1))
    assert np.max(off) < 0.05
    assert np.mean(off) < 0.01


def test_parameters_make_the_same_body_again(bodies, model):
    """What is stored as parameters is what `PhenotypeModel.prepare` needs."""
    body = bodies.identity(1)
    sliders = {p.name for p in model.parameters}
    phenotype = {n: v for n, v in body.parameters.items() if n in sliders}
    local = {n: v for n, v in body.parameters.items() if n not in sliders}
    again = model.prepare(phenotype, local)
    assert np.asarray(again.rest_vertices) == pytest.approx(body.rest_vertices, abs=1e-5)
    assert np.asarray(again.joints) == pytest.approx(body.joints, abs=1e-5)


def test_realised_bodies_do_not_meet_themselves(bodies, model, people):
    """Thinnest and heaviest of the few against the average body of their sex and age."""
    for i in {int(people.dimensions[:, 1].argmin()), int(people.dimensions[:, 1].argmax())}:
        body = bodies.identity(i)
        age, gender = (float(body.parameters[name]) for name in ("age", "gender"))
        base = model.prepare({"gender": gender, "age": age, "height": body.parameters["height"]})
        skin, plain = (np.asarray(b.rest_vertices, np.float64) for b in (body, base))
        found = surface_validity(skin, plain, model.template)
        assert len(found.new_contacts) == 0
        assert len(found.new_folds) == 0


def test_a_creased_body_is_counted(model):
    """A breast that hangs on the chest folds; the average body does not."""
    space = crowd_space(model, 0.0)
    values = np.tile(np.where(np.arange(len(space.names)) < len(SLIDERS), 0.5, 0.0), (2, 1))
    values[1, space.names.index("cup")] = 1.0
    values[1, space.names.index("firmness")] = 0.0
    counts = fold_counts(space, values, np.array([40.0, 40.0]))
    assert counts[0] == 0
    assert counts[1] > 0


def test_calmer_bounds_narrow_steadily():
    for wide, narrow in pairwise(CALM):
        for name, (low, high) in narrow.items():
            assert wide[name][0] <= low < high <= wide[name][1]


@pytest.mark.parametrize("gender", [0.0, 1.0], ids=["women", "men"])
def test_every_matched_dimension_is_tighter_than_the_others(gender):
    """As a share of how much people differ; stature and mass tightest of all."""
    crowd = people_of(gender, ())
    shares = sigmas(crowd, gender)[: len(NAMES)] / np.sqrt(np.diag(crowd.covariance))[: len(NAMES)]
    by_name = dict(zip(NAMES, shares, strict=True))
    loosest = max(by_name[name] for name in MATCHED)
    assert all(by_name[name] > loosest for name in NAMES if name not in MATCHED)
    assert sorted(by_name, key=lambda name: by_name[name])[:2] == ["mass", "stature"]
