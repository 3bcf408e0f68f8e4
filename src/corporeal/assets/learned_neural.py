"""Neural soft tissue that ships with the package: trained on captures, then rounded.

Bases are stored as whole steps of a size of their own, weights in half precision, those of linear
predictors in single. See `tools/build_neural.py`.
"""

from functools import cache
from importlib.resources.abc import Traversable

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.assets.archive import package_data, read_archive
from corporeal.assets.learned_dynamics import packed_steps
from corporeal.body.neural_flesh import NeuralFlesh, expert_arrays, experts_from_arrays
from corporeal.errors import AssetError

_BASES = ("dynamic_basis", "static_basis")
_WEIGHTS = "weights_"


@cache
def learned_neural() -> NeuralFlesh:
    """The network that ships, read once. Raises `AssetError` where none does."""
    return read_learned_neural()


def read_learned_neural(folder: Traversable | None = None) -> NeuralFlesh:
    """Read and unpack the asset from `folder` (the package's own, if None)."""
    home = package_data() if folder is None else folder
    if not (home / "neural.npz.xz").is_file():
        raise AssetError(
            "this build ships no trained model for the deformer 'neural'. Train one (corporeal "
            "train neural --takes dyna.zarr --out neural.npz) and pass it: --trained neural.npz."
        )
    stored = read_archive("neural", folder)
    bases = {
        name: (stored[name] * stored[f"{name}_step"][:, None, None]).astype(np.float32)
        for name in _BASES
    }
    weights = {
        name.removeprefix(_WEIGHTS): value.astype(np.float32)
        for name, value in stored.items()
        if name.startswith(_WEIGHTS)
    }
    return NeuralFlesh(
        weights,
        bases["dynamic_basis"],
        bases["static_basis"],
        stored["person_mean"].astype(np.float64),
        stored["person_scale"].astype(np.float64),
        experts_from_arrays(stored),
    )


def packed_neural(trained: NeuralFlesh) -> dict[str, NumpyArray]:
    """The arrays that `read_learned_neural` unpacks."""
    stored = {
        "person_mean": np.asarray(trained.person_mean, np.float64),
        "person_scale": np.asarray(trained.person_scale, np.float64),
    }
    for name in _BASES:
        stored[name], stored[f"{name}_step"] = packed_steps(getattr(trained, name), 8)
    weights = {
        _WEIGHTS + name: np.asarray(value, np.float32 if name.startswith("expert_") else np.float16)
        for name, value in trained.parameters.items()
    }
    return {**stored, **expert_arrays(trained.experts), **weights}
