"""Fitting how bodies change with weight and height: principal components, then least squares."""

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.population.weight_map import COMPONENTS, WeightMap


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
