"""What learned dynamics can be told, whatever their representation (Pons-Moll 2015, 6.2 to 6.5)."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.controls import Controls, control
from corporeal.body.dynamics import Predictors
from corporeal.body.identity import Identity
from corporeal.body.skeleton import Skeleton
from corporeal.dynamics.body_mass import body_mass_index
from corporeal.dynamics.clock import Clock
from corporeal.dynamics.mixture import predictor_for


@dataclass(frozen=True, kw_only=True)
class LearnedControls(Controls):
    """Of a body with learned dynamics of any kind."""

    exaggeration: float = control(
        1.0,
        low=0.0,
        high=5.0,
        slider=(0.0, 3.0),
        help="how many times as far flesh swings; it scales what is shown, never the memory",
    )
    dynamics: bool = control(
        True, help="flesh swings as it was seen to", off="static", off_flag="static"
    )
    contacts: bool = control(
        False, help="skin that has entered other skin is pressed apart", off="skin passes skin"
    )


@dataclass(frozen=True, kw_only=True)
class DynamicsControls(LearnedControls):
    """Of dynamics that are mixed over people by body mass."""

    bmi: float = control(
        0.0,
        low=0.0,
        high=80.0,
        unit="kg/m²",
        help="body mass index whose flesh it is; 0 for the body's own",
    )


def clock_for(
    predictors: Predictors,
    identity: Identity,
    triangles: NumpyArray,
    skeleton: Skeleton,
    controls: DynamicsControls,
) -> Clock:
    """The prediction for a body, by its own body mass index or the one it is told."""
    index = controls.bmi or body_mass_index(identity, triangles)
    fitted = predictor_for(predictors, index, gender=known_gender(identity))
    return Clock(predictors, fitted, skeleton, np.asarray(identity.joints, np.float64))


def known_gender(identity: Identity) -> float | None:
    """0 female to 1 male, where a body's parameters say it."""
    gender = identity.parameters.get("gender")
    return None if gender is None or np.size(gender) != 1 else float(np.reshape(gender, ()))
