"""The layers of a body file: those it holds, or those fitted into it."""

from pathlib import Path

import numpy as np

from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.fit.requirements import require_same_body
from corporeal.anatomy.template import LayeredTemplate, layered_template
from corporeal.anthropometry.measure import measure
from corporeal.assets.anatomy import SEXES
from corporeal.assets.default_body import load_default_body
from corporeal.body.body import Body
from corporeal.body.composition import Composition
from corporeal.body.layers import Layers
from corporeal.errors import InputError
from corporeal.formats.layers import read_layers
from corporeal.formats.native import LAYERS
from corporeal.formats.npz import open_npz

USUAL_AGE = 40.0
"""Years, for bodies that do not say theirs."""


def stored_layers(path: Path | None) -> Layers | None:
    """The layers in a body file; None for a file without, or for no file."""
    if path is None:
        return None
    with open_npz(path) as file:
        if "format" not in file.headers or file.text("format") != LAYERS:
            return None
    return read_layers(path).layers


def layers_for(path: Path | None, body: Body, age: float | None = None) -> tuple[Layers, list[str]]:
    """Layers to move a body with, and what a report should tell about them."""
    layers = stored_layers(path)
    if layers is not None:
        return layers, []
    layers, asked = fitted_layers(body, age=age)
    return layers, [
        f"it holds no layers, so they were fitted first ({asked.fat_mass:.1f} kg of fat, "
        f"{asked.muscle_mass:.1f} kg of muscle predicted); corporeal anatomy fit keeps them"
    ]


def fitted_layers(
    body: Body,
    sex: str | None = None,
    age: float | None = None,
    fat_mass: float | None = None,
    muscle_mass: float | None = None,
    template: LayeredTemplate | None = None,
) -> tuple[Layers, Composition]:
    """Layers fitted into a body, and the composition that they were asked to hold.

    `age` is in years, masses in kg; what is None comes from the body, or is predicted from it, and
    the template is the shipped one.
    """
    require_default_topology(body)
    sex = sex_of(body) if sex is None else sex
    if sex not in SEXES:
        raise InputError(f"sex is {sex!r}; expected {' or '.join(SEXES)}.")
    template = layered_template(sex) if template is None else template
    skin, joints = (
        np.asarray(x, np.float64) for x in (body.identity.rest_vertices, body.identity.joints)
    )
    require_same_body(template, skin, joints)  # what is no body is named before it is weighed
    given = [mass for mass in (fat_mass, muscle_mass) if mass is not None]
    _require_masses(given, float(measure(body.identity, body.template).mass))
    years = age_of(body) if age is None else age
    if fat_mass is None or muscle_mass is None:
        found = predict_composition(body.identity, years, sex, body.template).composition
        fat_mass = found.fat_mass if fat_mass is None else fat_mass
        muscle_mass = found.muscle_mass if muscle_mass is None else muscle_mass
    asked = Composition(fat_mass, muscle_mass)
    return fit_layers(body.identity, sex, asked, template=template, age=years), asked


def sex_of(body: Body, layers: Layers | None = None) -> str:
    """What the layers say, else the nearer end of the body's gender."""
    said = (layers.metadata or {}).get("sex") if layers is not None else None
    if said in SEXES:
        return str(said)
    gender = body.identity.parameters.get("gender")
    if gender is None:
        raise InputError("the body does not say its gender; expected --sex female or male.")
    return "male" if float(np.asarray(gender)) >= 0.5 else "female"


def age_of(body: Body) -> float:
    """Years that the body says, else `USUAL_AGE`."""
    return float(np.asarray(body.identity.parameters.get("age", USUAL_AGE)))


def require_default_topology(body: Body) -> None:
    """Raise `InputError` for a surface that is not the default body's."""
    own, wanted = body.template.mesh, load_default_body().template.mesh
    if own.vertex_count != wanted.vertex_count or not np.array_equal(
        own.triangles, wanted.triangles
    ):
        raise InputError(
            f"the body's surface has {own.vertex_count} vertices in another topology; layers fit "
            f"the default body's ({wanted.vertex_count} vertices). Register the surface first."
        )


def _require_masses(given: list[float], body_mass: float) -> None:
    wrong = [mass for mass in given if not (np.isfinite(mass) and mass >= 0)]
    if wrong:
        raise InputError(f"mass of fat or muscle is {wrong[0]:g} kg; expected 0 kg or more.")
    if sum(given) >= body_mass:
        raise InputError(
            f"fat and muscle of {sum(given):g} kg were asked for in a body of {body_mass:.1f} kg; "
            f"expected less than that together."
        )
