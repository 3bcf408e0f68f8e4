"""The network that ships: gated movement drives stable oscillators, whose state is read out.

    drive     h⁰ = (W_m m) ⊙ (1 + g(m, pose, person))
    memory    hˡ⁺¹ = hˡ + GLU(gelu(Re(C x) + D hˡ)),   x an oscillator bank driven by B hˡ
    dynamic   z = (W_z h) ⊙ (1 + a(pose, person)) e^{k · person}
    static    z = MLP(pose, person) − MLP(zero pose, person)

Movement m is zero for a body at rest, and no layer of the memory has a bias: whatever was learned,
a still body has no dynamic offset once the oscillators have come to rest, and bounded movement
gives bounded offsets (`recurrence`). The person turns the oscillators' decay and frequency.

Written for NumPy and JAX alike: training and use are one source.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from corporeal._typing import Array, Float, NumpyArray
from corporeal.dynamics.neural.features import MOVEMENT_SIZE, POSE_SIZE
from corporeal.dynamics.neural.recurrence import Poles, decay, poles
from corporeal.errors import InputError
from corporeal.runtime.arrays import namespace_of

Parameters: TypeAlias = Mapping[str, Any]
"""Learned arrays by name."""
Complex: TypeAlias = tuple[Any, Any]
"""Real and imaginary part."""
Memory: TypeAlias = Callable[[int, Poles, Complex], Complex]
"""From a layer's number, its poles and its drive to its oscillators' state."""

_MOST_LAYERS: Final = 8
_MOST_UNITS: Final = 4096
BOUND: Final = 8.0
"""Movement beyond so many usual sizes counts as that much, softly."""


def initial_parameters(
    seed: int,
    person_size: int,
    dynamic_size: int,
    static_size: int,
    *,
    width: int = 128,
    oscillators: int = 96,
    layers: int = 2,
    hidden: int = 128,
) -> dict[str, NumpyArray]:
    """Random weights; frequencies of the oscillators from 0.5 to 25 Hz, decays around 8 1/s."""
    draw = np.random.default_rng(seed)

    def dense(rows: int, columns: int, scale: float = 1.0) -> NumpyArray:
        return (scale / np.sqrt(rows) * draw.standard_normal((rows, columns))).astype(np.float32)

    seen = POSE_SIZE + person_size
    made = {
        "movement_in": dense(MOVEMENT_SIZE, width),
        "gate_in": dense(MOVEMENT_SIZE + seen, hidden),
        "gate_in_bias": np.zeros(hidden, np.float32),
        "gate_out": dense(hidden, width, 0.1),
        "read_in": dense(seen, hidden),
        "read_in_bias": np.zeros(hidden, np.float32),
        "read_out": dense(hidden, dynamic_size, 0.1),
        "dynamic_out": dense(width, dynamic_size, 0.1),
        "person_size": np.zeros((person_size, 1), np.float32),
        "static_in": dense(seen, hidden),
        "static_in_bias": np.zeros(hidden, np.float32),
        "static_mid": dense(hidden, hidden),
        "static_mid_bias": np.zeros(hidden, np.float32),
        "static_out": dense(hidden, static_size, 0.1),
    }
    for layer in range(layers):
        hertz = np.geomspace(0.5, 25.0, oscillators)
        made |= {
            f"decay_{layer}": draw.normal(0.0, 0.5, oscillators).astype(np.float32),
            f"frequency_{layer}": np.log(2 * np.pi * hertz).astype(np.float32),
            f"person_decay_{layer}": dense(person_size, oscillators, 0.05),
            f"person_frequency_{layer}": dense(person_size, oscillators, 0.05),
            f"drive_re_{layer}": dense(width, oscillators),
            f"drive_im_{layer}": dense(width, oscillators),
            f"read_re_{layer}": dense(oscillators, width),
            f"read_im_{layer}": dense(oscillators, width),
            f"skip_{layer}": np.ones(width, np.float32),
            f"value_{layer}": dense(width, width, 0.5),
            f"open_{layer}": dense(width, width, 0.5),
        }
    return made


def require_layout(parameters: Parameters, person_size: int) -> None:
    """Raise `InputError` unless all weights are there and fit together."""
    shapes = {name: np.shape(value) for name, value in parameters.items()}
    layers = layer_count(parameters)
    sizes = {
        "width": _columns(shapes, "movement_in"),
        "oscillators": _columns(shapes, "decay_0"),
        "hidden": _columns(shapes, "gate_in"),
    }
    outputs = _columns(shapes, "dynamic_out"), _columns(shapes, "static_out")
    if not 1 <= layers <= _MOST_LAYERS or max(*sizes.values(), *outputs) > _MOST_UNITS:
        raise InputError(
            f"a neural model of {layers} layers and {sizes} came; expected 1 to {_MOST_LAYERS} "
            f"layers of at most {_MOST_UNITS} units."
        )
    like = initial_parameters(0, person_size, *outputs, layers=layers, **sizes)
    for name in sorted(like.keys() | shapes.keys()):
        wanted = like[name].shape if name in like else None
        if shapes.get(name) != wanted:
            raise InputError(
                f"a neural model has weights {name!r} of shape {shapes.get(name)}; expected "
                f"{wanted}. It was made for another network, or is damaged: train it again."
            )


def _columns(shapes: Mapping[str, tuple[int, ...]], name: str) -> int:
    shape = shapes.get(name, ())
    return shape[-1] if shape else 0


def layer_count(parameters: Parameters) -> int:
    """Number of banks of oscillators."""
    return sum(name.startswith("decay_") for name in parameters)


def layer_poles(
    parameters: Parameters, person: Float[Array, "*n q"], seconds: float
) -> list[Poles]:
    """The oscillators of a person for frames `seconds` apart."""
    xp = namespace_of(person)
    found = []
    for layer in range(layer_count(parameters)):
        raw = parameters[f"decay_{layer}"] + person @ parameters[f"person_decay_{layer}"]
        turned = person @ parameters[f"person_frequency_{layer}"]
        omega = xp.exp(parameters[f"frequency_{layer}"] + xp.tanh(turned))
        found.append(poles(decay(raw), omega, seconds))
    return found


def dynamic_coefficients(
    parameters: Parameters,
    movement: Float[Array, "*n m"],
    pose: Float[Array, "*n p"],
    person: Float[Array, "*n q"],
    banks: list[Poles],
    memory: Memory,
) -> Float[Array, "*n d"]:
    """z of the dynamic offsets; `memory` gives the oscillators' states, of one frame or of all."""
    xp = namespace_of(movement)
    felt = BOUND * xp.tanh(movement / BOUND)
    seen = xp.concat([pose, person], axis=-1)
    gate = xp.tanh(
        xp.concat([felt, seen], axis=-1) @ parameters["gate_in"] + parameters["gate_in_bias"]
    )
    h = (felt @ parameters["movement_in"]) * (1.0 + gate @ parameters["gate_out"])
    for layer, bank in enumerate(banks):
        drive = (h @ parameters[f"drive_re_{layer}"], h @ parameters[f"drive_im_{layer}"])
        x_re, x_im = memory(layer, bank, drive)
        y = x_re @ parameters[f"read_re_{layer}"] - x_im @ parameters[f"read_im_{layer}"]
        y = _gelu(y + parameters[f"skip_{layer}"] * h)
        h = h + (y @ parameters[f"value_{layer}"]) * _sigmoid(y @ parameters[f"open_{layer}"])
    read = xp.tanh(seen @ parameters["read_in"] + parameters["read_in_bias"])
    size = xp.exp(BOUND / 4 * xp.tanh(person @ parameters["person_size"] / (BOUND / 4)))
    return (h @ parameters["dynamic_out"]) * (1.0 + read @ parameters["read_out"]) * size


def static_coefficients(
    parameters: Parameters, pose: Float[Array, "*n p"], person: Float[Array, "*n q"]
) -> Float[Array, "*n s"]:
    """z of what the pose alone does beyond the pose correctives: none in the upright zero pose."""
    xp = namespace_of(pose)
    upright = np.zeros(POSE_SIZE, np.float32)
    upright[-2] = -1.0  # which way is down
    zero = xp.broadcast_to(xp.asarray(upright, dtype=pose.dtype), pose.shape)
    return _static(parameters, pose, person) - _static(parameters, zero, person)


def _static(parameters: Parameters, pose: Array, person: Array) -> Array:
    seen = namespace_of(pose).concat([pose, person], axis=-1)
    h = _gelu(seen @ parameters["static_in"] + parameters["static_in_bias"])
    h = _gelu(h @ parameters["static_mid"] + parameters["static_mid_bias"])
    return h @ parameters["static_out"]


def _gelu(x: Array) -> Array:
    """x Φ(x), by the usual hyperbolic tangent."""
    xp = namespace_of(x)
    return 0.5 * x * (1.0 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def _sigmoid(x: Array) -> Array:
    return 0.5 * (1.0 + namespace_of(x).tanh(0.5 * x))
