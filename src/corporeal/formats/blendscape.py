"""BlendSCAPE files: a `TriangleModel` as plain arrays, one a field, in an `.npz`.

The keys are the fields' names; `joint_indices` and `weights` (F×4) are the blend weights.
"""

from pathlib import Path

import numpy as np

from corporeal.body.triangle_model import TriangleModel
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.formats.npz import NpzReader, open_npz, write_npz

_MAX_BYTES = 4 * 1024**3


def triangle_arrays(model: TriangleModel) -> dict[str, np.ndarray]:
    """All fields as plain arrays by key."""
    return {
        "triangles": np.asarray(model.triangles, np.int32),
        "template_vertices": np.asarray(model.template_vertices, np.float64),
        "joint_indices": np.asarray(model.weights.joint_indices, np.int32),
        "weights": np.asarray(model.weights.values, np.float64),
        "pin": np.asarray(model.pin, np.float64),
        "pose_joints": np.asarray(model.pose_joints, np.int32),
        "pose_deformations": np.asarray(model.pose_deformations, np.float32),
        "mean_shape": np.asarray(model.mean_shape, np.float32),
        "shape_deformations": np.asarray(model.shape_deformations, np.float32),
        "joint_names": np.array(model.joint_names),
        "parents": np.asarray(model.parents, np.int32),
    }


def triangle_model_in(file: NpzReader) -> TriangleModel:
    """The model in an open file."""
    names = tuple(str(name) for name in file.array("joint_names", "U", ("J",)))
    weights = SkinWeights(
        file.array("joint_indices", "i", ("F", "K")).astype(np.int32),
        file.array("weights", "f", ("F", "K")),
        len(names),
    )
    return TriangleModel(
        file.array("triangles", "i", ("F", 3)).astype(np.int64),
        file.array("template_vertices", "f", ("V", 3)),
        weights,
        file.array("pin", "f", ("V",)),
        file.array("pose_joints", "i", ("F", 2)).astype(np.int64),
        file.array("pose_deformations", "f", ("F", 2, 3, 3, 3)),
        file.array("mean_shape", "f", ("F", 3, 3)),
        file.array("shape_deformations", "f", ("S", "F", 3, 3)),
        names,
        tuple(int(parent) for parent in file.array("parents", "i", ("J",))),
    )


def read_blendscape(path: str | Path) -> TriangleModel:
    """Read a model."""
    with open_npz(path, max_bytes=_MAX_BYTES) as file:
        return triangle_model_in(file)


def write_blendscape(path: str | Path, model: TriangleModel) -> None:
    """Write a model; `.npz`."""
    if Path(path).suffix.lower() != ".npz":
        raise InputError(f"cannot write a BlendSCAPE model as {path}; expected .npz.")
    write_npz(path, triangle_arrays(model))
