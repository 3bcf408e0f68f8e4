"""The network of one body, laid out once for the compiled step (`step_cpu`).

What does not change from frame to frame is done here: the person's part of the gates, sizes and
shares, matrices that are read together side by side, the oscillators' factors for the time between
frames. `network` has the equations.
"""

from typing import NamedTuple

import numpy as np

from corporeal._typing import Float32, NumpyArray
from corporeal.dynamics.neural import experts, network
from corporeal.dynamics.neural.features import MOVEMENT_SIZE, POSE_SIZE
from corporeal.dynamics.neural.network import BOUND, Parameters
from corporeal.dynamics.neural.recurrence import Poles


class PackedNetwork(NamedTuple):
    """Weights as the step reads them; W wide, H hidden, S oscillators a layer, E of experts."""

    movement_in: Float32[NumpyArray, "m W"]
    """From the m movement features into the oscillators' drive."""
    gate_movement: Float32[NumpyArray, "m H"]
    """From the movement features into the gates' hidden layer."""
    gate_pose: Float32[NumpyArray, "p H"]
    """From the p pose features into the gates' hidden layer."""
    gate_out: Float32[NumpyArray, "H W"]
    """From the gates' hidden layer to a gate for every number of the drive."""
    read_pose: Float32[NumpyArray, "p H"]
    """From the pose features into the read-out's hidden layer."""
    read_out: Float32[NumpyArray, "H D"]
    """From the read-out's hidden layer to a share of every coefficient."""
    drives: Float32[NumpyArray, "L W 2S"]
    """Real parts, then imaginary ones."""
    reads: Float32[NumpyArray, "L 2S W"]
    """Of the real parts, then of the imaginary ones, their sign turned."""
    skips: Float32[NumpyArray, "L W"]
    """What goes past the oscillators of every layer."""
    values: Float32[NumpyArray, "L W 2W"]
    """Values, then what opens them."""
    dynamic_out: Float32[NumpyArray, "W D"]
    """From the last layer to the coefficients."""
    mix: Float32[NumpyArray, "D K"]
    """Of the members; 0 × 0 where there is one alone."""
    expert_in: Float32[NumpyArray, "m E"]
    """From the movement features into the experts' oscillators."""
    limits: Float32[NumpyArray, "m"]
    """Beyond which a movement feature counts no further."""


class PackedPerson(NamedTuple):
    """What a person adds to it."""

    gate: Float32[NumpyArray, "H"]
    """To the gates' hidden layer."""
    read: Float32[NumpyArray, "H"]
    """To the read-out's hidden layer."""
    size: Float32[NumpyArray, "D"]
    """Of every coefficient, which the output is multiplied by."""
    expert_re: Float32[NumpyArray, "E"]
    """Weights of the real parts of the experts' states."""
    expert_im: Float32[NumpyArray, "E"]
    """Weights of the imaginary parts."""
    expert_skip: Float32[NumpyArray, "E"]
    """Weights of what goes past the experts' oscillators."""


class Memory(NamedTuple):
    """The oscillators' states; real parts, then imaginary ones."""

    layers: Float32[NumpyArray, "L 2 S"]
    """Of the L layers."""
    experts: Float32[NumpyArray, "2 E"]
    """Of the experts."""


class PackedBanks(NamedTuple):
    """Poles for frames that are so far apart: Re p, Im p, Re q, Im q."""

    layers: Float32[NumpyArray, "L 4 S"]
    """Of the L layers."""
    experts: Float32[NumpyArray, "4 E"]
    """Of the experts."""


def packed_network(parameters: Parameters) -> PackedNetwork:
    """Matrices side by side, contiguous."""
    p, layers = parameters, range(network.layer_count(parameters))

    def beside(one: str, other: str, axis: int, sign: float = 1.0) -> NumpyArray:
        return np.stack([
            np.concatenate([p[f"{one}_{n}"], sign * p[f"{other}_{n}"]], axis=axis) for n in layers
        ])  # fmt: skip

    none = np.zeros((0, 0), np.float32)
    made = PackedNetwork(
        p["movement_in"],
        p["gate_in"][:MOVEMENT_SIZE],
        p["gate_in"][MOVEMENT_SIZE : MOVEMENT_SIZE + POSE_SIZE],
        p["gate_out"],
        p["read_in"][:POSE_SIZE],
        p["read_out"],
        beside("drive_re", "drive_im", 1),
        beside("read_re", "read_im", 0, -1.0),
        np.stack([p[f"skip_{n}"] for n in layers]),
        beside("value", "open", 1),
        p["dynamic_out"],
        p.get("member_mix", none),
        p.get("expert_in", np.zeros((MOVEMENT_SIZE, 0), np.float32)),
        p.get("expert_limits", np.zeros(MOVEMENT_SIZE, np.float32)),
    )
    return PackedNetwork(*(np.ascontiguousarray(part, np.float32) for part in made))


def packed_person(parameters: Parameters, person: Float32[NumpyArray, "q"]) -> PackedPerson:
    """Biases, sizes and shares of somebody."""
    p, own = parameters, network.person_size(parameters)
    who, shares = person[:own], person[own:]
    count = len(shares)
    read = [np.zeros(0, np.float32)] * 3
    if "expert_in" in p:
        faster, _ = experts.tissue_factors(p, who, np)
        part = np.repeat(shares, len(p["expert_share"])) * np.tile(p["expert_share"], count)
        part = part / (faster * faster)
        read = [part * p[name] for name in ("expert_read_re", "expert_read_im", "expert_skip")]
    made = PackedPerson(
        who @ p["gate_in"][MOVEMENT_SIZE + POSE_SIZE :] + p["gate_in_bias"],
        who @ p["read_in"][POSE_SIZE:] + p["read_in_bias"],
        np.broadcast_to(
            np.exp(BOUND / 4 * np.tanh(who @ p["person_size"] / (BOUND / 4))),
            np.shape(p["dynamic_out"])[1:],
        ),
        *read,
    )
    return PackedPerson(*(np.ascontiguousarray(part, np.float32) for part in made))


def packed_banks(banks: list[Poles], layers: int) -> PackedBanks:
    """Poles of all layers, and of the experts, if any, last."""
    rows = [np.stack([np.asarray(part, np.float32) for part in bank]) for bank in banks]
    rest = rows[layers] if len(rows) > layers else np.zeros((4, 0), np.float32)
    return PackedBanks(np.ascontiguousarray(np.stack(rows[:layers])), np.ascontiguousarray(rest))


def at_rest(parameters: Parameters) -> Memory:
    """Oscillators that nothing has driven."""
    layers, sizes = network.layer_count(parameters), network.bank_sizes(parameters)
    rest = sizes[layers] if len(sizes) > layers else 0
    return Memory(np.zeros((layers, 2, sizes[0]), np.float32), np.zeros((2, rest), np.float32))
