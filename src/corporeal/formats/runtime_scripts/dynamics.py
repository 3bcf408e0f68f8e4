"""A predictor of dynamics for engines: matrices as JSON, and scripts that run it."""

import json

from corporeal._typing import Float64, NumpyArray
from corporeal.formats.runtime_scripts.tables import filled_template, identifier


def dynamics_json(
    joints: tuple[str, ...],
    morphs: tuple[str, ...],
    inputs: Float64[NumpyArray, "D c"],
    history: Float64[NumpyArray, "2 D"],
    constants: Float64[NumpyArray, "D"],
    limits: Float64[NumpyArray, "c"],
    fps: float,
    gravity: bool,
) -> str:
    """What the scripts read: w_k = B u_k + a₁ w_{k−1} + a₂ w_{k−2} + b."""

    def plain(rows: NumpyArray) -> list[object]:
        return json.loads(json.dumps(rows.tolist()), parse_float=lambda x: float(f"{float(x):.9g}"))

    content = {
        "joints": list(joints),
        "morphs": list(morphs),
        "fps": fps,
        "gravity": gravity,
        "limits": plain(limits),
        "inputs": plain(inputs),
        "history": plain(history),
        "constants": plain(constants),
    }
    return json.dumps(content) + "\n"


def dynamics_scripts(stem: str) -> dict[str, str]:
    """File name → text of the scripts for three.js and Godot."""
    word = identifier(stem)
    values = {"DATA": f"{word}_dynamics.json"}
    return {
        f"{word}_dynamics.mjs": filled_template("dynamics.mjs.template", values),
        f"{word}_dynamics.gd": filled_template("dynamics.gd.template", values),
    }
