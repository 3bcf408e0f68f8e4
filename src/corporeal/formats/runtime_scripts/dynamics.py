"""A predictor of dynamics for engines: matrices as JSON, and scripts that run it."""

import json
from dataclasses import dataclass

from corporeal._typing import Float64, NumpyArray
from corporeal.body.dynamics import ControlKind
from corporeal.formats.runtime_scripts.tables import filled_template, identifier


@dataclass(frozen=True)
class DrivingTree:
    """The joints whose rotations a predictor needs, parents first."""

    joints: tuple[str, ...]
    """Names."""
    parents: tuple[int, ...]
    """Of each, among these; −1 of the root."""
    rest: Float64[NumpyArray, "k 3"]
    """Rest positions, metres."""
    driving: tuple[int, ...]
    """Those whose movement drives."""
    controls: ControlKind
    """What of it."""


def dynamics_json(
    tree: DrivingTree,
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
        "controls": tree.controls,
        "joints": list(tree.joints),
        "parents": list(tree.parents),
        "rest": plain(tree.rest),
        "driving": list(tree.driving),
        "morphs": list(morphs),
        "fps": fps,
        "gravity": gravity,
        "limits": plain(limits),
        "inputs": plain(inputs),
        "history": plain(history),
        "constants": plain(constants),
        # Unity reads no arrays of arrays
        "restFlat": plain(tree.rest.ravel()),
        "inputsFlat": plain(inputs.ravel()),
        "historyFlat": plain(history.ravel()),
    }
    return json.dumps(content) + "\n"


def dynamics_scripts(stem: str) -> dict[str, str]:
    """File name → text of the scripts for three.js, Godot, Blender and Unity."""
    word = identifier(stem)
    values = {"DATA": f"{word}_dynamics.json", "CLASS": class_name(word)}
    return {
        f"{word}_dynamics.mjs": filled_template("dynamics.mjs.template", values),
        f"{word}_dynamics.gd": filled_template("dynamics.gd.template", values),
        f"{word}_dynamics_blender.py": filled_template("dynamics_blender.py.template", values),
        f"{class_name(word)}.cs": filled_template("dynamics.cs.template", values),
    }


def class_name(word: str) -> str:
    """Of the Unity component; a file is called as its class."""
    return "".join(part.capitalize() for part in word.split("_")) + "Dynamics"
