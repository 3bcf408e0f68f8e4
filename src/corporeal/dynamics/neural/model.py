"""Neural soft tissue of any person of the default body's surface: a trained network in use.

Offsets are in the rest pose and are added to the pose correctives of `base` before skinning
(Casas 2018, eq. 3): M̄ = T̄ + M_s(β) + M_p(θ) + M_d(γ). Nothing here imports JAX.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corporeal._typing import Float, Float32, NumpyArray
from corporeal.body.motion import Motion
from corporeal.dynamics.neural import features, network
from corporeal.dynamics.neural.network import Complex, Parameters
from corporeal.dynamics.neural.person import Tissue, person_numbers
from corporeal.dynamics.neural.recurrence import Poles, advance
from corporeal.errors import InputError


@dataclass(frozen=True, eq=False)
class NeuralFlesh:
    """A trained network with what its outputs mean."""

    parameters: Parameters
    """Learned arrays by name; see `network`."""
    dynamic_basis: Float32[NumpyArray, "d V 3"]
    """Rest-pose offset of each dynamic coefficient, metres."""
    static_basis: Float32[NumpyArray, "s V 3"]
    """The same of what the pose alone does beyond the base's correctives; may be none."""
    static_mean: Float32[NumpyArray, "V 3"]
    """Added to it, metres."""
    person_mean: Float[NumpyArray, "q"]
    """Of the people it was trained on; see `person`."""
    person_scale: Float[NumpyArray, "q"]
    """Their standard deviation."""
    base: str = "smpl"
    """Deformer whose rest skin the offsets are added to."""

    def __post_init__(self) -> None:
        vertices = self.static_mean.shape
        for name, basis in (("dynamic", self.dynamic_basis), ("static", self.static_basis)):
            if basis.shape[1:] != vertices:
                raise InputError(
                    f"the {name} basis moves {basis.shape[1]} vertices; expected {vertices[0]}."
                )
        outputs = np.shape(self.parameters["dynamic_out"])[1]
        if outputs != len(self.dynamic_basis):
            raise InputError(
                f"the network has {outputs} dynamic coefficients and a basis of "
                f"{len(self.dynamic_basis)}; expected as many."
            )

    def person(
        self, rest_vertices: Float[NumpyArray, "V 3"], tissue: Tissue | None = None
    ) -> Float32[NumpyArray, "q"]:
        """What the network is told of somebody; people far outside the training set count as three
        deviations away."""
        numbers = person_numbers(rest_vertices, tissue or Tissue())
        standard = (numbers - self.person_mean) / self.person_scale
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

    def offsets(
        self, dynamic: Float32[NumpyArray, "*n d"], static: Float32[NumpyArray, "*n s"]
    ) -> Float32[NumpyArray, "*n V 3"]:
        """Rest-pose offsets of both causes, metres."""
        flat = self.static_mean.reshape(-1) + static @ self._static_rows
        return (flat + dynamic @ self._dynamic_rows).reshape(
            *dynamic.shape[:-1], *self.static_mean.shape
        )

    @cached_property
    def _dynamic_rows(self) -> NumpyArray:
        return self.dynamic_basis.reshape(len(self.dynamic_basis), -1)

    @cached_property
    def _static_rows(self) -> NumpyArray:
        return self.static_basis.reshape(len(self.static_basis), -1)


@dataclass(frozen=True, eq=False)
class Playing:
    """A network in the middle of a movement: what it remembers of it."""

    model: NeuralFlesh
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
