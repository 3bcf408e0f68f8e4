"""Bodies of a given stature and BMI by one number, corpulence, without a population model.

Corpulence runs from −1, emaciated, over 0, the average build, to 1, beyond BMI 48. Below 0 the
weight slider falls to 0, then the muscle slider; above 0 the adiposity targets grow in the
proportions in which women and men put on girth. `solve_measurements` is the way to a body with
given girths; this one needs nothing but the shape model, and is sound at every value.
"""

from collections.abc import Callable, Mapping

import numpy as np
from scipy.optimize import root_scalar

from corporeal.body.identity import Identity
from corporeal.errors import UnreachableError
from corporeal.geometry.volume import enclosed_volume
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.units import BODY_DENSITY

FAT_OF_WOMEN: Mapping[str, float] = {
    "adiposity-belly": 0.85,
    "adiposity-torso": 1.0,
    "adiposity-hips": 1.0,
    "adiposity-thighs": 1.0,
    "adiposity-calves": 1.0,
    "adiposity-arms": 1.0,
    "adiposity-neck": 0.85,
}
"""Adiposity of a woman at corpulence 1."""
FAT_OF_MEN: Mapping[str, float] = {
    "adiposity-belly": 1.0,
    "adiposity-torso": 1.0,
    "adiposity-hips": 0.85,
    "adiposity-thighs": 0.95,
    "adiposity-calves": 0.9,
    "adiposity-arms": 1.0,
    "adiposity-neck": 1.0,
}
"""Adiposity of a man at corpulence 1."""


def corpulent_body(
    model: PhenotypeModel, gender: float, corpulence: float, age: float, height: float
) -> Identity:
    """The body at one corpulence, −1 to 1; `gender` and `height` are the model's sliders."""
    thinness = max(-corpulence, 0.0)
    phenotype = {
        "gender": gender,
        "age": age,
        "height": height,
        "weight": 0.5 - min(thinness, 0.5),
        "muscle": 0.5 - max(thinness - 0.5, 0.0),
    }
    fatness = max(corpulence, 0.0)
    fat = {
        name: fatness * ((1 - gender) * FAT_OF_WOMEN[name] + gender * FAT_OF_MEN[name])
        for name in FAT_OF_WOMEN
    }
    return model.prepare(phenotype, fat)


def body_at_bmi(
    model: PhenotypeModel, gender: float, bmi: float, stature: float, age: float = 30.0
) -> Identity:
    """The body with this BMI, kg/m², and stature, metres; both are met to 1e-3 of their value.

    Raises `UnreachableError` where no corpulence or height slider gives them.
    """
    corpulence, height = 0.0, 0.5
    for _ in range(2):  # stature hardly depends on corpulence, so the two settle at once
        height = _root(
            lambda h, c=corpulence: body_size(corpulent_body(model, gender, c, age, h), model)[0],
            stature, 0.0, 1.0, "stature",
        )  # fmt: skip
        corpulence = _root(
            lambda c, h=height: body_size(corpulent_body(model, gender, c, age, h), model)[1],
            bmi, -1.0, 1.0, "BMI",
        )  # fmt: skip
    return corpulent_body(model, gender, corpulence, age, height)


def body_size(identity: Identity, model: PhenotypeModel) -> tuple[float, float]:
    """Stature, metres, and BMI, kg/m²."""
    skin = np.asarray(identity.rest_vertices)
    stature = float(skin[:, 1].max() - skin[:, 1].min())
    volume = float(enclosed_volume(skin, model.template.mesh.triangles))
    return stature, BODY_DENSITY * volume / stature**2


def _root(
    size_at: Callable[[float], float], wanted: float, low: float, high: float, what: str
) -> float:
    """Where the rising function `size_at` is `wanted`."""
    smallest, largest = size_at(low), size_at(high)
    if not smallest <= wanted <= largest:
        raise UnreachableError(
            f"{what} {wanted:g} is out of range; bodies like this one have {smallest:.3g} to "
            f"{largest:.3g}. Ask for a value in between."
        )
    found = root_scalar(
        lambda x: size_at(x) - wanted, bracket=(low, high), method="brentq", xtol=1e-4
    )
    return float(found.root)
