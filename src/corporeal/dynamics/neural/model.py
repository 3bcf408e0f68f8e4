"""Neural soft tissue of any person of the default body's surface: a trained network in use.

Offsets are in the rest pose and are added to the pose correctives of `base` before skinning
(Casas 2018, eq. 3): M̄ = T̄ + M_s(β) + M_p(θ) + M_d(γ). Nothing here imports JAX.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from corporeal._typing import Float, Float32, Float64, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.neural_flesh import Experts, NeuralFlesh
from corporeal.dynamics.mixture import people_shares
from corporeal.dynamics.neural import features, network
from corporeal.dynamics.neural.person import PERSON_SIZE, Tissue, person_numbers
from corporeal.dynamics.neural.step import (
    Memory,
    PackedBanks,
    PackedNetwork,
    PackedPerson,
    at_rest,
    packed_banks,
    packed_network,
    packed_person,
)
from corporeal.errors import InputError

_MOST_KEPT = 64
"""People and frame rates whose oscillators are remembered."""


class NeuralModel:
    """A trained network in use."""

    def __init__(self, trained: NeuralFlesh) -> None:
        network.require_layout(trained.parameters, PERSON_SIZE)
        if len(trained.person_mean) != PERSON_SIZE:
            raise InputError(
                f"a neural model knows {len(trained.person_mean)} numbers of a person; expected "
                f"{PERSON_SIZE}."
            )
        self.trained = trained
        self.parameters = trained.parameters
        self._kept: dict[tuple[bytes, float], Laid] = {}

    @property
    def dynamic_count(self) -> int:
        """Dynamic coefficients."""
        return len(self.trained.dynamic_basis)

    def person(
        self,
        rest_vertices: Float[NumpyArray, "V 3"],
        tissue: Tissue | None = None,
        index: float | None = None,
        gender: float | None = None,
    ) -> Float32[NumpyArray, "q"]:
        """What the network is told of somebody; people far outside the training set count as three
        deviations away.

        `index` is the body mass index, kg/m², and `gender` 0 female to 1 male, None if unknown:
        they say how much of every training person's predictor there is.
        """
        numbers = person_numbers(rest_vertices, tissue or Tissue())
        standard = (numbers - self.trained.person_mean) / self.trained.person_scale
        told = np.clip(standard, -3.0, 3.0).astype(np.float32)
        if self.trained.experts is None:
            return told
        if index is None:
            raise InputError(
                "the network mixes people's predictors by body mass, and none came; expected it."
            )
        shares = expert_shares(self.trained.experts, index, gender)
        return np.concatenate([told, shares.astype(np.float32)])

    def start(self, person: Float32[NumpyArray, "q"]) -> "Playing":
        """A body that has been still for ever."""
        return Playing(self, person, at_rest(self.parameters))

    def banks(self, person: Float32[NumpyArray, "q"], seconds: float) -> "Laid":
        """A person's part and the oscillators for frames `seconds` apart; kept for the next."""
        key = (person.tobytes(), seconds)
        if key not in self._kept:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            found = network.layer_poles(self.parameters, person, seconds)
            self._kept[key] = Laid(
                packed_person(self.parameters, person),
                packed_banks(found, network.layer_count(self.parameters)),
            )
        return self._kept[key]

    @cached_property
    def packed(self) -> PackedNetwork:
        """The weights as the compiled step reads them."""
        return packed_network(self.parameters)

    def clip_coefficients(
        self, motion: Motion, joints: Float[NumpyArray, "J 3"], person: Float32[NumpyArray, "q"]
    ) -> Float32[NumpyArray, "N d"]:
        """Dynamic coefficients of every frame; the clip begins at rest."""
        from corporeal.dynamics.neural.step_cpu import run_network

        movement, pose = (
            np.ascontiguousarray(part, np.float32)
            for part in features.clip_features(motion, joints)
        )
        laid = self.banks(person, 1.0 / motion.fps)
        memory = at_rest(self.parameters)
        return run_network(self.packed, laid.person, laid.banks, movement, pose, memory)

    def static_offsets(self, static: Float32[NumpyArray, "*n s"]) -> Float32[NumpyArray, "*n V 3"]:
        """Rest-pose offsets of what the pose does, metres."""
        rows = static @ self._rows(self.trained.static_basis)
        return rows.reshape(*static.shape[:-1], self.trained.vertex_count, 3)

    def dynamic_offsets(self, dynamic: Float[NumpyArray, "*n d"]) -> Float32[NumpyArray, "*n V 3"]:
        """Rest-pose offsets of what the movement does, metres."""
        rows = dynamic.astype(np.float32) @ self._rows(self.trained.dynamic_basis)
        return rows.reshape(*dynamic.shape[:-1], self.trained.vertex_count, 3)

    @staticmethod
    def _rows(basis: Float32[NumpyArray, "c V 3"]) -> Float32[NumpyArray, "c n"]:
        return basis.reshape(len(basis), -1)


def expert_shares(experts: Experts, index: float, gender: float | None) -> Float64[NumpyArray, "n"]:
    """α_j of every person's predictor times how much larger this body's swings are."""
    alpha, sizes = people_shares(
        experts.body_mass_indices,
        experts.genders,
        experts.kernel_width,
        experts.amplitude,
        index,
        gender,
    )
    return alpha * sizes


class Laid(NamedTuple):
    """What the compiled step takes beside the network."""

    person: PackedPerson
    """Of the body."""
    banks: PackedBanks
    """Of the time between frames."""


@dataclass(frozen=True, eq=False)
class Playing:
    """A network in the middle of a movement: what it remembers of it."""

    model: NeuralModel
    """The network."""
    person: Float32[NumpyArray, "q"]
    """Who moves."""
    memory: Memory
    """Of every bank of oscillators."""

    def step(
        self, movement: Float32[NumpyArray, "m"], pose: Float32[NumpyArray, "p"], seconds: float
    ) -> tuple["Playing", Float32[NumpyArray, "d"]]:
        """The next frame's memory and dynamic coefficients."""
        from corporeal.dynamics.neural.step_cpu import step_network

        laid = self.model.banks(self.person, seconds)
        now = Memory(np.empty_like(self.memory.layers), np.empty_like(self.memory.experts))
        row = step_network(
            self.model.packed, laid.person, laid.banks, movement, pose, self.memory, now
        )
        return Playing(self.model, self.person, now), row
