"""A JavaScript module for three.js and whatever looks like it."""

import json

from corporeal.body.live_weights import LiveWeights
from corporeal.formats.runtime_scripts.tables import filled_template, identifier, number_lines


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
