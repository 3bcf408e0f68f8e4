"""Training of recurrent networks: whole takes, all frames at once, by Adam.

Since oscillators are linear in their state, all frames of a take are found together by an
associative scan (Blelloch 1990): no step is taken from the truth, so that training sees just what
use will see, and nothing can drift later that did not drift then. Several networks, of other seeds
or from other takes, are trained side by side. What is kept are running means of the weights.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from corporeal._typing import Bool, NumpyArray
from corporeal.dynamics.neural import network
from corporeal.dynamics.neural.network import Complex
from corporeal.dynamics.neural.recurrence import Poles, taken
from corporeal.dynamics.neural.training.augmentation import Takes, drawn
from corporeal.dynamics.neural.training.samples import Sample
from corporeal.errors import InputError

Errors = dict[str, float]
"""Share of the mean square that is not explained, of `dynamic` and `static` coefficients."""
Progress = Callable[[int, Errors, Errors], None]
"""Is told the step, the training error and the held-out error, in the mean of all networks."""


@dataclass(frozen=True, kw_only=True)
class RecurrentTraining:
    """How long and how large."""

    steps: int = 4000
    """Updates of the weights."""
    batch: int = 16
    """Takes an update."""
    frames: int = 120
    """Of a take, from a random one on; the frames before it warm the memory up."""
    learning_rate: float = 3e-3
    """Of Adam, at most; it rises over the first twentieth and falls to zero by a cosine."""
    weight_decay: float = 3e-2
    """Of Adam (decoupled)."""
    running_mean: float = 0.99
    """Share that the mean of the weights keeps of itself at every update."""
    width: int = 48
    """Numbers between layers."""
    oscillators: int = 48
    """Of a layer."""
    layers: int = 2
    """Banks of oscillators."""
    hidden: int = 48
    """Units of each gate."""
    check_every: int = 200
    """Updates between looks at the held-out takes."""
    stretch: float = 0.15
    """Takes are played up to so many e-folds slower or faster, on stiffer or softer flesh."""
    loudness: float = 0.3
    """Movement and answer are larger or smaller together, by up to so many e-folds."""
    person_noise: float = 0.3
    """Deviation of what is added to the person's numbers, of theirs: few people are no pattern."""
    seed: int = 0
    """Of weights and batches."""


@dataclass(frozen=True)
class TrainedNetwork:
    """Weights at their best on held-out takes, or at the end where none are held out."""

    parameters: dict[str, NumpyArray]
    """Learned arrays by name."""
    person_mean: NumpyArray
    """Of the people trained on."""
    person_scale: NumpyArray
    """Their deviations."""
    curve: list[tuple[int, Errors, Errors]]
    """Step, training error, held-out error."""


def scanned(layer: int, bank: Poles, drive: Complex) -> Complex:
    """States of all frames of takes (time is the axis before the last), from rest on."""
    del layer
    u_re, u_im = taken(Poles(*(part[..., None, :] for part in bank)), drive)
    p_re = jnp.broadcast_to(bank.keep_re[..., None, :], u_re.shape)
    p_im = jnp.broadcast_to(bank.keep_im[..., None, :], u_re.shape)

    def join(first: Any, then: Any) -> Any:
        a_re, a_im, x_re, x_im = first
        b_re, b_im, y_re, y_im = then
        return (
            a_re * b_re - a_im * b_im,
            a_re * b_im + a_im * b_re,
            b_re * x_re - b_im * x_im + y_re,
            b_re * x_im + b_im * x_re + y_im,
        )

    _, _, x_re, x_im = jax.lax.associative_scan(join, (p_re, p_im, u_re, u_im), axis=-2)
    return x_re, x_im


