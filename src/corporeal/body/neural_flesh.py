"""A trained network for soft tissue, as plain arrays."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float32, NumpyArray
from corporeal.errors import InputError


@dataclass(frozen=True, eq=False)
class NeuralFlesh:
    """Weights, and what their outputs mean on the skin."""

    parameters: Mapping[str, Float[NumpyArray, "..."]]
    """Learned arrays by name; see `dynamics.neural.network`."""
    dynamic_basis: Float32[NumpyArray, "d V 3"]
    """Rest-pose offset of each dynamic coefficient, metres."""
    static_basis: Float32[NumpyArray, "s V 3"]
    """The same of what the pose alone does beyond the base's correctives; may be none."""
    person_mean: Float[NumpyArray, "q"]
    """Of the people it was trained on; see `dynamics.neural.person`."""
    person_scale: Float[NumpyArray, "q"]
    """Their standard deviation."""

    def __post_init__(self) -> None:
        outputs = {"dynamic": "dynamic_out", "static": "static_out"}
        for name, weights in outputs.items():
            basis = getattr(self, f"{name}_basis")
            if basis.shape[1:] != self.dynamic_basis.shape[1:]:
                raise InputError(
                    f"the {name} basis of a neural model moves {basis.shape[1]} vertices; expected "
                    f"{self.vertex_count}."
                )
            if weights not in self.parameters:
                raise InputError(f"a neural model lacks the weights {weights!r}.")
            columns = np.shape(self.parameters[weights])[-1]
            if columns != len(basis):
                raise InputError(
                    f"a neural model has {columns} {name} coefficients and a basis of "
                    f"{len(basis)}; expected as many."
                )
        if np.shape(self.person_mean) != np.shape(self.person_scale):
            raise InputError(
                f"a neural model has {len(self.person_mean)} means and {len(self.person_scale)} "
                f"deviations of people; expected as many."
            )

    @property
    def vertex_count(self) -> int:
        """Number V of vertices that it moves."""
        return self.dynamic_basis.shape[1]
