"""A Blender script: handlers that follow frame changes and posing by hand."""

import json

from corporeal._typing import Float64, NumpyArray
from corporeal.body.correctives import FEATURES
from corporeal.body.live_weights import LiveWeights
from corporeal.formats.runtime_scripts.tables import filled_template, identifier, number_lines


def unity_component(stem: str, live: LiveWeights) -> tuple[str, str]:
    """File name and text."""
    word = identifier(stem)
    name = f"{word[0].upper()}{word[1:]}Correctives"
    text = filled_template(
        "unity.cs.template",
        {
            "CLASS": name,
            "JOINTS": json.dumps(live.joint_names)[1:-1],
            "MORPHS": json.dumps(live.morph_names)[1:-1],
            "CONSTANTS": number_lines(live.constants[:, None], "", ",", 8),
            "SHARES": number_lines(live.shares.reshape(-1, FEATURES), "", ",", 8),
        },
    )
    return f"{name}.cs", text


def javascript_module(stem: str, live: LiveWeights) -> tuple[str, str]:
    """File name and text."""
    text = filled_template(
        "three.mjs.template",
        {
            "JOINTS": json.dumps(live.joint_names),
            "MORPHS": json.dumps(live.morph_names),
            "CONSTANTS": number_lines(live.constants[:, None], "", ",", 2),
            "SHARES": number_lines(live.shares, "[", "],", 2),
        },
    )
    return f"{identifier(stem)}_correctives.mjs", text


def blender_script(
    stem: str,
    live: LiveWeights,
    rest_names: tuple[str, ...],
    rest_joints: Float64[NumpyArray, "J 3"],
) -> tuple[str, str]:
    """File name and text. `rest_joints` (metres) tell which axes an importer has chosen."""
    word = identifier(stem)
    text = filled_template(
        "blender.py.template",
        {
            "WORD": word,
            "JOINTS": repr(live.joint_names),
            "MORPHS": repr(live.morph_names),
            "REST_NAMES": repr(rest_names),
            "REST_JOINTS": number_lines(rest_joints, "(", "),", 4),
            "CONSTANTS": number_lines(live.constants[:, None], "", ",", 4),
            "SHARES": number_lines(live.shares, "(", "),", 4),
        },
    )
    return f"{word}_correctives.py", text