def predict(
    parameters: Any, movement: Any, pose: Any, person: Any, seconds: float
) -> tuple[Any, Any]:
    """Dynamic and static coefficients of takes: B × N × … in, B × q people."""
    banks = network.layer_poles(parameters, person, seconds)
    everywhere = jnp.broadcast_to(person[:, None], (*pose.shape[:2], person.shape[-1]))
    dynamic = network.dynamic_coefficients(parameters, movement, pose, everywhere, banks, scanned)
    return dynamic, network.static_coefficients(parameters, pose, everywhere)


def train_recurrent(
    samples: Sequence[Sample],
    held_out: Sequence[Sample],
    settings: RecurrentTraining,
    progress: Progress | None = None,
) -> TrainedNetwork:
    """One network that predicts `samples`; the weights that are best on `held_out` are kept."""
    learned = np.arange(len(samples) + len(held_out)) < len(samples)
    every = [*samples, *held_out]
    return train_members(every, learned[None], ~learned[None], settings, progress)[0]


def train_members(
    samples: Sequence[Sample],
    learned: Bool[NumpyArray, "k n"],
    judged: Bool[NumpyArray, "k n"],
    settings: RecurrentTraining,
    progress: Progress | None = None,
) -> list[TrainedNetwork]:
    """k networks side by side, each from the samples that are `learned` from and kept at its best
    on those it is `judged` by; at the end where there are none."""
    if not learned.any(axis=1).all():
        raise InputError("a network has no take to learn from; expected at least one.")
    people = np.stack([samples[int(n)].person for n in np.flatnonzero(learned.any(axis=0))])
    unique = np.unique(people, axis=0)
    mean, scale = unique.mean(axis=0), np.maximum(unique.std(axis=0), 0.1)
    takes = packed(samples, mean, scale)
    stacked = _starts(samples, takes, learned, settings)
    update, optimiser = _updates(settings, float(samples[0].fps))
    state = jax.vmap(optimiser.init)(stacked)
    given = (takes, jnp.asarray(learned, jnp.float32), jnp.float32(scale[10]))
    judge = _judge(takes, judged, float(samples[0].fps))
    averaged, best = stacked, stacked
    least = np.full((2, len(learned)), np.inf)
    curve: list[tuple[int, Errors, Errors]] = []
    keys = jax.random.split(jax.random.key(settings.seed), len(learned))
    step = 0
    while step < settings.steps:
        count = min(settings.check_every, settings.steps - step)
        carry = (stacked, averaged, state)
        (stacked, averaged, state), inside = update(*carry, keys, given, step, count)
        step += count
        outside = judge(averaged) if judged.any() else np.asarray(inside)
        curve.append((step, _named(np.asarray(inside)), _named(outside)))
        if progress is not None:
            progress(*curve[-1])
        for row, kind in enumerate(("dynamic", "static")):  # the two halves share no weight
            better = outside[row] < least[row] if judged.any() else np.full(len(learned), True)
            least[row] = np.where(better, outside[row], least[row])
            best = _kept(best, averaged, better, kind)
    return [
        TrainedNetwork(
            {name: np.asarray(value[k], np.float32) for name, value in best.items()},
            mean, scale, curve,
        )
        for k in range(len(learned))
    ]  # fmt: skip


def predict_samples(
    trained: TrainedNetwork, samples: Sequence[Sample], persons: NumpyArray | None = None
) -> list[NumpyArray]:
    """Free-running dynamic coefficients of takes, from rest on; `persons` are what the network is
    told, the samples' own standardised numbers if None."""
    takes = packed(samples, trained.person_mean, trained.person_scale)
    told = takes.person if persons is None else jnp.asarray(persons, jnp.float32)
    weights = {name: jnp.asarray(value) for name, value in trained.parameters.items()}
    fps = float(samples[0].fps)
    found: list[NumpyArray] = []
    for first in range(0, len(samples), _AT_ONCE):
        rows = slice(first, first + _AT_ONCE)
        some = np.asarray(_run(weights, takes.movement[rows], takes.pose[rows], told[rows], fps))
        found += [row[: len(s.pose)] for row, s in zip(some, samples[rows], strict=True)]
    return found


