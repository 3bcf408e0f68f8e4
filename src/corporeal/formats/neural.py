"""Neural soft tissue in a `.npz` file, with no pickles inside.

=================== ========= ===========================================================
key                 shape     what it is here (`NeuralFlesh`)
=================== ========= ===========================================================
`dynamic_basis`     d×V×3     metres a coefficient, float32
`static_basis`      s×V×3     the same
`person_mean`       q         of the people trained on
`person_scale`      q         their deviations
`weights_NAME`      any       learned arrays of the network
`experts_indices`   n         body mass of the linear predictors' people; may be missing
`experts_genders`   n or 0    0 female to 1 male
`experts_mixture`   2         kernel width and amplitude
=================== ========= ===========================================================
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.neural_flesh import NeuralFlesh, expert_arrays, experts_from_arrays
from corporeal.errors import FormatError, InputError
from corporeal.formats.npz import open_npz, write_npz

_WEIGHTS = "weights_"
_EXPERTS: dict[str, tuple[str | int, ...]] = {
    "experts_indices": ("n",),
    "experts_genders": ("k",),
    "experts_mixture": (2,),
}
_MOST_BYTES = 2 * 10**9


def read_neural(path: str | Path) -> NeuralFlesh:
    """Read a trained network; float32."""
    path = Path(path)
    with open_npz(path, max_bytes=_MOST_BYTES) as file:
        if "dynamic_basis" not in file.headers:
            raise FormatError(
                f"{path} holds no neural soft tissue (no 'dynamic_basis'); expected a file of "
                f"`corporeal train neural`."
            )
        arrays = {
            "dynamic_basis": file.array("dynamic_basis", "f", ("d", "V", 3)),
            "static_basis": file.array("static_basis", "f", ("s", "V", 3)),
            "person_mean": file.array("person_mean", "f", ("q",)),
            "person_scale": file.array("person_scale", "f", ("q",)),
        }
        for key, shape in _EXPERTS.items():
            if key in file.headers:
                arrays[key] = file.array(key, "f", shape)
        weights = {
            name: file.array(name, "f", file.headers[name].shape) for name in file.names(_WEIGHTS)
        }
    return neural_from_arrays({**arrays, **weights})


def neural_from_arrays(stored: Mapping[str, NumpyArray]) -> NeuralFlesh:
    """A network from plain arrays."""
    single = {name: np.ascontiguousarray(value, np.float32) for name, value in stored.items()}
    weights = {k.removeprefix(_WEIGHTS): v for k, v in single.items() if k.startswith(_WEIGHTS)}
    return NeuralFlesh(
        weights,
        single["dynamic_basis"],
        single["static_basis"],
        np.asarray(stored["person_mean"], np.float64),
        np.asarray(stored["person_scale"], np.float64),
        experts_from_arrays(stored),
    )


def write_neural(path: str | Path, trained: NeuralFlesh) -> None:
    """Write a trained network; `.npz`."""
    if Path(path).suffix.lower() != ".npz":
        raise InputError(f"cannot write neural soft tissue as {path}; expected .npz.")
    arrays = {
        "dynamic_basis": trained.dynamic_basis,
        "static_basis": trained.static_basis,
        "person_mean": np.asarray(trained.person_mean, np.float64),
        "person_scale": np.asarray(trained.person_scale, np.float64),
    }
    weights = {_WEIGHTS + name: np.asarray(v) for name, v in trained.parameters.items()}
    write_npz(path, {**arrays, **expert_arrays(trained.experts), **weights})
