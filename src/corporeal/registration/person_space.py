"""How people differ, on the whole skin: the linear shape space that registration looks in.

People are drawn from the survey's two sexes (`anthropometry.population`) and, a share of them,
evenly over all sliders. All are linear in the targets' coefficients c, so their covariance is
O Cov(c) Oᵀ with O the targets' offsets, and its principal components come from the small matrix
Cov(c)^½ (OᵀO) Cov(c)^½: thousands of people cost no more than hundreds.

The pelvis stands at the origin. Stature is one of the directions: scans have a unit.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.anthropometry.population import people
from corporeal.anthropometry.shape_space import SLIDERS, unknowns_of
from corporeal.assets.archive import read_archive
from corporeal.models.phenotype.model import PhenotypeModel

COMPONENTS = 80
"""Directions that are kept by default."""
_SURVEYED = 900
"""People a sex who are drawn as the survey has them."""
_EVEN = 200
"""People whose sliders are drawn evenly."""
_APART = 6
"""Every so many vertices stand for all when components are ranked."""
_SPREAD = 1.6
"""By how much the survey's people are spread: crowds are wider than soldiers."""


@dataclass(frozen=True, eq=False)
class PersonSpace:
    """Rest skin and joints x(β) = mean + Σ β_k shape_k, β in standard deviations."""

    mean_vertices: Float64[NumpyArray, "V 3"]
    """Metres; pelvis at the origin."""
    mean_joints: Float64[NumpyArray, "J 3"]
    """Metres."""
    vertex_shapes: Float64[NumpyArray, "K V 3"]
    """Change with one standard deviation, metres."""
    joint_shapes: Float64[NumpyArray, "K J 3"]
    """Change of the joints with one standard deviation, metres."""
    sex_slope: Float64[NumpyArray, "K"] | None = None
    """Fisher's linear discriminant of the sexes: β · slope is −1 for most women, +1 for men."""

    def maleness(self, shape: Float64[NumpyArray, "K"]) -> float:
        """0 for a woman, 1 for a man, ½ where the shape does not tell."""
        if self.sex_slope is None:
            return 0.5
        return float(1.0 / (1.0 + np.exp(-4.0 * float(shape @ self.sex_slope))))

    @property
    def count(self) -> int:
        """Number K of directions."""
        return len(self.vertex_shapes)

    def vertices(self, shape: Float64[NumpyArray, "K"]) -> Float64[NumpyArray, "V 3"]:
        """Rest skin, metres."""
        return self.mean_vertices + np.tensordot(shape, self.vertex_shapes, 1)

    def joints(self, shape: Float64[NumpyArray, "K"]) -> Float64[NumpyArray, "J 3"]:
        """Rest joints, metres."""
        return self.mean_joints + np.tensordot(shape, self.joint_shapes, 1)


@dataclass(frozen=True, eq=False)
class SpaceCoefficients:
    """The space in the targets' coefficients, small enough to ship."""

    mean: Float64[NumpyArray, "S"]
    """Of all people."""
    shares: Float64[NumpyArray, "K S"]
    """Change with one standard deviation."""
    sex_slope: Float64[NumpyArray, "K"]
    """See `PersonSpace`."""


@cache
def person_space(count: int = COMPONENTS, without: tuple[str, ...] = ()) -> PersonSpace:
    """The first `count` components of people on the default body's skin; made once.

    Unknowns named in `without` are held at their mean in all people, so that no direction of the
    space knows them. Without any, and with the usual count, the coefficients are those that ship.
    """
    model = PhenotypeModel()
    shipped = count == COMPONENTS and not without
    found = _shipped() if shipped else space_coefficients(model, count, without)
    used = np.flatnonzero(np.any(found.shares != 0, axis=0) | (found.mean != 0))
    joint_count = len(model.base_joints)
    offsets = np.concatenate(
        [np.asarray(model.joint_offsets)[used], np.asarray(model.vertex_offsets)[used]], axis=1
    ).astype(np.float32)
    offsets -= offsets[:, :1].copy()
    base = np.concatenate([model.base_joints, model.base_vertices]).astype(np.float64)
    base -= base[:1].copy()
    shares = found.shares[:, used].astype(np.float32)
    shapes = (shares @ offsets.reshape(len(used), -1)).reshape(len(shares), -1, 3)
    shapes = shapes.astype(np.float64)
    average = base + np.tensordot(found.mean[used].astype(np.float32), offsets, 1)
    return PersonSpace(
        average[joint_count:],
        average[:joint_count],
        np.ascontiguousarray(shapes[:, joint_count:]),
        np.ascontiguousarray(shapes[:, :joint_count]),
        found.sex_slope,
    )


