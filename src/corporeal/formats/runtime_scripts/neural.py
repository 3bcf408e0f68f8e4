"""A network for soft tissue in engines: one person's as JSON, and the script that runs it."""

import json
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.formats.runtime_scripts.tables import filled_template, identifier


def neural_json(content: dict[str, Any]) -> str:
    """Numbers and arrays as JSON; single precision needs nine digits."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(one) for one in value]
        if isinstance(value, np.ndarray):
            return _rounded(value)
        return value

    return json.dumps(plain(content)) + "\n"


def neural_script(stem: str) -> dict[str, str]:
    """File name → text of the script for three.js."""
    word = identifier(stem)
    values = {"DATA": f"{word}_neural.json"}
    return {f"{word}_neural.mjs": filled_template("neural.mjs.template", values)}


def _rounded(rows: NumpyArray) -> Any:
    if rows.ndim == 0:
        return float(rows)
    if rows.ndim == 1:
        return [float(f"{float(value):.9g}") for value in rows]
    return [_rounded(row) for row in rows]
