"""The corrective enveloping that ships with the package; offsets are stored as whole steps."""

from collections.abc import Mapping
from functools import cache
from importlib.resources.abc import Traversable

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.assets.archive import package_data, read_archive
from corporeal.assets.default_body import WEIGHT_STEPS, load_default_body
from corporeal.body.enveloping import EnvelopingModel, corrections_in
from corporeal.body.weights import SkinWeights
from corporeal.errors import AssetError

METRES_PER_STEP = 5e-5
"""Offsets and dress shapes are stored as whole steps of a twentieth of a millimetre."""


@cache
def learned_enveloping() -> EnvelopingModel:
    """The model that ships, read once. Raises `AssetError` where none does."""
    return read_learned_enveloping()


def read_learned_enveloping(folder: Traversable | None = None) -> EnvelopingModel:
    """Read and unpack the asset from `folder` (the package's own, if None)."""
    home = package_data() if folder is None else folder
    if not (home / "enveloping.npz.xz").is_file():
        raise AssetError(
            "this build ships no trained enveloping. Train one (corporeal train enveloping --scans "
            "multipose.zarr --out enveloping.npz) and pass it: --trained enveloping.npz."
        )
    return model_from_arrays(read_archive("enveloping", folder))


def model_from_arrays(stored: Mapping[str, NumpyArray]) -> EnvelopingModel:
    """Unpack the arrays that `tools/build_enveloping.py` wrote."""
    names = tuple(str(name) for name in stored["joint_names"])
    helpers = stored["helper_joints"].astype(np.int64)
    weights = (stored["skin_weights"] / WEIGHT_STEPS).astype(np.float32)
    sizes, counts = stored["driver_vertices"], stored["driver_keys"]
    rows, parts, place = int(stored["offset_rows"]), [], 0
    for size, count in zip(sizes.astype(int), counts.astype(int), strict=True):
        length = rows * (count - 1) * size * 3
        steps = stored["offset_steps"][place : place + length].reshape(-1, 3, size)
        parts.append(np.moveaxis(steps, 1, 2).reshape(-1) * np.float32(METRES_PER_STEP))
        place += length
    drivers = corrections_in(
        stored["driver_joints"], stored["driver_kinds"], counts, sizes, rows,
        stored["keys"].astype(np.float64), stored["regions"].astype(np.int64),
        np.concatenate(parts),
    )  # fmt: skip
    dress = np.moveaxis(stored["dress_steps"], 1, 2) * np.float32(METRES_PER_STEP)
    return EnvelopingModel(
        np.asarray(load_default_body().template.mesh.triangles, np.int64), names,
        tuple(int(p) for p in stored["parents"]), stored["layout_joints"].astype(np.float64),
        helpers, stored["helper_shares"].astype(np.float64),
        SkinWeights(stored["skin_indices"].astype(np.int32), weights, len(names) + len(helpers)),
        np.ascontiguousarray(dress), stored["bones"].astype(np.float64), drivers,
        float(stored["softness"]), stored["latents"].astype(np.float64),
        stored["statures"].astype(np.float64), stored["masses"].astype(np.float64),
    )  # fmt: skip
