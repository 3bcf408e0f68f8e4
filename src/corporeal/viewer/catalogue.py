"""What there is to choose from: the page builds its panels from this."""

from dataclasses import asdict
from typing import Any

from corporeal.anthropometry.definitions import DIMENSIONS
from corporeal.appearance.appearance import Appearance
from corporeal.appearance.faces import FaceSlider, expression_names, face_sliders
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import MOTIONS
from corporeal.pipelines.deformers import deformer_class, deformers_where, is_ready
from corporeal.viewer.document import BodyChoice
from corporeal.viewer.posing import POSES, turn_limits

MEASURED = (
    "stature",
    "mass",
    "chest_circumference",
    "waist_circumference",
    "buttock_circumference",
)
"""Measurements that a person may set."""

LEARNED = 10
"""Coefficients of learned shape that have a slider."""

PRESETS: dict[str, BodyChoice] = {
    "Average adult": BodyChoice(),
    "Athlete": BodyChoice(
        {"gender": 1.0, "age": 26.0},
        measured={"stature": 1.83, "mass": 88.0, "waist_circumference": 0.82},
    ),
    "Dancer": BodyChoice({"gender": 0.0, "age": 24.0}, measured={"stature": 1.67, "mass": 54.0}),
    "Slim woman": BodyChoice(
        {"gender": 0.0, "age": 30.0}, measured={"stature": 1.70, "mass": 52.0}
    ),
    "Heavy woman": BodyChoice(
        {"gender": 0.0, "age": 42.0}, measured={"stature": 1.64, "mass": 104.0}
    ),
    "Heavy man": BodyChoice(
        {"gender": 1.0, "age": 48.0}, measured={"stature": 1.78, "mass": 124.0}
    ),
    "Older man": BodyChoice(
        {"gender": 1.0, "age": 74.0},
        measured={"stature": 1.72, "mass": 82.0, "waist_circumference": 1.02},
    ),
}
"""People by name: gender (0 female, 1 male), age in years, and what they measure."""


def catalogue(model: PhenotypeModel) -> dict[str, Any]:
    """All choices, as JSON."""
    units = {row.name: row.unit for row in DIMENSIONS}
    return {
        "sliders": [asdict(row) for row in model.parameters],
        "modifiers": [asdict(row) for row in model.local_parameters],
        "measures": [{"name": name, "unit": units[name]} for name in MEASURED],
        "learned": LEARNED,
        "presets": list(PRESETS),
        "appearance": [asdict(row) for row in Appearance.table()],
        "face": [_face_slider(row) for row in face_sliders().values()],
        "expressions": list(expression_names()),
        "motions": list(MOTIONS),
        "poses": POSES,
        "limits": turn_limits(),
        "deformers": [
            _deformer(name) for name in deformers_where(changes_topology=False) if is_ready(name)
        ],
    }


def _face_slider(row: FaceSlider) -> dict[str, Any]:
    """A slider of the face: those with targets on one side alone begin at 0."""
    return {"name": row.name, "low": -1.0 if row.less else 0.0, "high": 1.0}


def _deformer(name: str) -> dict[str, Any]:
    """What the page knows of a deformer."""
    traits = deformer_class(name)
    table = traits.Controls.table()
    return {
        "name": name,
        "title": traits.title or name,
        "summary": traits.summary,
        "flesh": traits.stateful,
        "grabs": traits.accepts_environment,
        "controls": [asdict(row) for row in table if row.live],
    }
