"""DMPL files: dynamic blend shapes in the public layout, with what predicts them beside.

What is read and written:

===================== ========== ===========================================================
key                   shape      what it is here (`DynamicBlendShapes`)
===================== ========== ===========================================================
`eigvec`              V×3×D      dynamic blend shapes, metres a coefficient; all that public
                                 files hold, and all that their loaders read
`mean`                V×3        μ_D, metres; 0 where it is missing
`predictor_*`         n×D×c, …   predictors of n people, as in `dynamics_arrays`; missing in files
                                 of others
===================== ========== ===========================================================

Other keys are left out. Loaders of AMASS use the first eight columns of `eigvec`.
"""

from pathlib import Path

import numpy as np

from corporeal.body.dynamics import DynamicBlendShapes
from corporeal.errors import FormatError, InputError
from corporeal.formats.dynamics_arrays import predictor_arrays, read_predictors
from corporeal.formats.npz import open_npz, write_npz

_MOST_NUMBERS = 2 * 10**9


def read_dmpl(path: str | Path) -> DynamicBlendShapes:
    """Read dynamic blend shapes, with predictors where the file has them; float32."""
    path = Path(path)
    with open_npz(path, max_bytes=4 * _MOST_NUMBERS, object_arrays="skip") as file:
        vectors = file.array("eigvec", "f", ("V", 3, "D"))
        if vectors.size == 0:
            raise FormatError(f"{path}: 'eigvec' is empty; expected dynamic blend shapes.")
        shapes = np.ascontiguousarray(np.moveaxis(vectors, -1, 0), np.float32)
        mean = np.zeros(shapes.shape[1:], np.float32)
        if "mean" in file.headers:
            mean = file.array("mean", "f", ("V", 3)).astype(np.float32)
        return DynamicBlendShapes(shapes, mean, read_predictors(file))


def write_dmpl(path: str | Path, model: DynamicBlendShapes) -> None:
    """Write dynamic blend shapes, with predictors if there are any; `.npz`."""
    if Path(path).suffix.lower() != ".npz":
        raise InputError(f"cannot write dynamic blend shapes as {path}; expected .npz.")
    arrays = {
        "eigvec": np.ascontiguousarray(np.moveaxis(model.shapes, 0, -1), np.float32),
        "mean": np.asarray(model.mean, np.float32),
    }
    if model.predictors is not None:
        arrays |= predictor_arrays(model.predictors)
    write_npz(path, arrays)
