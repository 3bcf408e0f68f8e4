"""A trained network for soft tissue, as plain arrays."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float32, Float64, NumpyArray
from corporeal.errors import InputError


@dataclass(frozen=True, eq=False)
class Experts:
    """The people whose linear predictors a network holds, and how they stand for somebody else:
    mixed by body mass as in Pons-Moll 2015, eq. 21."""

    body_mass_indices: Float64[NumpyArray, "n"]
    """Of every person, kg/m²."""
    genders: Float64[NumpyArray, "n"] | None
    """0 female to 1 male; None where it is not known."""
    kernel_width: float
    """τ, kg/m²."""
    amplitude: float
    """How the logarithm of swings grows with body mass index, m²/kg."""

    def __post_init__(self) -> None:
        count = len(self.body_mass_indices)
        if not count or (self.genders is not None and len(self.genders) != count):
            raise InputError(
                f"linear predictors of {count} people came with the gender of "
                f"{0 if self.genders is None else len(self.genders)}; expected as many."
            )
        if not (self.kernel_width > 0 and abs(self.amplitude) < 1):
            raise InputError(
                f"linear predictors are mixed with the width {self.kernel_width} and amplitude "
                f"{self.amplitude}; expected above 0, and below 1."
            )


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
    experts: Experts | None = None
    """Of the linear predictors within the network; None where it has none."""

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
            mixed = "member_mix" if name == "dynamic" and "member_mix" in self.parameters else ""
            columns = np.shape(self.parameters[mixed or weights])[-1]
            if columns != len(basis):
                raise InputError(
                    f"a neural model has {columns} {name} coefficients and a basis of "
                    f"{len(basis)}; expected as many."
                )
        if (self.experts is not None) != ("expert_in" in self.parameters):
            raise InputError(
                "a neural model has linear predictors without their people, or people without "
                "predictors; expected both or none."
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


def experts_from_arrays(stored: Mapping[str, NumpyArray]) -> Experts | None:
    """The people of the linear predictors from plain arrays; None where there are none."""
    if "experts_indices" not in stored:
        return None
    genders = np.asarray(stored["experts_genders"], np.float64)
    width, amplitude = (float(value) for value in stored["experts_mixture"])
    indices = np.asarray(stored["experts_indices"], np.float64)
    return Experts(indices, genders if len(genders) else None, width, amplitude)


def expert_arrays(experts: Experts | None) -> dict[str, NumpyArray]:
    """The way back."""
    if experts is None:
        return {}
    genders = np.zeros(0) if experts.genders is None else experts.genders
    return {
        "experts_indices": np.asarray(experts.body_mass_indices, np.float64),
        "experts_genders": np.asarray(genders, np.float64),
        "experts_mixture": np.array([experts.kernel_width, experts.amplitude]),
    }
