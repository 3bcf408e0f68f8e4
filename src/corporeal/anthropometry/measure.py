"""Every body reports its measurements."""

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.anthropometry.definitions import COMPANIONS, DIMENSIONS
from corporeal.anthropometry.kinds import Mass
from corporeal.anthropometry.reading import plan_for, read_value
from corporeal.anthropometry.standing import standing_map
from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.measurements import Measurements
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.geometry.surface import surface_area
from corporeal.geometry.volume import enclosed_volume
from corporeal.units import BODY_DENSITY


def measure(identity: Identity, template: Template | None = None) -> Measurements:
    """Measure one body standing, as people are measured; SI units.

    A man (`gender` of 0.5 and more) has no `breast_volume`. Landmarks are known for the default
    body's topology alone; a `template` of the same topology may bring its own skin weights. Volume
    and area are those of the zero pose.
    """
    if np.ndim(identity.rest_vertices) != 2:
        raise InputError(
            f"measure takes one body; got a batch of shape {np.shape(identity.rest_vertices)}. "
            f"Call it for every body of the batch."
        )
    shared = load_default_body().template if template is None else template
    skin = np.asarray(identity.rest_vertices, np.float64)
    points = standing_map(shared)(skin, np.asarray(identity.joints, np.float64))
    plan = plan_for(shared)
    whole = whole_body(skin, shared)
    dimensions = {
        d.name: whole["mass"] if isinstance(d.kind, Mass) else read_value(plan, d.kind, points)
        for d in (*DIMENSIONS, *COMPANIONS)
        if not (d.name == "breast_volume" and _is_man(identity))
    }
    bmi = dimensions["mass"] / dimensions["stature"] ** 2
    return Measurements({**dimensions, **whole, "bmi": bmi})


def _is_man(identity: Identity) -> bool:
    """Whether a body says that it is one; scans and foreign models may say nothing."""
    return bool(np.all(np.asarray(identity.parameters.get("gender", 0.0)) >= 0.5))


def whole_body(skin: Float[NumpyArray, "V 3"], template: Template) -> dict[str, float]:
    """Volume (m³), mass (kg) and surface area (m²) of a closed skin; no landmarks needed."""
    volume = float(enclosed_volume(skin, template.mesh.triangles))
    area = float(surface_area(skin, template.mesh.triangles))
    return {"volume": volume, "mass": BODY_DENSITY * volume, "surface_area": area}
