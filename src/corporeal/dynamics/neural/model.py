"""Neural soft tissue of any person of the default body's surface: a trained network in use.

Offsets are in the rest pose and are added to the pose correctives of `base` before skinning
(Casas 2018, eq. 3): M̄ = T̄ + M_s(β) + M_p(θ) + M_d(γ). Nothing here imports JAX.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float32, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.neural_flesh import NeuralFlesh
from corporeal.dynamics.neural import features, network
from corporeal.dynamics.neural.network import Complex
from corporeal.dynamics.neural.person import PERSON_SIZE, Tissue, person_numbers
from corporeal.dynamics.neural.recurrence import Poles, advance
from corporeal.errors import InputError


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

    @property
    def dynamic_count(self) -> int:
        """Dynamic coefficients."""
        return len(self.trained.dynamic_basis)

    def person(
        self, rest_vertices: Float[NumpyArray, "V 3"], tissue: Tissue | None = None
    ) -> Float32[NumpyArray, "q"]:
        """What the network is told of somebody; people far outside the training set count as three
        deviations away."""
        numbers = person_numbers(rest_vertices, tissue or Tissue())
        standard = (numbers - self.trained.person_mean) / self.trained.person_scale
        return np.clip(standard, -3.0, 3.0).astype(np.float32)

    def start(self, person: Float32[NumpyArray, "q"]) -> "Playing":
        """A body that has been still for ever."""
        count = network.layer_count(self.parameters)
        size = np.shape(self.parameters["decay_0"])[0]
        still = np.zeros(size, np.float32)
        return Playing(self, person, tuple((still, still) for _ in range(count)))

    def clip_coefficients(
        self, motion: Motion, joints: Float[NumpyArray, "J 3"], person: Float32[NumpyArray, "q"]
    ) -> Float32[NumpyArray, "N d"]:
        """Dynamic coefficients of every frame; the clip begins at rest."""
        movement, pose = (
            part.astype(np.float32) for part in features.clip_features(motion, joints)
        )
        playing, rows = self.start(person), []
        for felt, seen in zip(movement, pose, strict=True):
            playing, row = playing.step(felt, seen, 1.0 / motion.fps)
            rows.append(row)
        return np.stack(rows)

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


@dataclass(frozen=True, eq=False)
class Playing:
    """A network in the middle of a movement: what it remembers of it."""

    model: NeuralModel
    """The network."""
    person: Float32[NumpyArray, "q"]
    """Who moves."""
    states: tuple[Complex, ...]
    """Of every bank of oscillators."""

    def step(
        self, movement: Float32[NumpyArray, "m"], pose: Float32[NumpyArray, "p"], seconds: float
    ) -> tuple["Playing", Float32[NumpyArray, "d"]]:
        """The next frame's memory and dynamic coefficients."""
        kept: list[Complex] = []

        def remember(layer: int, bank: Poles, drive: Complex) -> Complex:
            kept.append(advance(bank, self.states[layer], drive))
            return kept[-1]

        row = network.dynamic_coefficients(
            self.model.parameters, movement, pose, self.person, self._banks(seconds), remember
        )
        return Playing(self.model, self.person, tuple(kept)), row

    def _banks(self, seconds: float) -> list[Poles]:
        found = network.layer_poles(self.model.parameters, self.person, seconds)
        return [Poles(*(np.asarray(part, np.float32) for part in bank)) for bank in found]
