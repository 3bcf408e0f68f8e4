"""Linear predictors from what pushes flesh, beside those from all bones: the hybrid's linear half.

With the loads f of `skin_loads`, filtered by a few swings h_g, coefficients are

    δ_d = Σ_{r,g} γ_{d,r,g} (f_{d,r} * h_g),    γ_{d,r,g} = β_{r,g} + η_{d,r,g},

β shared by all coefficients, since a region gives way alike whatever blend shape describes it, and
η what a coefficient has of its own: two ridge regressions, one after the other. A person's numbers
are fitted to everybody's takes, those of the own, of people alike in body mass and of the own sex
counting most. Each swing is one more autoregression beside the usual (`dynamics.training`), whose
predictions are averaged: their errors are partly independent, and loads carry over to motions that
were never seen, where maps of all bones tell motions apart by heart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.signal import lfilter

from corporeal._typing import Float32, Float64, NumpyArray
from corporeal.body.dynamics import Predictors
from corporeal.dynamics.neural.training.samples import Sample


@dataclass(frozen=True)
class LoadTraining:
    """How predictors from loads are fitted, and how much they count."""

    swings: tuple[tuple[float, float], ...] = ((0.85, 2.5), (0.85, 4.0), (0.85, 6.0))
    """Radius of the poles at 60 frames a second, and Hz, of every filter."""
    shared_ridge: float = 0.03
    """Of what all coefficients share, in parts of the loads' squares."""
    ridge: float = 0.3
    """Of what is a coefficient's own, likewise."""
    other_sex: float = 0.05
    """Weight of people of the other sex, of that of the same."""
    width: float = 8.0
    """kg/m² apart at which people count 1/e."""
    own: float = 8.0
    """How many times the person's own takes count."""
    part: float = 0.5
    """Of the mean with the usual predictors."""


@dataclass(frozen=True, eq=False)
class Loads:
    """The loads of a set of blend shapes, and sums over takes that fits share."""

    rows: Float32[NumpyArray, "k D m"]
    """See `skin_loads`."""
    kept: dict[int, tuple[Sample, NumpyArray, NumpyArray]] = field(default_factory=dict)
    """Σ f fᵀ and Σ f δ of takes that were looked at."""

    def moments(
        self, sample: Sample, settings: LoadTraining
    ) -> tuple[Float32[NumpyArray, "D n n"], Float64[NumpyArray, "D n"]]:
        """Σ f fᵀ and Σ f δ of every coefficient, n loads and swings."""
        if id(sample) not in self.kept:
            seen = np.stack([_filtered(sample, swing) for swing in settings.swings])
            made = np.einsum("gtm,kdm->dtkg", seen.astype(np.float32), self.rows, optimize=True)
            made = made.reshape(*made.shape[:2], -1)
            turned = np.swapaxes(made, 1, 2)
            mixed = turned @ sample.dynamic.T[:, :, None].astype(np.float32)
            self.kept[id(sample)] = (sample, turned @ made, mixed[:, :, 0].astype(np.float64))
        return self.kept[id(sample)][1:]


def with_loads(
    linear: Predictors, samples: Sequence[Sample], loads: Loads, settings: LoadTraining
) -> Predictors:
    """The usual predictors and those from loads as those of several people each, in blocks: first
    everybody's usual one, then everybody's of every swing. All of a person's count alike in
    mixtures, so that inputs are as many times as large as there are blocks, by their part."""
    subjects = list(dict.fromkeys(sample.subject for sample in samples))
    indices = np.asarray(linear.body_mass_indices, np.float64)
    factors = _factors(samples, subjects, indices, linear.amplitude)
    sums = _Sums.of(samples, loads, settings, factors, subjects)
    blocks = 1 + len(settings.swings)
    usual = np.asarray(linear.inputs) * (blocks * (1.0 - settings.part))
    inputs = [usual, *(np.zeros_like(usual) for _ in settings.swings)]
    for person in range(len(subjects)):
        apart = np.abs(indices - indices[person]) / settings.width
        weights = np.exp(-apart) * np.where(np.arange(len(subjects)) == person, settings.own, 1.0)
        if linear.genders is not None:
            alike = np.abs(linear.genders - linear.genders[person]) < 0.5
            weights = weights * np.where(alike, 1.0, settings.other_sex)
        found = sums.solution(weights, settings).reshape(-1, len(loads.rows), blocks - 1)
        size = blocks * settings.part * np.exp(linear.amplitude * indices[person])
        for g in range(blocks - 1):
            inputs[1 + g][person] = size * np.einsum("dk,kdm->dm", found[:, :, g], loads.rows)
    first = np.asarray(linear.history)
    first = np.pad(first, ((0, 0), (0, 2 - first.shape[1]), (0, 0)))
    history = [first] + [
        np.broadcast_to(_history(swing)[:, None], first.shape).copy() for swing in settings.swings
    ]
    return replace(
        linear,
        inputs=np.concatenate(inputs),
        history=np.concatenate(history),
        constants=np.tile(linear.constants, (blocks, 1)),
        body_mass_indices=np.tile(indices, blocks),
        genders=None if linear.genders is None else np.tile(linear.genders, blocks),
    )


