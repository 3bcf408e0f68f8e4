"""The distribution of people: quantiles, regressions, and sampled people against ANSUR II."""

import numpy as np
import public_data
import pytest
from scipy.stats import ks_2samp

from corporeal.anthropometry.definitions import NAMES
from corporeal.anthropometry.survey import Survey, read_survey
from corporeal.errors import InputError
from corporeal.population.distribution import OTHERS, SCORES, Chain, load_people, quantile
from corporeal.population.given import completed
from corporeal.population.sampling import AGES, BMIS, Persons, sample_people
from corporeal.population.train import fit_chain, fit_proportions, survey_anchors

ANSUR = public_data.folder("ansur2")


def test_a_quantile_function_is_tabled_linear_between_and_goes_on():
    """Q at the tabled scores, at midpoints, and beyond the ends on the last piece's line."""
    table = np.sinh(SCORES)

    def read(scores: np.ndarray) -> np.ndarray:
        return quantile(np.stack([table, -table]), np.stack([scores, scores], axis=1))[:, 0]

    assert read(SCORES) == pytest.approx(table, abs=1e-12)
    middles = (SCORES[1:] + SCORES[:-1]) / 2
    assert read(middles) == pytest.approx((table[1:] + table[:-1]) / 2, abs=1e-12)
    step = SCORES[1] - SCORES[0]
    beyond = read(np.array([SCORES[-1] + 3 * step, SCORES[0] - 2 * step]))
    expected = [4 * table[-1] - 3 * table[-2], 3 * table[0] - 2 * table[1]]
    assert beyond == pytest.approx(expected, abs=1e-12)


def test_a_chain_is_recovered_from_its_own_people():
    """Least squares on 20 000 draws: the conditional means at two probes agree to 5 standard
    errors of a mean of so many people (residual deviation 0.05 and 10 years)."""
    random = np.random.default_rng(3)
    residuals = np.array([10.0, 0.04, 0.15, 0.05])[:, None] * SCORES
    slopes = (
        np.array([45.0]),
        np.array([0.5, -0.004, 0.0]),
        np.array([3.2, 0.05, -0.01, -0.1]),
        np.array([-0.1, 0.02, 0.0, 0.5, 0.7, -0.05]),
    )
    chain = Chain(slopes, residuals)
    found = fit_chain(chain.anchors(random.standard_normal((20_000, 4))))
    centre = np.zeros((1, 4))
    for fixed in ({0: 30.0}, {0: 60.0}):
        ours, theirs = found.anchors(centre, fixed), chain.anchors(centre, fixed)
        off = np.abs(ours - theirs)[0, 1:] / residuals[1:, -1] * SCORES[-1]
        assert off.max() < 0.06
    assert found.quantiles[3] == pytest.approx(residuals[3], abs=0.012)


def test_proportions_keep_correlated_residuals():
    """A survey of one power law with two tied residuals comes back: slopes and correlation."""
    random = np.random.default_rng(5)
    count = 6000
    dimensions = np.exp(random.normal(0.0, 0.05, (count, len(NAMES))))
    tied = random.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], count)
    for name, column in zip(OTHERS[:2], tied.T, strict=True):
        stature = dimensions[:, NAMES.index("stature")]
        dimensions[:, NAMES.index(name)] = stature**1.5 * np.exp(0.03 * column)
    survey = Survey(dimensions, random.uniform(18, 58, count))
    found = fit_proportions(survey)
    assert found.slopes[2, :2] == pytest.approx([1.5, 1.5], abs=0.05)
    correlation = found.factor @ found.factor.T
    assert correlation[0, 1] == pytest.approx(0.6, abs=5 / np.sqrt(count))
    assert np.abs(correlation[0, 2:]).max() < 5 / np.sqrt(count)
    others = found.others(survey_anchors(survey), random.standard_normal((count, len(OTHERS))))
    left = others - np.log(survey_stature(survey))[:, None] * 1.5
    assert left[:, 0].std() == pytest.approx(0.03, rel=0.05)


def survey_stature(survey: Survey) -> np.ndarray:
    return survey.dimensions[:, NAMES.index("stature")]


def test_a_person_depends_on_the_seed_and_the_number_alone():
    """The same people come out in one go, in pieces and alone; another seed gives others."""
    whole = sample_people(0, 12, seed=4)
    pieces = [sample_people(0, 5, seed=4), sample_people(5, 7, seed=4)]
    assert whole.sexes == pieces[0].sexes + pieces[1].sexes
    assert np.array_equal(whole.dimensions, np.concatenate([p.dimensions for p in pieces]))
    assert np.array_equal(whole.dimensions[11], sample_people(11, 1, seed=4).dimensions[0])
    assert whole.names[11] == sample_people(11, 1, seed=4).names[0]
    assert not np.array_equal(whole.dimensions, sample_people(0, 12, seed=5).dimensions)


