"""Characters whose soft tissue a network moves at run time: morph targets, and what drives them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.identity import Identity
from corporeal.dynamics.neural.deformer import NeuralSkinning
from corporeal.dynamics.neural.experts import tissue_factors
from corporeal.dynamics.neural.features import FLESHY, JOINT_COUNT
from corporeal.dynamics.neural.network import BOUND, layer_count
from corporeal.dynamics.neural.person import PERSON_SIZE, Tissue
from corporeal.dynamics.neural.recurrence import decay
from corporeal.errors import InputError
from corporeal.formats.runtime_scripts.neural import neural_json, neural_script
from corporeal.formats.runtime_scripts.tables import identifier
from corporeal.pipelines.live_dynamics import UNIT
from corporeal.runtime.files import require_writable, write_bytes


@dataclass(frozen=True)
class LiveNeural:
    """Dynamic morph targets of one person, and the network of their weights."""

    morph_names: tuple[str, ...]
    """One a morph target."""
    offsets: Float64[NumpyArray, "D V 3"]
    """Rest-pose displacement at weight 1, metres."""
    content: dict[str, Any]
    """What the script reads."""


def live_neural(deformer: NeuralSkinning, identity: Identity) -> LiveNeural:
    """All dynamic shapes for a person, scaled so that a weight of 1 is a centimetre."""
    trained = deformer.model.trained
    if len(trained.static_basis):
        raise InputError(
            "the network has a part for poses, which no script carries; train it with "
            "--static-count 0."
        )
    shapes = np.asarray(trained.dynamic_basis, np.float64)
    if deformer.local_weights is not None:
        shapes = shapes * deformer.local_weights[:, None]
    unit = UNIT / np.maximum(np.linalg.norm(shapes, axis=-1).max(axis=1), 1e-12)
    names = tuple(f"dynamic_{k:02d}" for k in range(len(shapes)))
    weights = {name: np.asarray(w) for name, w in trained.parameters.items() if np.size(w)}
    told = deformer.person(identity, Tissue()).astype(np.float64)
    person, shares = told[:PERSON_SIZE], told[PERSON_SIZE:]
    skeleton, layers = deformer.template.skeleton, range(layer_count(weights))
    size = person @ weights["person_size"]
    content = {
        "joints": list(skeleton.names[:JOINT_COUNT]),
        "parents": list(skeleton.parents[:JOINT_COUNT]),
        "rest": np.asarray(identity.joints, np.float64)[:JOINT_COUNT],
        "driving": list(FLESHY),
        "morphs": list(names),
        "bound": BOUND,
        "person": person,
        "layers": len(layers),
        "size": np.exp(BOUND / 4 * np.tanh(size / (BOUND / 4))),
        "alpha": [decay(weights[f"decay_{k}"] + person @ weights[f"person_decay_{k}"])
                  for k in layers],
        "omega": [np.exp(weights[f"frequency_{k}"]
                         + np.tanh(person @ weights[f"person_frequency_{k}"])) for k in layers],
        "unit": unit,
        "weights": {k: v for k, v in weights.items()
                    if not k.startswith(("static_", "person_", "expert_"))},
    }  # fmt: skip
    if len(shares):
        alpha, omega, content["experts"] = _experts(weights, person, shares)
        content["alpha"].append(alpha)
        content["omega"].append(omega)
    return LiveNeural(names, shapes * unit[:, None, None], content)


def _experts(
    weights: dict[str, NumpyArray], person: NumpyArray, shares: NumpyArray
) -> tuple[NumpyArray, NumpyArray, dict[str, NumpyArray]]:
    """α, ω and the rest of the linear predictors that have a share in this person."""
    count = len(weights["expert_share"])
    kept = np.repeat(shares > 1e-7 * shares.max(), count)
    faster, damped = tissue_factors(weights, person, np)
    part = np.repeat(shares, count) * np.tile(weights["expert_share"], len(shares)) / faster**2
    return (
        (weights["expert_decay"] * faster * damped)[kept],
        (weights["expert_frequency"] * faster)[kept],
        {
            "limits": weights["expert_limits"],
            "drive": weights["expert_in"][:, kept],
            "re": (part * weights["expert_read_re"])[kept],
            "im": (part * weights["expert_read_im"])[kept],
            "skip": (part * weights["expert_skip"])[kept],
        },
    )


def write_neural_runtime(stem: str | Path, live: LiveNeural) -> tuple[Path, ...]:
    """Write the network of a person as JSON, and the script for three.js, beside a character."""
    path = Path(stem)
    texts = {
        f"{identifier(path.stem)}_neural.json": neural_json(live.content),
        **neural_script(path.stem),
    }
    paths = tuple(require_writable(path.parent / name, inside=path.parent) for name in texts)
    for place, text in zip(paths, texts.values(), strict=True):
        write_bytes(place, text.encode(), inside=path.parent)
    return paths
