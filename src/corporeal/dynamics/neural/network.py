"""The network that ships: gated movement drives stable oscillators, whose state is read out.

    drive     h⁰ = (W_m m) ⊙ (1 + g(m, pose, person))
    memory    hˡ⁺¹ = hˡ + GLU(gelu(Re(C x) + D hˡ)),   x an oscillator bank driven by B hˡ
    dynamic   z = M ((W_z h) ⊙ (1 + a(pose, person)) e^{k · person}) + s ⊙ Σ_j α_j y_j
    static    z = MLP(pose, person) − MLP(zero pose, person)

Movement m is zero for a body at rest, and no layer of the memory has a bias: whatever was learned,
a still body has no dynamic offset once the oscillators have come to rest, and bounded movement
gives bounded offsets (`recurrence`). The person turns the oscillators' decay and frequency. y_j
are the linear predictors of training people (`experts`), where a network has them, α_j their shares
in this person. Several networks that were trained apart are one whose matrices are block-diagonal,
and M takes their mean (`ensemble`).

Written for NumPy and JAX alike: training and use are one source.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from corporeal._typing import Array, Float, NumpyArray
from corporeal.dynamics.neural import experts
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
    count = _columns(shapes, "member_mix") or outputs[0]
    if not 1 <= layers <= _MOST_LAYERS or max(*sizes.values(), *outputs) > _MOST_UNITS:
        raise InputError(
            f"a neural model of {layers} layers and {sizes} came; expected 1 to {_MOST_LAYERS} "
            f"layers of at most {_MOST_UNITS} units."
        )
    made = initial_parameters(0, person_size, *outputs, layers=layers, **sizes)
    like = {name: value.shape for name, value in made.items()}
    if "member_mix" in shapes:
        like |= {"person_size": (person_size, outputs[0]), "member_mix": (outputs[0], count)}
        like |= _static_layout(_columns(shapes, "static_in"), person_size, outputs[1])
    if "expert_in" in shapes:
        like |= experts.layout(_columns(shapes, "expert_in"), count)
    for name in sorted(like.keys() | shapes.keys()):
        wanted = like.get(name)
        if shapes.get(name) != wanted:
            raise InputError(
                f"a neural model has weights {name!r} of shape {shapes.get(name)}; expected "
                f"{wanted}. It was made for another network, or is damaged: train it again."
            )


def _static_layout(hidden: int, person_size: int, outputs: int) -> dict[str, tuple[int, ...]]:
    """Shapes of what poses do, where that half is not as wide as the other."""
    return {
        "static_in": (POSE_SIZE + person_size, hidden),
        "static_in_bias": (hidden,),
        "static_mid": (hidden, hidden),
        "static_mid_bias": (hidden,),
        "static_out": (hidden, outputs),
    }


def _columns(shapes: Mapping[str, tuple[int, ...]], name: str) -> int:
    shape = shapes.get(name, ())
    return shape[-1] if shape else 0


def layer_count(parameters: Parameters) -> int:
    """Number of banks of oscillators."""
    return sum(name.startswith("decay_") for name in parameters)


def person_size(parameters: Parameters) -> int:
    """Numbers of a person's shape and tissue; shares in experts come after them."""
    return int(np.shape(parameters["person_size"])[0])


def bank_sizes(parameters: Parameters) -> list[int]:
    """Oscillators of every bank: of all layers, and of the experts, if any, last."""
    names = [f"decay_{layer}" for layer in range(layer_count(parameters))]
    if "expert_in" in parameters:
        names.append("expert_decay")
    return [int(np.shape(parameters[name])[0]) for name in names]


def layer_poles(
    parameters: Parameters, person: Float[Array, "*n q"], seconds: float
) -> list[Poles]:
    """The oscillators of a person for frames `seconds` apart; the experts' last."""
    xp = namespace_of(person)
    found = []
    person = person[..., : person_size(parameters)]
    for layer in range(layer_count(parameters)):
        raw = parameters[f"decay_{layer}"] + person @ parameters[f"person_decay_{layer}"]
        turned = person @ parameters[f"person_frequency_{layer}"]
        omega = xp.exp(parameters[f"frequency_{layer}"] + xp.tanh(turned))
        found.append(poles(decay(raw), omega, seconds))
    if "expert_in" in parameters:
        found.append(experts.expert_poles(parameters, person, seconds))
    return found


def dynamic_coefficients(
    parameters: Parameters,
    movement: Float[Array, "*n m"],
    pose: Float[Array, "*n p"],
    person: Float[Array, "*n q"],
    banks: list[Poles],
    memory: Memory,
) -> Float[Array, "*n d"]:
    """z of the dynamic offsets; `memory` gives the oscillators' states, of one frame or of all.

    `person` holds the shares in experts after the person's own numbers.
    """
    xp = namespace_of(movement)
    own = person_size(parameters)
    person, shares = person[..., :own], person[..., own:]
    felt = bounded(movement)
    seen = xp.concat([pose, person], axis=-1)
    gate = xp.tanh(
        xp.concat([felt, seen], axis=-1) @ parameters["gate_in"] + parameters["gate_in_bias"]
    )
    h = (felt @ parameters["movement_in"]) * (1.0 + gate @ parameters["gate_out"])
    for layer, bank in enumerate(banks[: layer_count(parameters)]):
        drive = (h @ parameters[f"drive_re_{layer}"], h @ parameters[f"drive_im_{layer}"])
        x_re, x_im = memory(layer, bank, drive)
        y = x_re @ parameters[f"read_re_{layer}"] - x_im @ parameters[f"read_im_{layer}"]
        y = _gelu(y + parameters[f"skip_{layer}"] * h)
        h = h + (y @ parameters[f"value_{layer}"]) * _sigmoid(y @ parameters[f"open_{layer}"])
    read = xp.tanh(seen @ parameters["read_in"] + parameters["read_in_bias"])
    size = xp.exp(BOUND / 4 * xp.tanh(person @ parameters["person_size"] / (BOUND / 4)))
    z = (h @ parameters["dynamic_out"]) * (1.0 + read @ parameters["read_out"]) * size
    if "member_mix" in parameters:
        z = z @ parameters["member_mix"]
    if "expert_in" in parameters:
        z = z + experts.expert_coefficients(parameters, movement, person, shares, banks[-1], memory)
    return z


def bounded(movement: Float[Array, "*n m"]) -> Float[Array, "*n m"]:
    """Movement as it drives: beyond `BOUND` usual sizes it counts as that much, softly."""
    return BOUND * namespace_of(movement).tanh(movement / BOUND)


def static_coefficients(
    parameters: Parameters, pose: Float[Array, "*n p"], person: Float[Array, "*n q"]
) -> Float[Array, "*n s"]:
    """z of what the pose alone does beyond the pose correctives: none in the upright zero pose."""
    xp = namespace_of(pose)
    upright = np.zeros(POSE_SIZE, np.float32)
    upright[-2] = -1.0  # which way is down
    person = person[..., : person_size(parameters)]
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
