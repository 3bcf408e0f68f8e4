"""A C# component for Unity; the file is named after its class, as Unity asks."""

import json

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
