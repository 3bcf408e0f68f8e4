"""Dyna files: a BlendSCAPE body with dynamic deformations and their predictors, in an `.npz`.

What is written: the keys of `blendscape`, `deformations` (D×F×3×3), `mean_deformation` (F×3×3), and
the predictors' of `dynamics_arrays`.
"""

from pathlib import Path

import numpy as np

from corporeal.body.dynamics import DynamicDeformations, TriangleDynamics
from corporeal.errors import FormatError, InputError
from corporeal.formats.blendscape import triangle_arrays, triangle_model_in
from corporeal.formats.dynamics_arrays import predictor_arrays, read_predictors
from corporeal.formats.npz import open_npz, write_npz

_MAX_BYTES = 4 * 1024**3


def read_dyna(path: str | Path) -> TriangleDynamics:
    """Read a model."""
    with open_npz(path, max_bytes=_MAX_BYTES) as file:
        body = triangle_model_in(file)
        predictors = read_predictors(file)
        if predictors is None:
            raise FormatError(f"{path} predicts nothing; expected a file of `train dyna`.")
        dynamic = DynamicDeformations(
            file.array("deformations", "f", ("D", "F", 3, 3)),
            file.array("mean_deformation", "f", ("F", 3, 3)),
            predictors,
        )
        return TriangleDynamics(body, dynamic)


def write_dyna(path: str | Path, model: TriangleDynamics) -> None:
    """Write a model; `.npz`."""
    if Path(path).suffix.lower() != ".npz":
        raise InputError(f"cannot write a Dyna model as {path}; expected .npz.")
    arrays = triangle_arrays(model.body) | {
        "deformations": np.asarray(model.dynamic.deformations, np.float32),
        "mean_deformation": np.asarray(model.dynamic.mean, np.float32),
    }
    write_npz(path, arrays | predictor_arrays(model.dynamic.predictors))
