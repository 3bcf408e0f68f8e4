"""From measurements to a body: given dimensions met, all others as people have them.

Unknowns θ are the macro sliders and local modifiers (`shape_space`). The solver minimises

    Σ_given ((m_i − t_i)/σ_i)²  +  ‖log m_o − μ_o|g‖²_(Σ_o|g + τ²I)⁻¹  +  ‖θ − θ̂‖²_(Σ_θ)⁻¹

over low ≤ θ ≤ high: given dimensions with so small a σ that they are met exactly where any body
has them; the others at their conditional mean in the population, as tightly as people are alike;
and the unknowns near those of bodies fitted to such people, which keeps shapes plausible.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from corporeal._typing import Float, NumpyArray
from corporeal.anthropometry.asked import asked_dimensions, tolerance
from corporeal.anthropometry.companions import (
    companion_spreads,
    expected_readings,
    with_build,
)
from corporeal.anthropometry.definitions import COMPANIONS, NAMES, dimension
from corporeal.anthropometry.measure import measure
from corporeal.anthropometry.plausible import refusals
from corporeal.anthropometry.population import AGES, Population, people
from corporeal.anthropometry.sensitivity import sensitivity
from corporeal.anthropometry.shape_space import ShapeSpace
from corporeal.body.identity import Identity
from corporeal.body.measurements import Measurements
from corporeal.errors import InputError, UnreachableError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.numerics.bounded_least_squares import LeastSquaresResult, minimise
from corporeal.runtime.pytree_dataclass import pytree_dataclass

CLOSENESS: Final = 8.0
"""How much closer to its expected value a body is kept than people are to theirs."""
TIGHTNESS: Final = 0.05
"""σ of a given dimension, as a share of its tolerance."""
GENDERS: Final = {"female": 0.0, "male": 1.0}


@pytree_dataclass(static=("status",))
class SolvedBody:
    """A body with given measurements."""

    identity: Identity
    """The body in the zero pose."""
    measurements: Measurements
    """All that it measures."""
    residuals: Mapping[str, float]
    """Achieved minus given, metres or kilograms, by full name."""
    phenotype: Mapping[str, float]
    """Macro sliders."""
    local: Mapping[str, float]
    """Local modifiers."""
    status: str
    """How the solver ended, in words."""


def solve_measurements(
    targets: Mapping[str, float],
    gender: float | str = 0.5,
    age: float = 30.0,
    model: PhenotypeModel | None = None,
) -> SolvedBody:
    """The body with these measurements (metres, kilograms; full or short names).

    `gender` is "female", "male", or a number from 0 (female) to 1 (male); `age` is in years.

    Raises `UnreachableError` where no body meets them to 2 mm and 0.1 kg, naming the nearest one.
    """
    asked = asked_dimensions(targets)
    number = male_share(gender)
    space = shape_space(model or _default_model(), number, float(age))
    crowd = people(number, space.names)
    refused, nearest = refusals(asked, crowd)
    result = fit(space, crowd, nearest, float(age))
    identity = space.identity(result.values)
    measured = measure(identity, space.model.template)
    residuals = {name: measured[name] - value for name, value in asked.items()}
    missed = {n: r for n, r in residuals.items() if abs(r) > tolerance(n)}
    if refused or missed:
        reasons = [str(refusal) for refusal in refused] or [_contradiction(asked, missed)]
        body = ", ".join(f"{n} {measured[n]:.4g} {dimension(n).unit}" for n in asked)
        raise UnreachableError(f"{' '.join(reasons)} The nearest body has {body}.")
    return SolvedBody(
        identity,
        measured,
        residuals,
        space.phenotype(result.values),
        space.local(result.values),
        f"{result.status} in {result.iterations} iterations",
    )


def fit(
    space: ShapeSpace, crowd: Population, asked: Mapping[str, float], age: float
) -> LeastSquaresResult:
    """Minimise the objective above; gives the unknowns, met or not."""
    index = np.array([NAMES.index(name) for name in asked])
    values = np.array(list(asked.values()))
    sigma = TIGHTNESS * np.array([tolerance(name) for name in asked])
    expected, spread = _expected(crowd, index, values, age)
    others = np.setdiff1d(np.arange(len(NAMES)), index)
    companions = len(NAMES) + np.arange(len(COMPANIONS))
    gender, likely = space.fixed["gender"], expected[: len(NAMES)]
    wanted = expected_readings(likely, age, gender)
    spreads = np.sqrt(np.diag(spread)) / CLOSENESS
    whiten_others = np.diag(1 / np.append(spreads, companion_spreads(gender)))
    others = np.append(others, companions)
    whiten_shape = _whitening(crowd.shape_covariance)
    centre = with_build(crowd.shape(expected), space.names, likely, age, gender)
    centre = np.clip(centre, space.low, space.high)

    def residuals(
        unknowns: Float[NumpyArray, "K"],
    ) -> tuple[Float[NumpyArray, "R"], Float[NumpyArray, "R K"]]:
        now = sensitivity(space, unknowns)
        relative = now.by_unknown / now.values[:, None]
        return (
            np.concatenate(
                [
                    (now.values[index] - values) / sigma,
                    whiten_others @ (np.log(now.values[others]) - wanted[others]),
                    whiten_shape @ (unknowns - centre),
                ]
            ),
            np.concatenate(
                [
                    now.by_unknown[index] / sigma[:, None],
                    whiten_others @ relative[others],
                    whiten_shape,
                ]
            ),
        )

    return minimise(residuals, centre, space.low, space.high)


def _expected(
    crowd: Population, index: NumpyArray, values: NumpyArray, age: float
) -> tuple[Float[NumpyArray, "Z"], Float[NumpyArray, "o o"]]:
    """All log dimensions and age, and the spread of those not given."""
    given = np.zeros(len(crowd.mean), bool)
    given[index] = given[-1] = True
    expected = np.empty(len(crowd.mean))
    expected[index] = np.log(values)
    expected[-1] = np.clip(age, *AGES)
    expected[~given], spread = crowd.conditional(given, expected[given])
    return expected, spread


def _whitening(covariance: Float[NumpyArray, "n n"]) -> Float[NumpyArray, "n n"]:
    """L⁻¹ of the Cholesky factor L, so that ‖L⁻¹r‖² = rᵀΣ⁻¹r."""
    factor = cholesky(covariance, lower=True)
    return solve_triangular(factor, np.eye(len(factor)), lower=True)


def male_share(gender: float | str) -> float:
    """A gender as a number: 0 for female, 1 for male."""
    share = GENDERS.get(gender) if isinstance(gender, str) else float(gender)
    if share is None or not 0 <= share <= 1:
        raise InputError(
            f"gender is {gender!r}; expected 'female', 'male' or a number from 0 (female) to 1 "
            f"(male)."
        )
    return share


@lru_cache(maxsize=1)
def _default_model() -> PhenotypeModel:
    return PhenotypeModel()


@lru_cache(maxsize=2)
def shape_space(model: PhenotypeModel, gender: float, age: float) -> ShapeSpace:
    """The solver's space, kept for the next body of the same gender and age."""
    return ShapeSpace(model, gender, age)


def _contradiction(asked: Mapping[str, float], missed: Mapping[str, float]) -> str:
    """What to say of values that bodies have, but none has together."""
    text = ", ".join(f"{name} {value:g} {dimension(name).unit}" for name, value in asked.items())
    worst = max(missed, key=lambda name: abs(missed[name]) / tolerance(name))
    return f"no body has {text} together; {worst} is furthest off. Change it or leave it out."
