"""What there is to choose from: the page builds its panels from this."""

from dataclasses import asdict
from typing import Any

from corporeal.anthropometry.definitions import DIMENSIONS
from corporeal.body.parameter import Parameter
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import MOTIONS
from corporeal.pipelines.controls import control_tables
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

PRESETS: dict[str, dict[str, float]] = {
    "Average adult": {},
    "Athlete": {"gender": 0.9, "age": 26, "muscle": 0.9, "weight": 0.5},
    "Dancer": {"gender": 0.1, "age": 24, "muscle": 0.7, "weight": 0.3},
    "Heavy man": {"gender": 0.95, "age": 48, "muscle": 0.5, "weight": 0.95},
    "Heavy woman": {"gender": 0.05, "age": 42, "muscle": 0.45, "weight": 0.95},
    "Slim woman": {"gender": 0.05, "age": 30, "muscle": 0.45, "weight": 0.2},
    "Older man": {"gender": 0.95, "age": 74, "muscle": 0.3, "weight": 0.55},
}
"""Sliders by name; those not named are at their defaults."""

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
        "presets": PRESETS,
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
