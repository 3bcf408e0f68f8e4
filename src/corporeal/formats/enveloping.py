"""Enveloping files: an `EnvelopingModel` as plain arrays, one a field, in an `.npz`.

The keys are the fields' names; `joint_indices` and `weights` (V×4) are the enveloping weights. The
drivers' arrays lie one after another, with `driver_keys` and `driver_vertices` counting them.
"""

from pathlib import Path
from typing import get_args

import numpy as np

from corporeal.body.enveloping import DriverKind, EnvelopingModel, corrections_in
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.formats.npz import NpzReader, open_npz, write_npz

FORMAT = "corporeal-enveloping-1"
_MAX_BYTES = 4 * 1024**3
_PLAIN = ("layout_joints", "dress", "bones", "latents", "statures", "masses")


def enveloping_arrays(model: EnvelopingModel) -> dict[str, np.ndarray]:
    """All fields as plain arrays by key."""
    drivers = model.corrections
    rows = {len(d.offsets) for d in drivers}
    if len(rows) > 1:
        raise InputError(f"drivers have offsets of {sorted(rows)} rows; expected the same of all.")
    kinds = get_args(DriverKind)

    def joined(parts: list[np.ndarray], like: np.ndarray) -> np.ndarray:
        return np.concatenate(parts) if parts else like

    return {
        "kind": np.array(FORMAT),
        "triangles": np.asarray(model.triangles, np.int32),
        "joint_names": np.array(model.joint_names),
        "parents": np.asarray(model.parents, np.int32),
        "helper_joints": np.asarray(model.helper_joints, np.int32),
        "helper_shares": np.asarray(model.helper_shares, np.float64),
        "joint_indices": np.asarray(model.weights.joint_indices, np.int32),
        "weights": np.asarray(model.weights.values, np.float64),
        "softness": np.array(model.softness, np.float64),
        **{name: np.asarray(getattr(model, name)) for name in _PLAIN},
        "driver_joints": np.array([d.joint for d in drivers], np.int32),
        "driver_kinds": np.array([kinds.index(d.kind) for d in drivers], np.int32),
        "driver_keys": np.array([len(d.keys) for d in drivers], np.int32),
        "driver_vertices": np.array([len(d.region) for d in drivers], np.int32),
        "offset_rows": np.array(rows.pop() if rows else 1, np.int32),
        "keys": joined([np.asarray(d.keys, np.float64) for d in drivers], np.zeros((0, 3, 3))),
        "regions": joined([np.asarray(d.region, np.int32) for d in drivers], np.zeros(0, np.int32)),
        "offsets": joined(
            [np.asarray(d.offsets, np.float32).reshape(-1) for d in drivers],
            np.zeros(0, np.float32),
        ),
    }


def _model_in(file: NpzReader) -> EnvelopingModel:
    names = tuple(str(name) for name in file.array("joint_names", "U", ("J",)))
    helpers = file.array("helper_joints", "i", ("H",)).astype(np.int64)
    drivers = corrections_in(
        file.array("driver_joints", "i", ("D",)), file.array("driver_kinds", "i", ("D",)),
        file.array("driver_keys", "i", ("D",)), file.array("driver_vertices", "i", ("D",)),
        int(file.array("offset_rows", "i", ())), file.array("keys", "f", ("K", 3, 3)),
        file.array("regions", "i", ("r",)).astype(np.int64), file.array("offsets", "f", ("n",)),
    )  # fmt: skip
    weights = SkinWeights(
        file.array("joint_indices", "i", ("V", "I")).astype(np.int32),
        file.array("weights", "f", ("V", "I")),
        len(names) + len(helpers),
    )
    return EnvelopingModel(
        file.array("triangles", "i", ("F", 3)).astype(np.int64), names,
        tuple(int(parent) for parent in file.array("parents", "i", ("J",))),
        file.array("layout_joints", "f", ("J", 3)), helpers,
        file.array("helper_shares", "f", ("H",)), weights, file.array("dress", "f", ("m", "V", 3)),
        file.array("bones", "f", ("m", "b")), drivers, float(file.array("softness", "f", ())),
        file.array("latents", "f", ("B", "s")), file.array("statures", "f", ("B",)),
        file.array("masses", "f", ("B",)),
    )  # fmt: skip


def is_enveloping(path: str | Path) -> bool:
    """Whether an `.npz` file says that it is an enveloping model."""
    if Path(path).suffix.lower() != ".npz":
        return False
    with open_npz(path, max_bytes=_MAX_BYTES, object_arrays="skip") as file:
        return "driver_joints" in file.headers and "dress" in file.headers


def read_enveloping(path: str | Path) -> EnvelopingModel:
    """Read a model."""
    with open_npz(path, max_bytes=_MAX_BYTES) as file:
        return _model_in(file)


def write_enveloping(path: str | Path, model: EnvelopingModel) -> None:
    """Write a model; `.npz`."""
    if Path(path).suffix.lower() != ".npz":
        raise InputError(f"cannot write an enveloping model as {path}; expected .npz.")
    write_npz(path, enveloping_arrays(model))
