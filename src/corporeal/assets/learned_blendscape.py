"""The BlendSCAPE that ships with the package; deformations are stored as whole steps."""

from functools import cache
from importlib.resources.abc import Traversable

import numpy as np

from corporeal.assets.archive import package_data, read_archive
from corporeal.body.triangle_model import TriangleModel
from corporeal.body.weights import SkinWeights
from corporeal.errors import AssetError


@cache
def learned_blendscape() -> TriangleModel:
    """The model that ships, read once. Raises `AssetError` where none does."""
    return read_learned_blendscape()


def read_learned_blendscape(folder: Traversable | None = None) -> TriangleModel:
    """Read and unpack the asset from `folder` (the package's own, if None)."""
    home = package_data() if folder is None else folder
    if not (home / "blendscape.npz.xz").is_file():
        raise AssetError(
            "this build ships no trained BlendSCAPE. Train one (corporeal train blendscape "
            "--poses multipose.zarr --shapes multishape.zarr --out blendscape.npz) and pass it: "
            "--trained blendscape.npz."
        )
    stored = read_archive("blendscape", folder)

    def floats(name: str) -> np.ndarray:
        """Whole steps of every row's own size."""
        steps = stored[f"{name}_step"].reshape(-1, *(1,) * (stored[name].ndim - 1))
        return (stored[name] * steps).astype(np.float32)

    values = stored["weights"].astype(np.float32)
    names = tuple(str(name) for name in stored["joint_names"])
    indices = stored["joint_indices"].astype(np.int32)
    return TriangleModel(
        stored["triangles"].astype(np.int64),
        stored["template_vertices"].astype(np.float64),
        SkinWeights(indices, values / values.sum(axis=1, keepdims=True), len(names)),
        stored["pin"].astype(np.float64),
        stored["pose_joints"].astype(np.int64),
        np.ascontiguousarray(np.moveaxis(floats("pose_deformations"), 0, 1)).reshape(
            -1, 2, 3, 3, 3
        ),
        stored["mean_shape"].astype(np.float32),
        floats("shape_deformations"),
        names,
        tuple(int(parent) for parent in stored["parents"]),
    )
