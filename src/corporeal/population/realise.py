"""Bodies for many persons at once: fifteen dimensions met, the others as near as bodies allow.

For each person with dimensions t, the unknowns θ of the default body minimise, within their bounds,

    Σ_i ((log m_i(θ) − log t_i)/σ_i)²  +  ‖θ − θ̂(t)‖²_Σθ⁻¹

where θ̂ and Σθ are the unknowns of bodies fitted to people of the survey (`anthropometry.
population`). σ is small for the fifteen, and so small for stature and mass that they are met exactly.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from corporeal._typing import Float, Int, NumpyArray
from corporeal.anthropometry.definitions import NAMES
from corporeal.anthropometry.population import AGES as SURVEY_AGES
from corporeal.anthropometry.population import people
from corporeal.anthropometry.shape_space import SLIDERS, unknowns_of
from corporeal.anthropometry.solve import GENDERS
from corporeal.body.identity import Identity
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.population.crowd_space import CrowdSpace, crowd_space
from corporeal.population.many_least_squares import ManyResults, minimise_many
from corporeal.population.sampling import Persons

MATCHED: Final = (
    "stature",
    "mass",
    "neck_circumference",
    "chest_circumference",
    "waist_circumference",
    "buttock_circumference",
    "thigh_circumference",
    "calf_circumference",
    "biceps_circumference",
    "forearm_circumference",
    "biacromial_breadth",
    "hip_breadth",
    "crotch_height",
    "upper_arm_length",
    "foot_length",
)
"""The dimensions that a realised body is held to."""
EXACT: Final = 1e-4
"""σ of stature and mass: a share of the dimension."""
CLOSE: Final = 0.004
"""σ of the other matched dimensions."""
LOOSE: Final = 0.04
"""σ of all other dimensions."""


@dataclass(frozen=True, eq=False)
class Realised:
    """Bodies, one a person, and how they came about."""

    parameters: Float[NumpyArray, "n p"]
    """Sliders and modifiers, in the order of `parameter_names`."""
    rest_vertices: Float[NumpyArray, "n V 3"]
    """Metres, zero pose."""
    joints: Float[NumpyArray, "n J 3"]
    """Metres."""
    names: tuple[str, ...]
    """Of the parameters."""
    iterations: Int[NumpyArray, "n"]
    """Steps that the solver took."""

    def identity(self, person: int) -> Identity:
        """One of the bodies."""
        values = self.parameters[person]
        parameters = {n: np.asarray(v) for n, v in zip(self.names, values, strict=True)}
        return Identity(self.rest_vertices[person], self.joints[person], parameters)


def realise(model: PhenotypeModel, persons: Persons) -> Realised:
    """Bodies of persons; women and men are solved for separately, in two batches."""
    sexes = np.array(persons.sexes)
    unknowns = np.empty((persons.count, len(unknowns_of(model))))
    iterations = np.empty(persons.count, np.int64)
    for sex in sorted(set(persons.sexes)):
        rows = np.flatnonzero(sexes == sex)
        found = solve_people(crowd_space(model, GENDERS[sex]), persons.only(rows))
        unknowns[rows], iterations[rows] = found.values, found.iterations
    genders = np.array([GENDERS[sex] for sex in persons.sexes])
    return _prepared(model, genders, persons.ages, unknowns, iterations)


def solve_people(space: CrowdSpace, persons: Persons) -> ManyResults:
    """Unknowns of the bodies of persons of one sex."""
    crowd = people(space.gender, space.names)
    targets = np.log(persons.dimensions)
    known = np.column_stack([targets, np.clip(persons.ages, *SURVEY_AGES)])
    expected = crowd.shape_mean + (known - crowd.mean) @ crowd.shape_slopes.T
    centre = np.clip(expected, space.low, space.high)
    factor = cholesky(crowd.shape_covariance, lower=True)
    whiten = solve_triangular(factor, np.eye(len(factor)), lower=True)
    weights = 1 / sigmas()

    def residuals(
        rows: Int[NumpyArray, "a"], values: Float[NumpyArray, "a K"]
    ) -> tuple[Float[NumpyArray, "a R"], Float[NumpyArray, "a R K"]]:
        measured, slopes = space.sensitivities(values, persons.ages[rows])
        misfit = (np.log(measured) - targets[rows]) * weights
        unlikely = (values - centre[rows]) @ whiten.T
        relative = slopes * (weights / measured)[:, :, None]
        prior = np.broadcast_to(whiten, (len(rows), *whiten.shape))
        return (
            np.concatenate([misfit, unlikely], axis=1),
            np.concatenate([relative, prior], axis=1),
        )

    return minimise_many(residuals, centre, space.low, space.high)


def sigmas() -> Float[NumpyArray, "M"]:
    """σ of every dimension, a share of it."""
    exact = {"stature": EXACT, "mass": EXACT}
    return np.array([exact.get(n, CLOSE if n in MATCHED else LOOSE) for n in NAMES])


def parameter_names(model: PhenotypeModel) -> tuple[str, ...]:
    """Gender, age and all sliders and modifiers that the solver moves, both sides."""
    local = (m.parameter.name for u in unknowns_of(model) for m in u.modifiers)
    return ("gender", "age", *SLIDERS, *local)


def _prepared(
    model: PhenotypeModel,
    genders: Float[NumpyArray, "n"],
    ages: Float[NumpyArray, "n"],
    unknowns: Float[NumpyArray, "n K"],
    iterations: Int[NumpyArray, "n"],
) -> Realised:
    """The bodies themselves, on the ground."""
    phenotype = {"gender": genders, "age": ages, **dict(zip(SLIDERS, unknowns.T, strict=False))}
    local = {
        modifier.parameter.name: column
        for unknown, column in zip(unknowns_of(model), unknowns.T, strict=True)
        for modifier in unknown.modifiers
    }
    bodies = model.prepare(phenotype, local)
    names = parameter_names(model)
    values = {**phenotype, **local}
    parameters = np.stack([values[name] for name in names], axis=-1)
    skin, joints = (np.asarray(a, np.float32) for a in (bodies.rest_vertices, bodies.joints))
    return Realised(parameters, skin, joints, names, iterations)
