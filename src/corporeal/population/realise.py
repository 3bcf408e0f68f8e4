"""Bodies for many persons at once: stature and mass met, all dimensions as near as bodies allow.

For each person with dimensions t, the unknowns θ of the default body minimise, within their bounds,

    Σ_i ((log m_i(θ) − log t_i)/σ_i)²  +  ‖θ − θ̂(t)‖²_Σθ⁻¹

where θ̂ and Σθ are the unknowns of bodies fitted to people of the survey (`anthropometry.
population`). σ is a share of how much people differ in a dimension, smaller for fifteen, smallest
for stature and mass, which are met exactly; the hips' largest girth is held to that at the buttock
point.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from corporeal._typing import Float, Int, NumpyArray
from corporeal.anthropometry.companions import (
    companion_spreads,
    expected_readings,
    with_build,
)
from corporeal.anthropometry.definitions import NAMES
from corporeal.anthropometry.population import AGES as SURVEY_AGES
from corporeal.anthropometry.population import Population, people
from corporeal.anthropometry.shape_space import SLIDERS, unknowns_of
from corporeal.anthropometry.solve import GENDERS
from corporeal.anthropometry.validity import sharp_folds
from corporeal.body.identity import Identity
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.numerics.many_least_squares import ManyResults, minimise_many
from corporeal.population.crowd_space import CrowdSpace, crowd_space
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
CLOSE: Final = 0.05
"""σ of the other matched dimensions, as a share of how much people differ."""
NEAR: Final = 0.08
"""σ of all other dimensions, likewise."""
SETTLED: Final = 1.0
"""A person is solved when a step lowers ½ Σ (misfit/σ)² by less than this."""

CALM: Final = (
    {
        "muscle": (0.1, 0.85),
        "weight": (0.0, 0.55),
        "cup": (0.0, 0.8),
        "firmness": (0.4, 1.0),
        "hip-scale-horiz": (-0.15, 0.8),
        "buttocks-volume": (-0.5, 0.1),
        "belly-apron": (0.0, 1.0),
        "foot-scale-horiz": (-0.1, 0.5),
        "hand-scale": (-0.5, 0.05),
    },
    {
        "muscle": (0.2, 0.7),
        "weight": (0.1, 0.5),
        "firmness": (0.45, 1.0),
        "cup": (0.1, 0.7),
        "hip-scale-horiz": (0.0, 0.5),
        "buttocks-volume": (-0.3, -0.1),
        "belly-apron": (0.0, 0.4),
        "foot-scale-horiz": (0.1, 0.4),
        "hand-scale": (-0.3, -0.05),
    },
    {
        "muscle": (0.3, 0.6),
        "weight": (0.2, 0.5),
        "firmness": (0.5, 0.9),
        "cup": (0.2, 0.6),
        "hip-scale-horiz": (0.15, 0.5),
        "buttocks-volume": (-0.3, -0.2),
        "belly-apron": (0.0, 0.05),
        "foot-scale-horiz": (0.2, 0.4),
        "hand-scale": (-0.3, -0.15),
    },
)
"""Bounds of the unknowns that sharpen creases (cleft, groin, below breast and belly, between toes,
at the thumb nail): for everybody, and then ever narrower for those who fold."""


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
        found = sound_people(crowd_space(model, GENDERS[sex]), persons.only(rows))
        unknowns[rows], iterations[rows] = found.values, found.iterations
    genders = np.array([GENDERS[sex] for sex in persons.sexes])
    return _prepared(model, genders, persons.ages, unknowns, iterations)


def sound_people(space: CrowdSpace, persons: Persons) -> ManyResults:
    """Unknowns of the bodies of persons of one sex; whoever folds is solved again more calmly.

    A body folds where an edge is sharper than 120° that is not in the average body of its height.
    """
    found = solve_people(space, persons, CALM[0])
    values, costs, iterations = found.values, found.costs, found.iterations
    folds = fold_counts(space, values, persons.ages)
    for bounds in CALM[1:]:
        rows = np.flatnonzero(folds)
        if len(rows) == 0:
            break
        again = solve_people(space, persons.only(rows), bounds, values[rows])
        counts = fold_counts(space, again.values, persons.ages[rows])
        better = counts < folds[rows]
        taken = rows[better]
        values[taken], folds[taken] = again.values[better], counts[better]
        costs[taken] = again.costs[better]
        iterations[rows] += again.iterations
    return ManyResults(values, costs, iterations)


def fold_counts(
    space: CrowdSpace, values: Float[NumpyArray, "n K"], ages: Float[NumpyArray, "n"]
) -> Int[NumpyArray, "n"]:
    """How many edges of each body fold that do not in the average body of its age and height."""
    template = space.model.template
    plain = np.tile(np.where(np.arange(len(space.names)) < len(SLIDERS), 0.5, 0.0), (len(ages), 1))
    height = space.names.index("height")
    plain[:, height] = values[:, height]
    bodies, bases = (
        space.shapes(unknowns, ages)[:, : template.mesh.vertex_count]
        for unknowns in (values, plain)
    )
    pairs = zip(bodies, bases, strict=True)
    new = [sharp_folds(body, template) & ~sharp_folds(base, template) for body, base in pairs]
    return np.array([int(folded.sum()) for folded in new])


def solve_people(
    space: CrowdSpace,
    persons: Persons,
    narrower: Mapping[str, tuple[float, float]],
    start: Float[NumpyArray, "n K"] | None = None,
) -> ManyResults:
    """Unknowns of the bodies of persons of one sex, some of them within `narrower` bounds."""
    low, high = space.low.copy(), space.high.copy()
    for name, (least, most) in narrower.items():
        k = space.names.index(name)
        low[k], high[k] = max(low[k], least), min(high[k], most)
    crowd = people(space.gender, space.names)
    logarithms = np.log(persons.dimensions)
    targets = expected_readings(logarithms, persons.ages, space.gender)
    known = np.column_stack([logarithms, np.clip(persons.ages, *SURVEY_AGES)])
    expected = crowd.shape_mean + (known - crowd.mean) @ crowd.shape_slopes.T
    expected = with_build(expected, space.names, logarithms, persons.ages, space.gender)
    centre = np.clip(expected, low, high)
    factor = cholesky(crowd.shape_covariance, lower=True)
    whiten = solve_triangular(factor, np.eye(len(factor)), lower=True)
    weights = 1 / sigmas(crowd, space.gender)

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

    begin = centre if start is None else start
    return minimise_many(residuals, begin, low, high, tolerance=SETTLED)


def sigmas(crowd: Population, gender: float) -> Float[NumpyArray, "M"]:
    """σ of every reading, a share of it: dimensions, then companions."""
    spreads = np.sqrt(np.diag(crowd.covariance))[: len(NAMES)]
    shares = np.array([CLOSE if name in MATCHED else NEAR for name in NAMES])
    found = shares * spreads
    found[[NAMES.index(name) for name in ("stature", "mass")]] = EXACT
    return np.append(found, companion_spreads(gender))


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
