"""How people's skin differs with weight: the way from one body to a heavier or lighter one.

    d = S₁ carried onto B₀ − S₀

S₀ and S₁ are the skins of two people of one sex, age and stature that measurements make of two
masses (`anthropometry.solve`): what is not given is as people of that mass have it. Bones stay in
growth, so the second skin is first carried onto the bones B₀ of the first: along limbs by their
joints, at the trunk so that the furrow of the back has the fat that was gained (`trunk_depth`).
"""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.scaling import stretch_along_bones
from corporeal.anatomy.template import layered_template
from corporeal.anatomy.trunk_depth import template_fat, trunk_shift
from corporeal.anthropometry.solve import solve_measurements
from corporeal.body.identity import Identity
from corporeal.body.tissues import FAT, LIPID_SHARE
from corporeal.units import BODY_DENSITY

BMIS = (17.0, 45.0)
"""Between which bodies are made; what lies beyond goes on as it did there."""
STATURES = (1.45, 1.9)
"""Metres; likewise."""
LEAST_SPAN = 4.0
"""Kilograms between the two bodies, at least."""


def population_way(
    gender: float, age: float, stature: float, mass: float, gain: float
) -> Float64[NumpyArray, "V 3"]:
    """Ways of the skin, metres, from a person of `mass` kg to one `gain` kg heavier or lighter.

    `gender` from 0 (female) to 1 (male), `age` in years, `stature` in metres. The ways are those of
    the whole gain where people have both masses, else of as much of it as they have.
    """
    tall = float(np.clip(stature, *STATURES))
    least, most = (bmi * tall**2 for bmi in BMIS)
    span = min(max(abs(gain), LEAST_SPAN), most - least)
    light = float(np.clip(min(mass, mass + gain), least, most - span))
    ends = [_body(gender, age, tall, kilograms) for kilograms in (light, light + span)]
    first, second = ends if gain > 0 else ends[::-1]
    template = layered_template("male" if gender >= 0.5 else "female")
    body, (skin, joints), (start, targets) = template.body, _arrays(second), _arrays(first)
    carried = stretch_along_bones(skin, body.weights, body.skeleton, joints, targets)
    gained = np.sign(gain) * LIPID_SHARE * span * FAT.density / BODY_DENSITY  # kg of fat
    ratio = 1.0 + gained / (LIPID_SHARE * FAT.density * template_fat(template))
    forwards = trunk_shift(template, start, carried, ratio)
    return (carried - start - forwards[:, None] * [0.0, 0.0, 1.0]) * (stature / tall)


def outward(
    way: Float64[NumpyArray, "V 3"], normals: Float64[NumpyArray, "V 3"], sign: float
) -> Float64[NumpyArray, "V 3"]:
    """`way` without what leads into the body (sign > 0) or out of it (sign < 0)."""
    along = np.einsum("vd,vd->v", way, normals)
    return way - np.where(sign * along < 0, along, 0.0)[:, None] * normals


def _body(gender: float, age: float, stature: float, mass: float) -> Identity:
    return solve_measurements({"stature": stature, "mass": mass}, gender, age).identity


def _arrays(identity: Identity) -> tuple[Float64[NumpyArray, "V 3"], Float64[NumpyArray, "J 3"]]:
    return (
        np.asarray(identity.rest_vertices, np.float64),
        np.asarray(identity.joints, np.float64),
    )
