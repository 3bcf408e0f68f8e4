"""The fitted coefficients that ship with the package: one small JSON file, read once."""

import json
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import Any, Final

import numpy as np

from corporeal.anatomy.composition.model import FAT_COLUMNS, CompositionModel
from corporeal.errors import AssetError

ASSET: Final = "data/composition.json"
_DIGITS: Final = 9


def stored_form(model: CompositionModel) -> dict[str, Any]:
    """A model as JSON has it."""
    values = {f.name: np.asarray(getattr(model, f.name), np.float64) for f in fields(model)}
    return {name: _rounded(value.tolist()) for name, value in values.items()}


def model_from(stored: Mapping[str, Any]) -> CompositionModel:
    """The model that `stored_form` wrote."""
    missing = [f.name for f in fields(CompositionModel) if f.name not in stored]
    if missing:
        raise AssetError(
            f"{ASSET} lacks {', '.join(missing)}; install corporeal again, or run "
            f"tools/fit_composition.py."
        )
    if len(stored["fat_coefficients"]) != FAT_COLUMNS:
        raise AssetError(
            f"{ASSET} has {len(stored['fat_coefficients'])} coefficients of fat; this version "
            f"needs {FAT_COLUMNS}. Run tools/fit_composition.py."
        )
    return CompositionModel(
        float(stored["fat_floor"]),
        np.array(stored["fat_coefficients"], np.float64),
        np.array(stored["fat_leverage"], np.float64),
        np.array(stored["fat_spread"], np.float64),
        np.array(stored["muscle_coefficients"], np.float64),
        float(stored["muscle_spread"]),
    )


@cache
def load_models() -> Mapping[str, CompositionModel]:
    """The shipped model of each sex."""
    source = files("corporeal.anatomy.composition").joinpath(ASSET)
    if not source.is_file():
        raise AssetError(f"{ASSET} is missing from the installed package; install corporeal again.")
    stored = json.loads(source.read_text(encoding="utf-8"))
    return {sex: model_from(stored[sex]) for sex in ("female", "male")}


def _rounded(value: Any) -> Any:
    """Nested lists with significant digits enough for the tenth of a gram."""
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.{_DIGITS}g}")