def _shipped() -> SpaceCoefficients:
    """As `tools/build_person_space.py` made them."""
    stored = read_archive("person_space")
    return SpaceCoefficients(
        *(stored[key].astype(np.float64) for key in ("mean", "shares", "sex_slope"))
    )


def space_coefficients(
    model: PhenotypeModel, count: int = COMPONENTS, without: tuple[str, ...] = ()
) -> SpaceCoefficients:
    """Draw people, and find their mean and principal components; seconds."""
    random = np.random.default_rng(5)
    coefficients = np.concatenate(
        [_survey(model, 0.0, random, without), _survey(model, 1.0, random, without)]
        + ([] if without else [_even(model, random)])
    )
    size = coefficients.shape[1]
    used = np.flatnonzero(np.any(coefficients != 0, axis=0))
    coefficients = coefficients[:, used]
    some = np.asarray(model.vertex_offsets)[used][:, ::_APART].astype(np.float32)
    some = (some - np.asarray(model.joint_offsets, np.float32)[used, :1]).reshape(len(used), -1)
    mean = coefficients.mean(axis=0)
    spreads, axes = np.linalg.eigh(np.cov(coefficients.T, bias=True))
    kept = spreads > 1e-10 * spreads[-1]
    half = np.sqrt(spreads[kept])[:, None] * axes[:, kept].T  # Cov = halfᵀ half
    gram = half @ (some @ some.T).astype(np.float64) @ half.T
    values, vectors = np.linalg.eigh(gram)
    order = np.argsort(-values)[:count]
    scores = ((coefficients - mean) @ axes[:, kept] / np.sqrt(spreads[kept])) @ vectors[:, order]
    # component k: Oᵀ halfᵀ u_k has length √λ_k, one standard deviation
    shares, whole = np.zeros((len(order), size)), np.zeros(size)
    shares[:, used], whole[used] = vectors[:, order].T @ half, mean
    return SpaceCoefficients(whole, shares, _discriminant(scores[: 2 * _SURVEYED]))


def _discriminant(scores: Float64[NumpyArray, "n K"]) -> Float64[NumpyArray, "K"]:
    """Least squares of −1 (the first half, women) and +1 (men) by β, damped."""
    sexes = np.repeat([-1.0, 1.0], len(scores) // 2)
    gram = scores.T @ scores + 0.02 * len(scores) * np.eye(scores.shape[1])
    return np.linalg.solve(gram, scores.T @ sexes)


def _survey(
    model: PhenotypeModel, sex: float, random: np.random.Generator, without: tuple[str, ...]
) -> Float[NumpyArray, "n S"]:
    """Coefficients of people as the survey has them, spread a little."""
    unknowns = unknowns_of(model)
    population = people(sex, tuple(u.name for u in unknowns))
    dimensions = random.multivariate_normal(
        population.mean, _SPREAD**2 * population.covariance, _SURVEYED
    )
    noise = random.multivariate_normal(
        np.zeros(len(unknowns)), population.shape_covariance, _SURVEYED
    )
    values = population.shape_mean + (dimensions - population.mean) @ population.shape_slopes.T
    values = np.clip(values + noise, [u.low for u in unknowns], [u.high for u in unknowns])
    held = [i for i, unknown in enumerate(unknowns) if unknown.name in without]
    values[:, held] = np.clip(
        population.shape_mean, [u.low for u in unknowns], [u.high for u in unknowns]
    )[held]
    sliders = dict(zip(SLIDERS, values.T[: len(SLIDERS)], strict=True))
    sliders |= {"gender": np.full(_SURVEYED, sex), "age": random.uniform(18.0, 80.0, _SURVEYED)}
    local = {
        modifier.parameter.name: value
        for unknown, value in zip(unknowns, values.T, strict=True)
        for modifier in unknown.modifiers
    }
    return np.asarray(model.coefficients(sliders, local), np.float64)


def _even(model: PhenotypeModel, random: np.random.Generator) -> Float[NumpyArray, "n S"]:
    """Coefficients of random sliders."""
    sliders = {p.name: random.uniform(p.low, p.high, _EVEN) for p in model.parameters}
    return np.asarray(model.coefficients(sliders), np.float64)