_AT_ONCE = 32
"""Takes predicted together."""


def packed(samples: Sequence[Sample], mean: NumpyArray, scale: NumpyArray) -> Takes:
    """All takes in arrays; a take counts by one over the root mean square of its swings, as
    relative to the usual, so that large people are not all that counts."""
    longest = max(len(sample.pose) for sample in samples)

    def rows(name: str) -> Any:
        parts = [getattr(sample, name) for sample in samples]
        out = np.zeros((len(parts), longest, parts[0].shape[1]), np.float32)
        for row, part in zip(out, parts, strict=True):
            row[: len(part)] = part
        return jnp.asarray(out)

    person = np.stack([(sample.person - mean) / scale for sample in samples])
    sizes = np.array([np.sqrt(np.mean(np.sum(s.dynamic**2, axis=1))) for s in samples])
    usual = max(float(sizes.mean()), 1e-9)
    return Takes(
        rows("movement"),
        rows("pose"),
        jnp.asarray(np.clip(person, -3, 3).astype(np.float32)),
        rows("dynamic"),
        rows("static"),
        jnp.asarray([len(sample.pose) for sample in samples]),
        jnp.asarray((usual / np.maximum(sizes, 0.02 * usual)).astype(np.float32)),
    )


def _starts(
    samples: Sequence[Sample], takes: Takes, learned: NumpyArray, settings: RecurrentTraining
) -> dict[str, Any]:
    """First weights of all networks, stacked."""
    sizes = samples[0].dynamic.shape[1], samples[0].static.shape[1]
    people = np.asarray(takes.person)
    made = []
    for k, own in enumerate(learned):
        parameters: dict[str, Any] = network.initial_parameters(
            settings.seed + 1000 * k, people.shape[1], *sizes, width=settings.width,
            oscillators=settings.oscillators, layers=settings.layers, hidden=settings.hidden,
        )  # fmt: skip
        known = [s for s, used in zip(samples, own, strict=True) if used]
        parameters["person_size"] = _sizes(known, people[own])
        made.append(parameters)
    return {name: jnp.stack([one[name] for one in made]) for name in made[0]}


def _error(parameters: Any, batch: Any, seconds: float) -> Any:
    """Weighted squares of what is lacking over those of all there is, dynamic and static."""
    movement, pose, person, dynamic, static, worth = batch
    z, q = predict(parameters, movement, pose, person, seconds)
    found = []
    for rows, truth in ((z, dynamic), (q, static)):
        lacking = jnp.sum(worth * jnp.sum((rows - truth) ** 2, axis=-1))
        found.append(lacking / (jnp.sum(worth * jnp.sum(truth**2, axis=-1)) + 1e-30))
    if not static.shape[-1]:
        found[1] = jnp.zeros(())
    return found[0] + found[1], jnp.stack(found)


@cache
def _updates(settings: RecurrentTraining, fps: float) -> tuple[Any, Any]:
    """Some updates of all networks in one call, and the optimiser; compiled once a setting."""
    schedule = optax.warmup_cosine_decay_schedule(
        0.0, settings.learning_rate, max(1, settings.steps // 20), settings.steps
    )
    optimiser = optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adamw(schedule, weight_decay=settings.weight_decay, mask=_is_matrix),
    )

    def one(
        parameters: Any, averaged: Any, state: Any, key: Any, takes: Takes, chance: Any,
        stiffness: Any, step: Any,
    ) -> Any:  # fmt: skip
        batch = drawn(jax.random.fold_in(key, step), takes, chance, stiffness, settings)
        (_, parts), slope = jax.value_and_grad(_error, has_aux=True)(parameters, batch, 1 / fps)
        change, state = optimiser.update(slope, state, parameters)
        parameters = optax.apply_updates(parameters, change)
        keep = jnp.minimum(settings.running_mean, (1.0 + step) / (10.0 + step))
        averaged = jax.tree.map(lambda a, b: keep * a + (1 - keep) * b, averaged, parameters)
        return parameters, averaged, state, parts

    many = jax.vmap(one, in_axes=(0, 0, 0, 0, None, 0, None, None))

    def some(
        stacked: Any, averaged: Any, state: Any, keys: Any, given: Any, first: Any, count: int
    ) -> Any:
        def body(carry: Any, step: Any) -> Any:
            stacked, averaged, state = carry
            takes, chance, stiffness = given
            stacked, averaged, state, parts = many(
                stacked, averaged, state, keys, takes, chance, stiffness, step
            )
            return (stacked, averaged, state), parts

        carry, parts = jax.lax.scan(body, (stacked, averaged, state), first + jnp.arange(count))
        return carry, parts.mean(axis=0).T

    return jax.jit(some, static_argnums=6), optimiser