@dataclass(frozen=True)
class _Sums:
    """Weighted sums over every person's takes."""

    square: Float32[NumpyArray, "p D n n"]
    mixed: Float64[NumpyArray, "p D n"]

    @staticmethod
    def of(
        samples: Sequence[Sample],
        loads: Loads,
        settings: LoadTraining,
        factors: Sequence[tuple[float, float]],
        subjects: list[str],
    ) -> "_Sums":
        square, mixed = [], []
        for name in subjects:
            some = [
                (weight, size, *loads.moments(sample, settings))
                for sample, (weight, size) in zip(samples, factors, strict=True)
                if sample.subject == name
            ]
            square.append(np.sum([np.float32(w) * a for w, _, a, _ in some], axis=0))
            mixed.append(np.sum([w * size * b for w, size, _, b in some], axis=0))
        return _Sums(np.stack(square), np.stack(mixed))

    def solution(
        self, weights: Float64[NumpyArray, "p"], settings: LoadTraining
    ) -> Float64[NumpyArray, "D n"]:
        """γ: β, and η of what β leaves."""
        square = np.einsum("p,pdij->dij", weights, self.square, optimize=True).astype(np.float64)
        mixed = np.einsum("p,pdi->di", weights, self.mixed)
        whole = square.sum(axis=0)
        size = np.diag(whole)
        floor = 1e-9 * max(float(size.mean()), 1e-300)
        ridge = np.diag(settings.shared_ridge * size + floor)
        shared = np.linalg.solve(whole + ridge, mixed.sum(axis=0))
        sizes = np.einsum("dii->di", square)
        floors = 1e-6 * sizes.mean(axis=1, keepdims=True) + floor
        ridges = (settings.ridge * sizes + floors)[:, :, None] * np.eye(square.shape[1])
        return (
            shared + np.linalg.solve(square + ridges, (mixed - square @ shared)[..., None])[..., 0]
        )


def _factors(
    samples: Sequence[Sample],
    subjects: list[str],
    indices: Float64[NumpyArray, "p"],
    growth: float,
) -> list[tuple[float, float]]:
    """What a take's squares count as, and its coefficients: as a body of index 0 would swing, takes
    of small swings relative to the root of their size (`dynamics.training.alike_factors`)."""
    made = []
    for sample in samples:
        alike = float(np.exp(-growth * indices[subjects.index(sample.subject)]))
        power = alike**2 * float(np.mean(np.sum(sample.dynamic.astype(np.float64) ** 2, axis=1)))
        made.append((max(power, 1e-30) ** -0.5, alike))
    largest = max(weight for weight, _ in made)
    return [(weight / largest, alike) for weight, alike in made]


def _history(swing: tuple[float, float]) -> Float64[NumpyArray, "2"]:
    """a₁ and a₂ of a pair of poles."""
    radius, hertz = swing
    return np.array([2 * radius * np.cos(2 * np.pi * hertz / 60.0), -(radius**2)])


def _filtered(sample: Sample, swing: tuple[float, float]) -> Float64[NumpyArray, "t m"]:
    """What is felt, by 1/A(z)."""
    first, second = _history(swing)
    return np.asarray(lfilter([1.0], [1.0, -first, -second], sample.movement, axis=0))
