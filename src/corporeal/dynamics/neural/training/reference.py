"""Casas 2018's own networks: the autoencoder of section 3.3 and the regressor of section 3.4.

Both are trained in the frames' own principal components: of N frames no more than N directions
exist, so that the outermost layers, which are linear, lose nothing by it, and a frame has some
hundred numbers instead of 40 140. Distances of offsets are distances of these numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from corporeal._typing import Float32, NumpyArray
from corporeal.dynamics.neural.equations import (
    Autoencoder,
    Layer,
    Regressor,
    decode,
    encode,
    gamma,
    regress,
)
from corporeal.errors import InputError

_LINEAR = 0.05
"""Where tanh is as good as linear: the autoencoder starts there, as principal components."""


@dataclass(frozen=True, kw_only=True)
class ReferenceTraining:
    """How long and how large; the paper: 400 epochs of Adam, 10⁻⁵ for the autoencoder."""

    latent: int = 100
    """Numbers of the latent space."""
    wide: int = 512
    """Units of the first layer of the encoder and the last but one of the decoder."""
    narrow: int = 256
    """Units of the nonlinear layers."""
    hidden: int = 0
    """Units of the regressor; 0 for Masters 1993's rule, √(inputs · outputs)."""
    history: int = 3
    """Poses that the regressor sees: 3 (section 3.4) or 2 (section 3.5)."""
    noise: float = 0.0
    """Deviation of what is added to the remembered latent vectors, in parts of their own."""
    rollout: int = 1
    """Frames predicted from predictions in training; 1 takes all memory from the truth."""
    steps: int = 4000
    """Updates of the weights."""
    batch: int = 64
    """Frames, or beginnings of roll-outs, an update."""
    learning_rate: float = 1e-3
    """Of Adam, falling to zero by a cosine."""
    seed: int = 0
    """Of weights and batches."""


def started_as_components(rank: int, settings: ReferenceTraining, scale: NumpyArray) -> Autoencoder:
    """An autoencoder that begins as the principal components it is compared with.

    Inputs are coefficients of components, those of most variance first; `scale` is the deviation
    of the first. The nonlinear layers begin in the linear range of tanh.
    """
    k, wide, narrow = settings.latent, min(settings.wide, rank), settings.narrow
    if k > min(wide, narrow):
        raise InputError(
            f"a latent space of {k} does not fit through layers of {wide} and {narrow} units."
        )
    draw = np.random.default_rng(settings.seed)

    def layer(rows: int, columns: int, gain: float, noise: float) -> Layer:
        weights = noise / np.sqrt(rows) * draw.standard_normal((rows, columns))
        same = np.arange(min(rows, columns, k))
        weights[same, same] += gain
        return Layer(weights.astype(np.float32), np.zeros(columns, np.float32))

    small = _LINEAR / float(scale[0])
    encoder = (
        layer(rank, wide, small, 0.1 * small), layer(wide, narrow, 1.0, 0.1),
        layer(narrow, k, 1.0, 0.02),
    )  # fmt: skip
    decoder = (
        layer(k, narrow, 1.0, 0.02), layer(narrow, wide, 1.0, 0.1),
        layer(wide, rank, 1.0 / small, 0.02 / small),
    )  # fmt: skip
    return Autoencoder(encoder, decoder)


def train_autoencoder(
    train: Float32[NumpyArray, "N r"],
    held_out: Float32[NumpyArray, "M r"],
    settings: ReferenceTraining,
) -> tuple[Autoencoder, list[tuple[int, float, float]]]:
    """Weights at their best on held-out frames, and the curve: step, both mean squares."""
    scale = np.maximum(train.std(axis=0), 1e-12)
    parameters: Any = jax.tree.map(
        jnp.asarray, started_as_components(train.shape[1], settings, scale)
    )

    def loss(parameters: Any, rows: Any) -> Any:
        again = decode(parameters, encode(parameters, rows))
        return jnp.mean(jnp.sum((again - rows) ** 2, axis=-1))

    def batches(draw: np.random.Generator) -> NumpyArray:
        return train[draw.integers(0, len(train), settings.batch)]

    return _descend(loss, parameters, batches, held_out, settings)


@dataclass(frozen=True)
class RegressorTake:
    """One take for the regressor."""

    latent: Float32[NumpyArray, "N k"]
    """Encoded truth."""
    poses: Float32[NumpyArray, "N p"]
    """θ of every frame."""
    target: Float32[NumpyArray, "N r"]
    """Truth, coefficients of components."""


