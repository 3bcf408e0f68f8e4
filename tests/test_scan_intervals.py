"""How well a scanned person's measurements are known."""

import numpy as np

from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anthropometry.measure import measure
from corporeal.body.body import Body
from corporeal.body.identity import Identity
from corporeal.pipelines.scan_intervals import scan_intervals
from corporeal.registration.person_model import person_model
from corporeal.registration.uncertainty import LACKING, rest_draws, rest_spread


def test_draws_have_the_spread_that_is_said() -> None:
    """Of legs that a scan does not show, drawn errors have the posterior's standard deviation: of
    400 draws it is known to 4 %, here the mean over all of them. Joints move with the skin."""
    model = person_model()
    seen = model.space.mean_vertices[:, 1] > -0.2
    skins, joints = rest_draws(seen, 400)
    drawn = np.sqrt(np.square(skins[:, ~seen]).mean(axis=(0, 2)))
    said = np.sqrt(rest_spread(seen)[~seen] ** 2 - LACKING**2)
    assert abs(float(np.mean(drawn / said)) - 1.0) < 0.05
    names = model.template.skeleton.names
    ankle, head = (joints[:, names.index(name)].std() for name in ("left_ankle", "head"))
    assert ankle > 3.0 * head


def test_what_is_not_shown_is_known_less() -> None:
    """Without legs, stature and calves have wider intervals, the neck has not; every interval holds
    the value; fat keeps at least the error of its prediction."""
    model = person_model()
    space = model.space
    person = Identity(
        space.mean_vertices.astype(np.float32), space.mean_joints.astype(np.float32), {}
    )
    values = {name: float(value) for name, value in measure(person).values.items()}
    body = Body(model.template, person, values)
    height = space.mean_vertices[:, 1]
    whole, half = (scan_intervals(body, height > least, "female", 40.0) for least in (-9.0, -0.2))

    def width(found: dict, name: str) -> float:
        return found[name][1] - found[name][0]

    assert all(found[name][0] <= v <= found[name][1] for found in (whole, half)
               for name, v in values.items())  # fmt: skip
    assert width(whole, "breast_volume") < 2e-4  # a few millimetres over a breast, no litres
    assert width(half, "stature") > 5.0 * width(whole, "stature")
    assert width(half, "calf_circumference") > 1.5 * width(whole, "calf_circumference")
    assert width(half, "neck_circumference") < 1.3 * width(whole, "neck_circumference")
    low, high = predict_composition(person, 40.0, "female").fat_interval
    assert width(whole, "fat_mass") >= high - low
