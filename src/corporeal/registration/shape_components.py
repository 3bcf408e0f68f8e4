"""How human shapes differ: principal components of people of one stature.

Half of the people are drawn as the survey's are (`anthropometry.population`), half evenly over all
sliders, so that rare builds are reached too.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.anthropometry.population import people
from corporeal.anthropometry.shape_space import SLIDERS, unknowns_of
from corporeal.models.phenotype.model import PhenotypeModel

STATURE = 1.75
"""Height that all people are scaled to, metres."""
_DRAWN = 120
"""People a sex, and as many again of random sliders."""


@dataclass(frozen=True)
class ShapeComponents:
    """Mean and principal directions of some skin vertices and all joints; pelvis at the origin."""

    vertices: Float[NumpyArray, "v 3"]
    """Mean of the vertices, metres."""
    joints: Float[NumpyArray, "J 3"]
    """Mean of the joints, metres."""
    vertex_shapes: Float[NumpyArray, "v 3 K"]
    """Change with one standard deviation, metres."""
    joint_shapes: Float[NumpyArray, "J 3 K"]
    """Change of the joints with one standard deviation, metres."""


def shape_components(
    model: PhenotypeModel, kept: Int[NumpyArray, "v"], count: int
) -> ShapeComponents:
    """The first `count` components of the skin vertices `kept`."""
    random = np.random.default_rng(5)
    coefficients = np.concatenate(
        [*(_survey(model, sex, random) for sex in (0.0, 1.0)), _any(model, random)]
    )
    used = np.flatnonzero(np.any(coefficients != 0, axis=0))
    coefficients = coefficients[:, used]
    posed_vertices = np.asarray(model.base_vertices)[kept] + np.tensordot(
        coefficients, np.asarray(model.vertex_offsets)[used][:, kept], 1
    )
    joints = np.asarray(model.base_joints) + np.tensordot(
        coefficients, np.asarray(model.joint_offsets)[used], 1
    )
    scale = (STATURE / np.ptp(posed_vertices[..., 1], axis=1))[:, None, None]
    points = scale * (np.concatenate([posed_vertices, joints], axis=1) - joints[:, :1])
    flat = points.reshape(len(points), -1)
    mean = flat.mean(axis=0)
    _, spread, components = np.linalg.svd(flat - mean, full_matrices=False)
    shapes = (components[:count] * spread[:count, None] / np.sqrt(len(flat))).T
    shapes, mean = shapes.reshape(-1, 3, count), mean.reshape(-1, 3)
    v = len(kept)
    return ShapeComponents(mean[:v], mean[v:], shapes[:v], shapes[v:])


def _survey(
    model: PhenotypeModel, sex: float, random: np.random.Generator
) -> Float[NumpyArray, "n S"]:
    """Coefficients of people as the survey has them."""
    unknowns = unknowns_of(model)
    population = people(sex, tuple(u.name for u in unknowns))
    dimensions = random.multivariate_normal(population.mean, population.covariance, _DRAWN)
    noise = random.multivariate_normal(np.zeros(len(unknowns)), population.shape_covariance, _DRAWN)
    values = population.shape_mean + (dimensions - population.mean) @ population.shape_slopes.T
    values = np.clip(values + noise, [u.low for u in unknowns], [u.high for u in unknowns])
    sliders = dict(zip(SLIDERS, values.T[: len(SLIDERS)], strict=True))
    sliders |= {"gender": np.full(_DRAWN, sex), "age": random.uniform(20.0, 60.0, _DRAWN)}
    local = {
        modifier.parameter.name: value
        for unknown, value in zip(unknowns, values.T, strict=True)
        for modifier in unknown.modifiers
    }
    return np.asarray(model.coefficients(sliders, local), np.float64)


def _any(model: PhenotypeModel, random: np.random.Generator) -> Float[NumpyArray, "n S"]:
    """Coefficients of random sliders."""
    sliders = {p.name: random.uniform(p.low, p.high, 2 * _DRAWN) for p in model.parameters}
    return np.asarray(model.coefficients(sliders), np.float64)