@pytest.mark.parametrize("crowd", ["adults", "soldiers", "even"])
def test_people_stay_within_their_ranges(crowd):
    """Ages 18 to 80 and BMI 16 to 48; `even` reaches both ends of both."""
    people = sample_people(0, 400, seed=2, crowd=crowd)
    bmi = people.dimensions[:, NAMES.index("mass")] / people.dimensions[:, 0] ** 2
    for values, (low, high) in ((people.ages, AGES), (bmi, BMIS)):
        assert low <= values.min()
        assert values.max() <= high
        if crowd == "even":  # 400 even draws leave a gap of 3 % with probability 1e-5
            assert values.min() < low + 0.03 * (high - low)
            assert values.max() > high - 0.03 * (high - low)


@pytest.mark.parametrize("sex", ["female", "male"])
def test_ages_and_body_mass_keep_their_distribution(sex):
    """What is drawn again for its waist keeps age and BMI: against the chain itself, ages held to
    the range's ends and BMIs cut at theirs. Kolmogorov distances of two samples of 3 000 stay below
    1.95 √(2/3000) = 0.05 in 999 of 1 000 cases."""
    women = float(sex == "female")
    drawn = sample_people(0, 3000, seed=5, crowd="adults", women=women)
    scores = np.random.default_rng(6).standard_normal((3500, 4))
    free = load_people()[sex].chains["adults"].anchors(scores)
    mass, stature = (drawn.dimensions[:, NAMES.index(n)] for n in ("mass", "stature"))
    bmi = np.exp(free[:, 2])
    assert ks_2samp(drawn.ages, np.clip(free[:, 0], *AGES)).statistic < 0.05
    within = bmi[(bmi > BMIS[0]) & (bmi < BMIS[1])]
    assert ks_2samp(mass / stature**2, within).statistic < 0.05


def test_the_share_of_women_is_kept():
    assert set(sample_people(0, 20, seed=1, women=1.0).sexes) == {"female"}
    assert set(sample_people(0, 20, seed=1, women=0.0).sexes) == {"male"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"count": 0}, "0 people"),
        ({"seed": -1}, "seed -1"),
        ({"women": 1.5}, "share of women is 1.5"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        sample_people(**{"first": 0, "count": 1, "seed": 0} | arguments)


def test_persons_need_one_of_each():
    with pytest.raises(InputError, match="2 names, 1 sexes"):
        Persons(("a", "b"), ("female",), np.array([30.0]), np.ones((1, len(NAMES))))


def test_the_waist_grows_with_age_as_in_nhanes():
    """At one stature and BMI the waist of 75-year-olds exceeds that of 30-year-olds by 3 to 12 %:
    NHANES has 5 to 9 %, ANSUR II alone ends at 58 years."""
    for sex in ("female", "male"):
        chain = load_people()[sex].chains["adults"]
        fixed = {1: np.log(1.7), 2: np.log(27.0)}
        young, old = (chain.anchors(np.zeros((1, 4)), {0: a} | fixed)[0, 3] for a in (30.0, 75.0))
        assert 0.03 < old - young < 0.12


@pytest.mark.data("ansur2")
@pytest.mark.parametrize("sex", ["female", "male"])
def test_sampled_soldiers_have_the_moments_of_the_survey(sex):
    """2000 people: means to 5 standard errors, deviations to 8 %, correlations to 0.1."""
    survey = read_survey(ANSUR / f"ansur2_{sex}.csv").dimensions
    people = sample_people(0, 2000, 8, "soldiers", float(sex == "female")).dimensions
    error = survey.std(axis=0) * np.sqrt(1 / len(people) + 1 / len(survey))
    assert (np.abs(people.mean(axis=0) - survey.mean(axis=0)) < 5 * error).all()
    assert people.std(axis=0) / survey.std(axis=0) == pytest.approx(1.0, abs=0.08)
    assert np.abs(np.corrcoef(people.T) - np.corrcoef(survey.T)).max() < 0.1


def test_a_person_known_in_part_is_completed():
    """Given dimensions stay; a stouter waist at one mass and stature means thinner thighs."""
    given = {"stature": 1.65, "mass": 70.0, "waist": 0.80}
    thin, thick = (completed("female", 30.0, given | {"waist": w}) for w in (0.80, 0.95))
    for row, waist in ((thin, 0.80), (thick, 0.95)):
        assert row[NAMES.index("stature")] == pytest.approx(1.65)
        assert row[NAMES.index("waist_circumference")] == pytest.approx(waist)
    thigh = NAMES.index("thigh_circumference")
    assert thick[thigh] < thin[thigh]


@pytest.mark.parametrize(
    ("measured", "words"),
    [({"stature": 1.7}, "no mass"), ({"stature": 170.0, "mass": 70.0}, "out of range")],
)
def test_a_person_that_cannot_be_is_refused(measured, words):
    with pytest.raises(InputError, match=words):
        completed("male", 30.0, measured)
