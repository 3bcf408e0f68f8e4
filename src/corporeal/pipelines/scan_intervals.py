"""Between which values the measurements and the composition of a scanned person lie.

The shape that a scan leaves open (`registration.uncertainty`) is drawn, each draw is measured as
the person was, and the spread of what comes of it gives the interval. Of fat and muscle the error
of their prediction from the tape is added, which is the larger one.
"""

from collections.abc import Mapping
from statistics import NormalDist

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.body import Body
from corporeal.body.identity import Identity
from corporeal.errors import InputError
from corporeal.registration.uncertainty import rest_draws

LEVEL = 0.9
"""Share of people whose true value should lie in an interval."""
_DRAWS = 32
_PLACED = 4e-3
"""Standard deviation of lengths and breadths from where landmarks lie on a registered skin, metres;
what eleven virtual scans had (docs/design/registration.md)."""
_STATURE = 1e-3
"""The same of stature, which no landmark but the crown tells."""
_NO_LENGTHS = ("mass", "volume", "surface_area", "bmi", "breast_volume")

Intervals = Mapping[str, tuple[float, float]]
"""Low and high by name; SI units."""


def scan_intervals(body: Body, seen: NumpyArray, sex: str, age: float) -> dict[str, tuple]:
    """Intervals of all measurements of a registered person, and of `fat_mass` and `muscle_mass`
    (kg) where these can be predicted; `seen` are the vertices that the scan shows, `age` in
    years."""
    from corporeal.anthropometry.measure import measure

    people = _drawn(body, seen)
    rows = [measure(person).values for person in people]
    half = NormalDist().inv_cdf(0.5 + LEVEL / 2)
    found: dict[str, tuple] = {}
    for name, value in body.measurements.items():
        spread = half * float(np.hypot(np.std([float(row[name]) for row in rows]), _placed(name)))
        found[name] = (value - spread, value + spread)
    return found | _composition(body.identity, people, sex, age, half)


def _placed(name: str) -> float:
    """Standard deviation that a measurement has from its landmarks' places; girths have none."""
    if "circumference" in name or name in _NO_LENGTHS:
        return 0.0
    return _STATURE if name == "stature" else _PLACED


def _drawn(body: Body, seen: NumpyArray) -> list[Identity]:
    skins, joints = rest_draws(seen, _DRAWS)
    rest = np.asarray(body.identity.rest_vertices, np.float64)
    own = np.asarray(body.identity.joints, np.float64)
    return [
        Identity((rest + skin).astype(np.float32), (own + moved).astype(np.float32), {})
        for skin, moved in zip(skins, joints, strict=True)
    ]


def _composition(
    identity: Identity, people: list[Identity], sex: str, age: float, half: float
) -> dict[str, tuple]:
    from corporeal.anatomy.composition.predict import predict_composition

    try:
        first = predict_composition(identity, age, sex)
        others = [predict_composition(person, age, sex).composition for person in people]
    except InputError:  # beyond the people that the prediction knows: no interval is honest
        return {}
    found: dict[str, tuple] = {}
    own = {"fat_mass": first.fat_interval, "muscle_mass": first.muscle_interval}
    for name, (low, high) in own.items():
        value = float(getattr(first.composition, name))
        spread = half * float(np.std([float(getattr(other, name)) for other in others]))
        found[name] = (
            value - float(np.hypot(value - low, spread)),
            value + float(np.hypot(high - value, spread)),
        )
    return found
