"""What there is to choose from: the page builds its panels from this."""

from dataclasses import asdict
from typing import Any

from corporeal.anthropometry.definitions import DIMENSIONS
from corporeal.body.parameter import Parameter
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import MOTIONS
from corporeal.pipelines.controls import control_tables
from corporeal.viewer.document import BodyChoice
from corporeal.viewer.stage import FLESHED

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

_ORDER = ("stiffness", "damping", "gravity", "mass", "volume", "collisions", "ground", "muscle")
"""Controls of flesh that come first."""


def catalogue(model: PhenotypeModel) -> dict[str, Any]:
    """All choices, as JSON."""
    units = {row.name: row.unit for row in DIMENSIONS}
    return {
        "sliders": [asdict(row) for row in model.parameters],
        "modifiers": [asdict(row) for row in model.local_parameters],
        "measures": [{"name": name, "unit": units[name]} for name in MEASURED],
        "learned": LEARNED,
        "presets": list(PRESETS),
        "motions": list(MOTIONS),
        "deformers": [
            {
                "name": name,
                "flesh": name in FLESHED,
                "controls": [asdict(row) for row in sorted(table, key=_rank)],
            }
            for name, table in control_tables().items()
        ],
    }


def _rank(row: Parameter) -> int:
    return _ORDER.index(row.name) if row.name in _ORDER else len(_ORDER)
