"""Fitting the distribution of people: regressions, quantiles of residuals, their correlation."""

from collections.abc import Mapping

import numpy as np
from scipy.stats import norm, rankdata

from corporeal._typing import Float, NumpyArray
from corporeal.anthropometry.definitions import NAMES
from corporeal.anthropometry.survey import Survey
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.population.distribution import (
    OTHERS,
    SCORES,
    Chain,
    PeopleModel,
    Proportions,
    chain_features,
    proportion_features,
)
from corporeal.population.weight_map import COMPONENTS, WeightMap

_LEAST_VARIANCE = 1e-10
"""Of a component over the first one's; less is rounding, and bodies vary in fewer ways."""


def fit_weight_map(
    model: PhenotypeModel,
    coefficients: Float[NumpyArray, "n S"],
    masses: Float[NumpyArray, "n"],
    statures: Float[NumpyArray, "n"],
) -> WeightMap:
    """The map of bodies with these target coefficients, masses (kg) and statures (metres)."""
    used = np.flatnonzero(np.any(coefficients != 0, axis=0))
    directions = np.asarray(model.vertex_offsets)[used].reshape(len(used), -1).astype(np.float64)
    mean = coefficients.mean(axis=0)
    spread = (coefficients - mean)[:, used]
    # X = Z D has the components U = Dᵀ Zᵀ v / σ of the eigenvectors v of X Xᵀ = Z (D Dᵀ) Zᵀ
    values, vectors = np.linalg.eigh(spread @ (directions @ directions.T) @ spread.T)
    leading = np.argsort(values)[::-1][:COMPONENTS]
    leading = leading[values[leading] > _LEAST_VARIANCE * values[leading[0]]]
    mixtures = np.zeros((coefficients.shape[1], len(leading)))
    mixtures[used] = spread.T @ vectors[:, leading] / np.sqrt(values[leading])
    shapes = vectors[:, leading] * np.sqrt(values[leading])
    features = np.stack([np.cbrt(masses), statures], axis=-1)
    centred = features - features.mean(axis=0)
    return WeightMap(
        mean,
        mixtures,
        features.mean(axis=0),
        np.linalg.lstsq(centred, shapes)[0].T,
        np.linalg.lstsq(shapes, centred)[0].T,
    )


def survey_anchors(survey: Survey) -> Float[NumpyArray, "n 4"]:
    """Age and log stature, log BMI, log waist of people of ANSUR II."""
    columns = (survey.dimensions[:, NAMES.index(n)] for n in ("stature", "mass"))
    stature, mass = (np.log(column) for column in columns)
    waist = np.log(survey.dimensions[:, NAMES.index("waist_circumference")])
    return np.stack([survey.ages, stature, mass - 2 * stature, waist], axis=-1)


def fit_people(survey: Survey, anchors: Mapping[str, Float[NumpyArray, "_ 4"]]) -> PeopleModel:
    """The model of one sex: the survey's proportions, and a chain for each crowd's anchors."""
    chains = {crowd: fit_chain(found) for crowd, found in anchors.items()}
    return PeopleModel(chains, fit_proportions(survey))


def fit_chain(anchors: Float[NumpyArray, "n 4"]) -> Chain:
    """Equation (1) by least squares, anchor after anchor."""
    slopes, tables = [], []
    for k in range(anchors.shape[1]):
        features = chain_features(anchors, k)
        solved = np.linalg.lstsq(features, anchors[:, k])[0]
        slopes.append(solved)
        tables.append(_table(anchors[:, k] - features @ solved))
    return Chain(tuple(slopes), np.array(tables))


def fit_proportions(survey: Survey) -> Proportions:
    """Equation (2) by least squares; R from the ranks of the residuals."""
    features = proportion_features(survey_anchors(survey))
    others = np.log(survey.dimensions[:, [NAMES.index(name) for name in OTHERS]])
    slopes = np.linalg.lstsq(features, others)[0]
    residuals = others - features @ slopes
    scores = norm.ppf((rankdata(residuals, axis=0) - 0.5) / len(residuals))
    factor = np.linalg.cholesky(np.corrcoef(scores.T))
    return Proportions(slopes, np.array([_table(column) for column in residuals.T]), factor)


def _table(residuals: Float[NumpyArray, "n"]) -> Float[NumpyArray, "21"]:
    """Quantiles at `SCORES`."""
    return np.quantile(residuals, norm.cdf(SCORES))