def train_regressor(
    takes: Sequence[RegressorTake],
    held_out: Sequence[RegressorTake],
    autoencoder: Autoencoder,
    settings: ReferenceTraining,
) -> tuple[Regressor, list[tuple[int, float, float]]]:
    """The regressor of section 3.4: one hidden layer from γ to the offsets themselves.

    `rollout` frames are predicted in a row, each remembering what was predicted before it, by
    encoding; with 1 and without noise it is the paper's.
    """
    windows = _windows(takes, settings)
    outside = _windows(held_out, settings)
    inputs = 2 * settings.latent + settings.history * takes[0].poses.shape[1]
    outputs = takes[0].target.shape[1]
    hidden = settings.hidden or round(np.sqrt(inputs * outputs))
    draw = np.random.default_rng(settings.seed)
    pose_scale = np.std(np.concatenate([take.poses for take in takes]), axis=0) + 1e-3
    latent_scale = np.std(np.concatenate([take.latent for take in takes]), axis=0) + 1e-6
    unit = np.concatenate([latent_scale, latent_scale, *[pose_scale] * settings.history])

    def dense(rows: int, columns: int, scale: Any) -> Layer:
        weights = scale * draw.standard_normal((rows, columns)) / np.sqrt(rows)
        return Layer(weights.astype(np.float32), np.zeros(columns, np.float32))

    spread = float(np.std(np.concatenate([take.target for take in takes])))
    parameters: Any = jax.tree.map(
        jnp.asarray,
        Regressor(dense(inputs, hidden, 1.0 / unit[:, None]), dense(hidden, outputs, spread)),
    )

    def rolled(parameters: Any, window: Any) -> Any:
        latent, poses, target, noise = window
        one, two = latent[:, 1] + noise[:, 0], latent[:, 0] + noise[:, 1]
        wrong = 0.0
        for step in range(target.shape[1]):
            seen = tuple(
                poses[:, settings.history - 1 + step - back] for back in range(settings.history)
            )
            found = regress(parameters, gamma(one, two, seen))
            wrong += jnp.mean(jnp.sum((found - target[:, step]) ** 2, axis=-1))
            one, two = encode(autoencoder, found), one
        return wrong / target.shape[1]

    def batches(draw: np.random.Generator) -> tuple[NumpyArray, ...]:
        chosen = draw.integers(0, len(windows[0]), settings.batch)
        picked = tuple(part[chosen] for part in windows)
        noise = (
            settings.noise
            * latent_scale
            * draw.standard_normal((settings.batch, 2, settings.latent))
        )
        return (*picked, noise.astype(np.float32))

    still = np.zeros((len(outside[0]), 2, settings.latent), np.float32)
    return _descend(rolled, parameters, batches, (*outside, still), settings)


def run_regressor(
    autoencoder: Autoencoder, regressor: Regressor, take: RegressorTake, history: int
) -> Float32[NumpyArray, "N r"]:
    """Free-running prediction of a take: all memory is its own, from the first frame's truth on."""
    one = two = take.latent[0]
    rows = [take.target[0]]
    for frame in range(1, len(take.poses)):
        seen = tuple(take.poses[max(frame - back, 0)] for back in range(history))
        rows.append(np.asarray(regress(regressor, gamma(one, two, seen)), np.float32))
        one, two = np.asarray(encode(autoencoder, rows[-1]), np.float32), one
    return np.stack(rows)


def _windows(
    takes: Sequence[RegressorTake], settings: ReferenceTraining
) -> tuple[NumpyArray, NumpyArray, NumpyArray]:
    """Two remembered frames, the poses around them, and the frames to predict."""
    latent, poses, target = [], [], []
    behind = settings.history - 1
    for take in takes:
        padded = np.concatenate([np.repeat(take.poses[:1], behind, axis=0), take.poses])
        for first in range(2, len(take.poses) - settings.rollout + 1):
            latent.append(take.latent[first - 2 : first])
            poses.append(padded[first : first + behind + settings.rollout])
            target.append(take.target[first : first + settings.rollout])
    return np.stack(latent), np.stack(poses), np.stack(target)


def _descend(
    loss: Any, parameters: Any, batches: Any, held_out: Any, settings: ReferenceTraining
) -> tuple[Any, list[tuple[int, float, float]]]:
    """Adam down a cosine; the weights that were best on `held_out`."""
    optimiser = optax.adam(optax.cosine_decay_schedule(settings.learning_rate, settings.steps))
    state = optimiser.init(parameters)

    @jax.jit
    def update(parameters: Any, state: Any, batch: Any) -> Any:
        value, slope = jax.value_and_grad(loss)(parameters, batch)
        change, state = optimiser.update(slope, state, parameters)
        return optax.apply_updates(parameters, change), state, value

    judge = jax.jit(loss)
    draw = np.random.default_rng(settings.seed)
    best, best_value = parameters, float(judge(parameters, held_out))
    curve = [(0, float("nan"), best_value)]
    every = max(1, settings.steps // 40)
    for step in range(1, settings.steps + 1):
        parameters, state, value = update(parameters, state, batches(draw))
        if step % every == 0 or step == settings.steps:
            outside = float(judge(parameters, held_out))
            curve.append((step, float(value), outside))
            if outside < best_value:
                best, best_value = parameters, outside
    return jax.tree.map(np.asarray, best), curve
