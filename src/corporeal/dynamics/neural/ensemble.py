"""Several networks that were trained apart as one: block-diagonal matrices, and their mean.

Errors of networks of other seeds are only partly the same, so their mean has less (Hansen and
Salamon 1990). One network of k times the width costs little more a frame than one of them.
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import block_diag

from corporeal._typing import Float, NumpyArray
from corporeal.dynamics.neural.network import Parameters, layer_count

_SIDE_BY_SIDE = ("movement_in", "gate_in", "gate_in_bias", "read_in", "read_in_bias")
_BLOCKS = ("gate_out", "read_out", "dynamic_out")


def joined_members(
    members: Sequence[Parameters], part: Float[NumpyArray, "D"]
) -> dict[str, NumpyArray]:
    """One network whose dynamic coefficients are `part` times the mean of the members'.

    What poses do is that of the first member.
    """
    made: dict[str, NumpyArray] = {
        name: np.asarray(value) for name, value in members[0].items() if name.startswith("static_")
    }

    def all_of(name: str) -> list[NumpyArray]:
        return [np.asarray(member[name]) for member in members]

    for name in _SIDE_BY_SIDE:
        made[name] = np.concatenate(all_of(name), axis=-1)
    for name in _BLOCKS:
        made[name] = np.asarray(block_diag(*all_of(name)))
    for layer in range(layer_count(members[0])):
        for name in ("decay", "frequency", "person_decay", "person_frequency", "skip"):
            made[f"{name}_{layer}"] = np.concatenate(all_of(f"{name}_{layer}"), axis=-1)
        for name in ("drive_re", "drive_im", "read_re", "read_im", "value", "open"):
            made[f"{name}_{layer}"] = np.asarray(block_diag(*all_of(f"{name}_{layer}")))
    count = np.shape(members[0]["dynamic_out"])[1]
    sizes = [np.broadcast_to(size, (len(size), count)) for size in all_of("person_size")]
    made["person_size"] = np.concatenate(sizes, axis=1)
    made["member_mix"] = np.tile(np.diag(np.asarray(part) / len(members)), (len(members), 1))
    return {name: np.ascontiguousarray(value, np.float32) for name, value in made.items()}
