"""Editing people by trends of the population: more or less weight, taller or shorter (Allen 2006,
section 5 and figure 6; after Allen 2003)."""

from collections.abc import Callable

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.enveloping import EnvelopingModel, coordinates
from corporeal.errors import InputError

Measure = Callable[[Float64[NumpyArray, "V 3"]], tuple[float, float]]
"""Stature (metres) and mass (kg) of a body in the dress pose, from its vertices."""
_LEAST_PEOPLE = 5
_ROUNDS = 8
_CLOSE = (1e-4, 0.02)
"""Metres and kg at which a search ends."""
_STEP = 0.05


def population_trends(model: EnvelopingModel) -> Float64[NumpyArray, "s 2"]:
    """What a metre of stature at the same mass, and a kilogram at the same stature, add to x: least
    squares over the people the model was learned from."""
    known = np.isfinite(model.statures) & np.isfinite(model.masses)
    if known.sum() < _LEAST_PEOPLE:
        raise InputError(
            f"the model knows stature and mass of {int(known.sum())} people; expected at least "
            f"{_LEAST_PEOPLE} to tell a trend. Train it on a set with measurements."
        )
    facts = np.stack([model.statures[known], model.masses[known], np.ones(known.sum())], axis=1)
    found = np.linalg.lstsq(facts, np.asarray(model.latents, np.float64)[known], rcond=None)[0]
    return found[:2].T


def edited(
    model: EnvelopingModel,
    x: Float[NumpyArray, "s"],
    measure: Measure,
    *,
    stature: float | None = None,
    mass: float | None = None,
) -> Float64[NumpyArray, "s"]:
    """x of the same person with another stature (metres) or mass (kg); what is not given stays.

    x moves along the two trends alone; how far is found by measuring (Newton), since trends of
    people are not exact for one of them.
    """
    trends = population_trends(model)
    x = np.asarray(x, np.float64)
    dress = np.asarray(model.dress, np.float64)

    def measured(latents: NumpyArray) -> NumpyArray:
        return np.array(measure(np.tensordot(coordinates(latents), dress, axes=1)))

    now = measured(x)
    wanted = np.array([now[0] if stature is None else stature, now[1] if mass is None else mass])
    units = np.array([0.1, 10.0])
    directions = trends * units  # x for 0.1 m and for 10 kg
    for _ in range(_ROUNDS):
        gap = wanted - measured(x)
        if np.abs(gap[0]) < _CLOSE[0] and np.abs(gap[1]) < _CLOSE[1]:
            break
        here = measured(x)
        slopes = np.stack([(measured(x + _STEP * d) - here) / _STEP for d in directions.T], axis=1)
        x = x + directions @ np.linalg.solve(slopes, gap)
    return x
