"""Learned dynamics that ship with the package: DMPL and Dyna, trained on captures, then reduced.

Shapes are stored as whole steps of a size of their own. See `tools/build_dynamics.py`.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources.abc import Traversable

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.assets.archive import package_data, read_archive
from corporeal.body.dynamics import DynamicBlendShapes, DynamicDeformations, Predictors
from corporeal.errors import AssetError


def _require(name: str, how: str, folder: Traversable | None) -> dict[str, NumpyArray]:
    home = package_data() if folder is None else folder
    if not (home / f"{name}.npz.xz").is_file():
        raise AssetError(
            f"this build ships no trained model for the deformer {name!r}. Train one ({how}) and "
            f"pass it: --trained {name}.npz."
        )
    return read_archive(name, folder)


@cache
def learned_dmpl() -> DynamicBlendShapes:
    """The DMPL that ships, read once. Raises `AssetError` where none does."""
    return read_learned_dmpl()


def read_learned_dmpl(folder: Traversable | None = None) -> DynamicBlendShapes:
    """Read and unpack the asset from `folder` (the package's own, if None)."""
    stored = _require("dmpl", "corporeal train dmpl --takes dyna.zarr --out dmpl.npz", folder)
    return DynamicBlendShapes(
        _unpacked(stored, "shapes"), stored["mean"].astype(np.float32), predictors_from(stored)
    )


@cache
def learned_dyna() -> DynamicDeformations:
    """The Dyna that ships, read once. Raises `AssetError` where none does."""
    return read_learned_dyna()


def read_learned_dyna(folder: Traversable | None = None) -> DynamicDeformations:
    """Read and unpack the asset from `folder` (the package's own, if None)."""
    stored = _require("dyna", "corporeal train dyna --takes dyna.zarr --out dyna.npz", folder)
    return DynamicDeformations(
        _unpacked(stored, "deformations"),
        stored["mean"].astype(np.float32),
        predictors_from(stored),
    )


def packed_steps(rows: NumpyArray, bits: int) -> tuple[NumpyArray, NumpyArray]:
    """Rows as whole steps of 8 or 16 bits, and the size of a step of every row."""
    most = 2 ** (bits - 1) - 1
    flat = np.asarray(rows, np.float64).reshape(len(rows), int(np.prod(rows.shape[1:])))
    steps = np.maximum(np.abs(flat).max(axis=1), 1e-300) / most
    whole = np.round(flat / steps[:, None]).astype(np.int8 if bits == 8 else np.int16)
    return whole.reshape(rows.shape), steps.astype(np.float64)


def predictor_arrays(predictors: Predictors) -> dict[str, NumpyArray]:
    """Predictors as plain arrays, for files."""
    genders = predictors.genders
    told = {} if genders is None else {"predictor_genders": np.asarray(genders, np.float64)}
    return told | {
        "predictor_joint_names": np.array(predictors.joint_names),
        "predictor_inputs": np.asarray(predictors.inputs, np.float32),
        "predictor_history": np.asarray(predictors.history, np.float64),
        "predictor_constants": np.asarray(predictors.constants, np.float64),
        "predictor_body_mass_indices": np.asarray(predictors.body_mass_indices, np.float64),
        "predictor_limits": np.asarray(predictors.limits, np.float64),
        "predictor_fps": np.array(float(predictors.fps)),
        "predictor_differences": np.array(predictors.differences),
        "predictor_gravity": np.array(int(predictors.gravity)),
        "predictor_kernel_width": np.array(float(predictors.kernel_width)),
        "predictor_controls": np.array(predictors.controls),
        "predictor_amplitude": np.array(float(predictors.amplitude)),
    }


def predictors_from(stored: Mapping[str, NumpyArray]) -> Predictors:
    """The way back."""
    return Predictors(
        tuple(str(name) for name in stored["predictor_joint_names"]),
        stored["predictor_inputs"].astype(np.float64),
        stored["predictor_history"].astype(np.float64),
        stored["predictor_constants"].astype(np.float64),
        stored["predictor_body_mass_indices"].astype(np.float64),
        stored["predictor_limits"].astype(np.float64),
        float(stored["predictor_fps"]),
        str(stored["predictor_differences"]),  # pyright: ignore[reportArgumentType]
        bool(int(stored["predictor_gravity"])),
        float(stored["predictor_kernel_width"]),
        stored["predictor_genders"].astype(np.float64) if "predictor_genders" in stored else None,
        str(stored.get("predictor_controls", "joints")),  # pyright: ignore[reportArgumentType]
        float(stored.get("predictor_amplitude", 0.0)),
    )


def _unpacked(stored: Mapping[str, NumpyArray], name: str) -> NumpyArray:
    """Shapes from whole steps; component by component, the way they pack best."""
    whole, steps = stored[name], stored[f"{name}_step"]
    size = steps.reshape(-1, *(1,) * (whole.ndim - 1))
    return np.ascontiguousarray((whole * size).astype(np.float32))
