"""Fat and muscle mass of one body, with the error of the estimate.

    estimate = predict_composition(identity, age=35, gender="female")
    estimate.composition.fat_mass, estimate.fat_interval

The surface gives stature, mass (volume × `units.BODY_DENSITY`) and waist; age and sex must be said.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from corporeal.anatomy.composition.model import CompositionModel
from corporeal.anatomy.composition.stored import load_models
from corporeal.anatomy.composition.tape import Tape
from corporeal.anatomy.composition.waist import crest_waist, crest_waist_from_navel
from corporeal.anthropometry.measure import measure
from corporeal.anthropometry.solve import male_share
from corporeal.body.composition import Composition
from corporeal.body.identity import Identity
from corporeal.body.measurements import Measurements
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass

LEVEL: Final = 0.9
"""Share of people whose true value lies in the intervals."""


@dataclass(frozen=True)
class Bound:
    """Between which values people were measured."""

    low: float
    """Smallest value, in `unit`."""
    high: float
    """Largest value, in `unit`."""
    unit: str
    """Unit of both, as it is printed."""
    advice: str
    """What to do with a body outside, in words."""


DOMAIN: Final = {
    "age": Bound(18.0, 80.0, "years", "Children's bodies follow other relations."),
    "stature": Bound(1.30, 2.20, "m", "Give metres."),
    "BMI": Bound(15.0, 58.0, "kg/m²", "Give stature in metres and mass in kilograms."),
    "waist over stature": Bound(0.36, 1.0, "", "Give the waist in metres, above the hip bone."),
    "mass over waist² × stature": Bound(
        33.0, 83.0, "kg/m³", "Waist and mass do not belong to one person: measure the waist again."
    ),
}
"""The people of the fit, and ages to 80, where those above 60 count as 60 with a wider interval."""


@pytree_dataclass(static=("composition", "body_mass", "fat_interval", "muscle_interval"))
class CompositionEstimate:
    """Fat and muscle of one body, and how sure they are."""

    composition: Composition
    """Most likely fat and muscle mass, kg."""
    body_mass: float
    """Kilograms."""
    fat_interval: tuple[float, float]
    """Kilograms; holds the DXA fat of `LEVEL` of such people."""
    muscle_interval: tuple[float, float]
    """Kilograms; holds the muscle by magnetic resonance of `LEVEL` of such people."""

    @property
    def fat_percentage(self) -> float:
        """Per cent of body mass."""
        return 100 * self.composition.fat_mass / self.body_mass

    @property
    def remaining_mass(self) -> float:
        """Neither fat nor skeletal muscle (bone, organs, blood, skin), kg."""
        return self.body_mass - self.composition.fat_mass - self.composition.muscle_mass


def predict_composition(
    body: Identity | Measurements,
    age: float,
    gender: float | str,
    template: Template | None = None,
) -> CompositionEstimate:
    """Fat and muscle mass of a body with the default topology, or of one that has been measured.

    `age` is in years, `gender` "female", "male" or a number from 0 (female) to 1 (male). A body is
    taped where NHANES does; of measurements, the waist at the navel is converted (to 0.6 %).
    """
    share = male_share(gender)
    if isinstance(body, Measurements):
        measured = body
        waist = crest_waist_from_navel(measured, share)
    else:
        measured = measure(body, template)
        waist = crest_waist(body, share, template)
    return predict_from_tape(measured.stature, measured.mass, waist, age, share)


def predict_from_tape(
    stature: float, mass: float, waist: float, age: float, gender: float | str
) -> CompositionEstimate:
    """Fat and muscle mass of a person: metres, kilograms, metres just above the hip bone, years."""
    share = male_share(gender)
    person = Tape(*(np.array([value], np.float64) for value in (stature, mass, waist, age)))
    _require_domain(person)
    models = load_models()
    female, male = (_moments(models[sex], person) for sex in ("female", "male"))
    mixed = (1 - share) * female + share * male
    fat, fat_error, muscle, muscle_error = (float(value) for value in mixed)
    return CompositionEstimate(
        Composition(fat, muscle),
        float(mass),
        _interval(fat, fat_error, float(mass)),
        _interval(muscle, muscle_error, float(mass)),
    )


def _moments(model: CompositionModel, person: Tape) -> np.ndarray:
    """Fat mass and its standard deviation, muscle mass and its standard deviation, kg."""
    percent = person.mass[0] / 100
    muscle = model.muscle_mass(person)[0]
    return np.array(
        [
            percent * model.fat_percentage(person)[0],
            percent * model.fat_deviation(person)[0],
            muscle,
            model.muscle_spread * muscle,
        ]
    )


def _interval(mean: float, deviation: float, most: float) -> tuple[float, float]:
    half = NormalDist().inv_cdf(0.5 + LEVEL / 2) * deviation
    return float(max(mean - half, 0.0)), float(min(mean + half, most))


def _require_domain(person: Tape) -> None:
    """Refuse whoever lies outside the people of the fit."""
    found = {
        "age": person.age,
        "stature": person.stature,
        "BMI": person.bmi,
        "waist over stature": person.girth_ratio,
        "mass over waist² × stature": person.stoutness,
    }
    for name, bound in DOMAIN.items():
        value = float(found[name][0])
        if not bound.low <= value <= bound.high:
            unit = f" {bound.unit}" if bound.unit else ""
            raise InputError(
                f"{name} is {value:.4g}{unit}; composition is known for {bound.low:g} to "
                f"{bound.high:g}{unit}. {bound.advice}"
            )
