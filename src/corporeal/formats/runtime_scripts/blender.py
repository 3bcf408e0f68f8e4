"""A Blender script: handlers that follow frame changes and posing by hand."""

from corporeal._typing import Float64, NumpyArray
from corporeal.body.live_weights import LiveWeights
from corporeal.formats.runtime_scripts.tables import filled_template, identifier, number_lines


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
