"""Giving a body more or less weight or height, all else as it is.

The population's map (`weight_map`, equation 1) is linear in w^⅓ and h, and so is followed at first;
then the feature change is corrected by Newton steps until the body measures what was asked.
"""

from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.assets.default_body import grounded
from corporeal.body.identity import Identity
from corporeal.errors import InputError, UnreachableError
from corporeal.geometry.volume import enclosed_volume
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.population.weight_map import feature_offsets
from corporeal.runtime.pytree_dataclass import pytree_dataclass
from corporeal.units import BODY_DENSITY

BMIS: Final = (14.0, 55.0)
"""What a reshaped body may have, kg/m²."""
STATURES: Final = (1.35, 2.15)
"""Metres."""
_STEPS: Final = 6
_CLOSE: Final = 1e-4
"""Share of mass and stature to which a change is met."""


@pytree_dataclass(static=("mass", "stature", "straight_mass", "straight_stature"))
class Reshaped:
    """A changed body."""

    identity: Identity
    """Rest shape and joints after the change."""
    mass: float
    """Kilograms."""
    stature: float
    """Metres."""
    straight_mass: float
    """Mass, kg, that equation (1) alone gives, without correction."""
    straight_stature: float
    """Likewise the stature, metres."""


def reshape_body(
    model: PhenotypeModel,
    identity: Identity,
    gender: float,
    gain: float = 0.0,
    taller: float = 0.0,
) -> Reshaped:
    """A body heavier by `gain` kilograms and taller by `taller` metres (either may be negative).

    Works on any body of the default topology, whatever made it. Raises `UnreachableError` for what
    people do not have.
    """
    if not (np.isfinite(gain) and np.isfinite(taller)) or not 0 <= gender <= 1:
        raise InputError(
            f"a gain of {gain} kg and {taller} m for gender {gender} came; expected finite numbers "
            f"and a gender from 0 (female) to 1 (male)."
        )
    skin = np.asarray(identity.rest_vertices, np.float64)
    joints = np.asarray(identity.joints, np.float64)
    before = _features(model, skin)
    wanted = _wanted(before, gain, taller)
    by_skin, by_joints = feature_offsets(model, gender)
    change = wanted - before
    found = straight = _features(model, skin + by_skin @ change)
    for _ in range(_STEPS):
        if np.all(np.abs(found - wanted) <= _CLOSE * wanted / 3):
            break
        change = change + wanted - found  # the map's slope is near the identity
        found = _features(model, skin + by_skin @ change)
    placed = grounded(skin + by_skin @ change, joints + by_joints @ change)
    skin, joints = (np.asarray(array, np.float32) for array in placed)
    known = identity.parameters
    body = Identity(skin, joints, {n: known[n] for n in ("gender", "age") if n in known})
    return Reshaped(body, *_measured(found), *_measured(straight))


def _features(model: PhenotypeModel, skin: Float[NumpyArray, "V 3"]) -> Float[NumpyArray, "2"]:
    """f = (w^⅓, h) of a skin."""
    mass = BODY_DENSITY * float(enclosed_volume(skin, model.template.mesh.triangles))
    return np.array([np.cbrt(mass), np.ptp(skin[:, 1])])


def _measured(features: Float[NumpyArray, "2"]) -> tuple[float, float]:
    return float(features[0] ** 3), float(features[1])


def _wanted(before: Float[NumpyArray, "2"], gain: float, taller: float) -> Float[NumpyArray, "2"]:
    mass, stature = _measured(before)
    new_mass, new_stature = mass + gain, stature + taller
    bmi = new_mass / new_stature**2
    if not (BMIS[0] <= bmi <= BMIS[1] and STATURES[0] <= new_stature <= STATURES[1]):
        least, most = (b * new_stature**2 - mass for b in BMIS)
        raise UnreachableError(
            f"{mass:.1f} kg {gain:+g} kg at {new_stature:.2f} m has BMI {bmi:.1f}; expected BMI "
            f"{BMIS[0]:g} to {BMIS[1]:g} and {STATURES[0]:g} to {STATURES[1]:g} m. At that stature "
            f"the gain may be {least:+.0f} to {most:+.0f} kg."
        )
    return np.array([np.cbrt(new_mass), new_stature])
