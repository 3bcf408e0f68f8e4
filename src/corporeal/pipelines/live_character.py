"""Characters whose pose correctives are morph targets that follow any pose, not one take alone."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.appearance.dress import with_face
from corporeal.body.animation import Animation
from corporeal.body.controls import GivenControls
from corporeal.body.correctives import PoseCorrectives
from corporeal.body.deformer import Deformer, controls_for
from corporeal.dynamics.dmpl.model import DmplSkinning
from corporeal.dynamics.neural.deformer import NeuralSkinning
from corporeal.errors import InputError
from corporeal.models.smpl.corrected import CorrectedSkinning
from corporeal.models.smpl.model import SmplModel
from corporeal.models.smpl.reduction import reduced_correctives, usual_moments
from corporeal.pipelines.bake import bake
from corporeal.pipelines.correctives import attach_correctives, write_runtime_scripts
from corporeal.pipelines.exports import CHARACTER_WRITERS, write_character
from corporeal.pipelines.live_dynamics import (
    attach_dynamics,
    live_dynamics,
    write_dynamics_runtime,
)
from corporeal.pipelines.live_neural import live_neural, write_neural_runtime
from corporeal.pipelines.presentation import Presentation
from corporeal.pipelines.results import engine_looks
from corporeal.skinning.linear import LinearBlendSkinning
from corporeal.skinning.playback import character_vertices

MOST_TARGETS = 64
"""Morph targets of a character."""


def require_character(path: Path) -> None:
    """Refuse a file that holds no character."""
    if path.suffix.lower() not in CHARACTER_WRITERS:
        raise InputError(
            f"--live writes a character; {path} is none. Expected {', '.join(CHARACTER_WRITERS)}."
        )


def require_live(path: Path, deformer: Deformer) -> CorrectedSkinning:
    """The deformer, if it has correctives that engines can play and `path` can hold them."""
    require_character(path)
    if isinstance(deformer, DmplSkinning | NeuralSkinning):
        return deformer.static
    if not isinstance(deformer, CorrectedSkinning) or deformer.correctives is None:
        raise InputError(
            f"--live came with the deformer {deformer.name!r}, which has no pose correctives. Use "
            f"--deformer smpl, enveloping, dmpl or neural, or a --model."
        )
    if not isinstance(deformer.skinning, LinearBlendSkinning):
        raise InputError(
            "--live came with a model of dual quaternions; engines blend linearly. Leave --live "
            "out: then the take is baked."
        )
    return deformer


def live_correctives(deformer: CorrectedSkinning) -> PoseCorrectives:
    """At most 64 morph targets: the deformer's own, or those that stand best for them."""
    own = deformer.correctives
    assert own is not None
    if own.morph_count <= MOST_TARGETS or not isinstance(deformer, SmplModel):
        return own
    data = deformer.data
    return reduced_correctives(data, MOST_TARGETS, usual_moments(data.joint_count))


def write_live_character(
    path: Path,
    deformer: CorrectedSkinning,
    animation: Animation,
    presentation: Presentation,
    dynamics: DmplSkinning | NeuralSkinning | None = None,
    controls: GivenControls = None,
) -> dict[str, Any]:
    """Write the character and, beside it, the scripts that drive its correctives; with `dynamics`
    also those that drive its soft tissue.

    The report says how far a vertex of the take is from the animation, in millimetres; of soft
    tissue, which the file leaves to the script, from the static skin.
    """
    if dynamics is not None:
        _require_no_contacts(dynamics, controls)
        animation = deformer.animate(animation.identity, animation.motion)
    plain = LinearBlendSkinning(animation.template).animate(animation.identity, animation.motion)
    looks = engine_looks(animation.template, animation.identity, presentation)
    animation = with_face(animation, looks)
    character, _ = bake(with_face(plain, looks), looks=looks)
    correctives = live_correctives(deformer)
    character = attach_correctives(character, correctives)
    soft: tuple[Path, ...] = ()
    if isinstance(dynamics, DmplSkinning):
        live = live_dynamics(dynamics, animation.identity, controls=controls)
        character = attach_dynamics(character, live)
        soft = write_dynamics_runtime(path, dynamics, live)
    elif dynamics is not None:
        network = live_neural(dynamics, animation.identity)
        character = attach_dynamics(character, network)
        soft = write_neural_runtime(path, network)
    write_character(path, replace(character, name=animation.motion.name))
    scripts = write_runtime_scripts(path, character, correctives) + soft
    apart = 1e3 * np.linalg.norm(
        character_vertices(character) - np.asarray(animation.vertices, np.float64), axis=-1
    )
    return {
        "morphs": character.morph_count,
        "mean_error_mm": round(float(apart.mean()), 5),
        "max_error_mm": round(float(apart.max()), 5),
        "scripts": [script.name for script in scripts],
    }


def _require_no_contacts(dynamics: DmplSkinning | NeuralSkinning, controls: GivenControls) -> None:
    """Raise `InputError` where skin is to be pressed apart: scripts do not see skin."""
    if controls_for(dynamics.name, dynamics.Controls, controls).contacts:
        raise InputError(
            "--contacts came with --live, and scripts in engines do not know where skin meets; "
            "expected one of them. Leave out --contacts, or bake the take (without --live)."
        )
