"""Training of the recurrent network: whole takes, all frames at once, by Adam.

Since oscillators are linear in their state, all frames of a take are found together by an
associative scan (Blelloch 1990): no step is taken from the truth, so that training sees just what
use will see, and nothing can drift later that did not drift then.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from corporeal._typing import NumpyArray
from corporeal.dynamics.neural import network
from corporeal.dynamics.neural.network import Complex
from corporeal.dynamics.neural.recurrence import Poles, taken
from corporeal.dynamics.neural.training.augmentation import varied
from corporeal.dynamics.neural.training.samples import Sample

Errors = dict[str, float]
"""Share of the mean square that is not explained, of `dynamic` and `static` coefficients."""
Progress = Callable[[int, Errors, Errors], None]
"""Is told the step, the training error and the held-out error."""


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
    weight_decay: float = 1e-2
    """Of Adam (decoupled)."""
    width: int = 128
    """Numbers between layers."""
    oscillators: int = 96
    """Of a layer."""
    layers: int = 2
    """Banks of oscillators."""
    hidden: int = 128
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
    """Weights at their best on held-out takes."""

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
    """Weights that predict the coefficients of `samples`; the best on `held_out` are kept."""
    people = np.stack([sample.person for sample in samples])
    unique = np.unique(people, axis=0)
    mean, scale = unique.mean(axis=0), np.maximum(unique.std(axis=0), 0.1)
    data = _packed(samples, mean, scale)
    test = _packed(held_out, mean, scale) if held_out else None
    sizes = samples[0].dynamic.shape[1], samples[0].static.shape[1]
    parameters: Any = network.initial_parameters(
        settings.seed,
        people.shape[1],
        *sizes,
        width=settings.width,
        oscillators=settings.oscillators,
        layers=settings.layers,
        hidden=settings.hidden,
    )
    parameters["person_size"] = _sizes(samples, data[2])
    schedule = optax.warmup_cosine_decay_schedule(
        0.0, settings.learning_rate, settings.steps // 20, settings.steps
    )
    optimiser = optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adamw(schedule, weight_decay=settings.weight_decay, mask=_is_matrix),
    )
    state = optimiser.init(parameters)
    seconds = 1.0 / samples[0].fps
    spread = tuple(float(np.mean(np.sum(part**2, axis=-1)[data[5] > 0])) for part in data[3:5])

    def loss(parameters: Any, batch: Any) -> Any:
        movement, pose, person, dynamic, static, mask = batch
        z, q = predict(parameters, movement, pose, person, seconds)
        worth = mask / jnp.sum(mask)
        moved = jnp.sum(worth * jnp.sum((z - dynamic) ** 2, axis=-1)) / spread[0]
        posed = jnp.sum(worth * jnp.sum((q - static) ** 2, axis=-1)) / max(spread[1], 1e-30)
        return moved + posed, (moved, posed)

    @jax.jit
    def update(parameters: Any, state: Any, batch: Any) -> Any:
        (_, parts), slope = jax.value_and_grad(loss, has_aux=True)(parameters, batch)
        change, state = optimiser.update(slope, state, parameters)
        return optax.apply_updates(parameters, change), state, parts

    judge = jax.jit(loss)
    draw = np.random.default_rng(settings.seed)
    curve: list[tuple[int, Errors, Errors]] = []
    best, best_values = dict(parameters), {"dynamic": np.inf, "static": np.inf}
    recent = np.zeros(2)
    for step in range(1, settings.steps + 1):
        batch = varied(_drawn(data, settings, draw), settings, scale, draw)
        parameters, state, parts = update(parameters, state, batch)
        now = np.asarray(parts, np.float64)
        recent = 0.98 * recent + 0.02 * now if step > 1 else now
        if step % settings.check_every == 0 or step == settings.steps:
            outside = np.asarray(judge(parameters, test)[1]) if test is not None else recent
            curve.append((step, _named(recent), _named(outside)))
            if progress is not None:
                progress(*curve[-1])
            for kind, value in curve[-1][2].items():  # the two halves share no weight
                if value < best_values[kind]:
                    best_values[kind] = value
                    best |= {name: v for name, v in parameters.items() if _kind(name) == kind}
    arrays = {name: np.asarray(value, np.float32) for name, value in best.items()}
    return TrainedNetwork(arrays, mean, scale, curve)


def predict_samples(trained: TrainedNetwork, samples: Sequence[Sample]) -> list[NumpyArray]:
    """Free-running dynamic coefficients of takes, from rest on."""
    packed = _packed(samples, trained.person_mean, trained.person_scale)
    movement, pose, person = (jnp.asarray(part) for part in packed[:3])
    found, _ = predict(trained.parameters, movement, pose, person, 1.0 / samples[0].fps)
    return [np.asarray(row)[: len(sample.pose)] for row, sample in zip(found, samples, strict=True)]


def _named(values: NumpyArray) -> Errors:
    return {"dynamic": float(values[0]), "static": float(values[1])}


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
    for motion in {sample.sequence for sample in samples}:
        rows = [n for n, sample in enumerate(samples) if sample.sequence == motion]
        size = np.array([0.5 * np.log(np.mean(samples[n].dynamic ** 2) + 1e-30) for n in rows])
        away.append(people[rows] - people[rows].mean(axis=0))
        sizes.append(size - size.mean())
    x, y = np.concatenate(away).astype(np.float64), np.concatenate(sizes)
    square = x.T @ x + ridge * np.eye(x.shape[1])
    found = np.linalg.solve(square, x.T @ y)[:, None]
    return np.where(np.isfinite(found), found, 0.0).astype(np.float32)


def _packed(
    samples: Sequence[Sample], mean: NumpyArray, scale: NumpyArray
) -> tuple[NumpyArray, ...]:
    """All takes in arrays of the longest one's length; the mask is 1 where there are frames."""
    longest = max(len(sample.pose) for sample in samples)

    def rows(name: str) -> NumpyArray:
        parts = [getattr(sample, name) for sample in samples]
        out = np.zeros((len(parts), longest, parts[0].shape[1]), np.float32)
        for row, part in zip(out, parts, strict=True):
            row[: len(part)] = part
        return out

    person = np.stack([(sample.person - mean) / scale for sample in samples]).astype(np.float32)
    mask = np.zeros((len(samples), longest), np.float32)
    for row, sample in zip(mask, samples, strict=True):
        row[: len(sample.pose)] = 1.0
    return (
        rows("movement"),
        rows("pose"),
        np.clip(person, -3, 3),
        rows("dynamic"),
        rows("static"),
        mask,
    )


def _drawn(
    data: tuple[NumpyArray, ...], settings: RecurrentTraining, draw: np.random.Generator
) -> tuple[NumpyArray, ...]:
    """Random takes, each from its first frame to a random end: the memory starts at rest, as in
    use."""
    count, longest = data[5].shape
    chosen = draw.integers(0, count, min(settings.batch, count))
    frames = min(settings.frames, longest)
    movement, pose, person, dynamic, static, mask = (part[chosen] for part in data)
    # from the beginning, or later with a memory that the frames before warm up
    first = draw.integers(0, longest - frames + 1)
    warm = min(first, 60)
    part = slice(first - warm, first + frames)
    mask = mask[:, part].copy()
    if warm:
        mask[:, :warm] = 0.0
        mask[:, warm : warm + 1] = np.maximum(mask[:, warm : warm + 1], 1e-6)
    pad = 60 - warm

    def cut(array: NumpyArray) -> NumpyArray:
        return np.pad(array[:, part], ((0, 0), (pad, 0), (0, 0)))

    mask = np.pad(mask, ((0, 0), (pad, 0)))
    return cut(movement), cut(pose), person, cut(dynamic), cut(static), mask