@partial(jax.jit, static_argnums=3)
def _judged(stacked: Any, some: Takes, counts: Any, fps: float) -> Any:
    """Errors k × 2 of networks on takes that count for each."""
    frames = jnp.arange(some.pose.shape[1]) < some.length[:, None]

    def one(both: Any) -> Any:
        parameters, count = both
        worth = frames * (count * some.worth)[:, None]
        return _error(parameters, (*some[:5], worth), 1 / fps)[1]

    return jax.lax.map(one, (stacked, counts))


def _judge(takes: Takes, judged: NumpyArray, fps: float) -> Any:
    """From weights to errors 2 × k on what every network is judged by."""
    used = np.flatnonzero(judged.any(axis=0))
    some = Takes(*(part[used] for part in takes))
    counts = jnp.asarray(judged[:, used], jnp.float32)
    return lambda stacked: np.asarray(_judged(stacked, some, counts, fps)).T


@partial(jax.jit, static_argnums=4)
def _run(parameters: Any, movement: Any, pose: Any, person: Any, fps: float) -> Any:
    return predict(parameters, movement, pose, person, 1 / fps)[0]


def _kept(best: Any, now: Any, better: NumpyArray, kind: str) -> dict[str, Any]:
    """`best` with the weights of one half replaced where networks got better."""
    return {
        name: jnp.where(better.reshape(-1, *(1,) * (value.ndim - 1)), now[name], value)
        if _kind(name) == kind
        else value
        for name, value in best.items()
    }


def _named(values: NumpyArray) -> Errors:
    return {"dynamic": float(np.mean(values[0])), "static": float(np.mean(values[1]))}


def _kind(name: str) -> str:
    """Which half of the network a weight belongs to."""
    return "static" if name.startswith("static_") else "dynamic"


def _is_matrix(parameters: Any) -> Any:
    """Which weights decay: matrices, not the oscillators' own numbers or biases."""
    return {
        name: np.ndim(value) == 2 and name != "person_size" for name, value in parameters.items()
    }


def _sizes(samples: Sequence[Sample], people: NumpyArray, ridge: float = 3.0) -> NumpyArray:
    """How the logarithm of swings goes with the person's numbers, where training starts from: ridge
    regression over takes with a size of its own for every motion."""
    away, sizes = [], []
    for motion in sorted({sample.sequence for sample in samples}):
        rows = [n for n, sample in enumerate(samples) if sample.sequence == motion]
        size = np.array([0.5 * np.log(np.mean(samples[n].dynamic ** 2) + 1e-30) for n in rows])
        away.append(people[rows] - people[rows].mean(axis=0))
        sizes.append(size - size.mean())
    x, y = np.concatenate(away).astype(np.float64), np.concatenate(sizes)
    square = x.T @ x + ridge * np.eye(x.shape[1])
    found = np.linalg.solve(square, x.T @ y)[:, None]
    return np.where(np.isfinite(found), found, 0.0).astype(np.float32)
