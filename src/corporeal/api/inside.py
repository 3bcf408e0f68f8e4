"""What is inside a body: bones, muscles and fat, fitted, grown and shared."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from corporeal.anatomy.template_file import read_template
from corporeal.api.numbers import Number, as_float
from corporeal.body.body import Body
from corporeal.body.layered_body import LayeredBody
from corporeal.pipelines.anatomy import Growth, fit_body_layers, grow_body


def fit_anatomy(
    body: Body,
    *,
    sex: Literal["female", "male"] | None = None,
    age: Number | None = None,
    fat_mass: Number | None = None,
    muscle_mass: Number | None = None,
    template: str | Path | None = None,
) -> LayeredBody:
    """Fit bones, muscles and fat into a body of the default surface, from its skin alone.

    `sex` and `age` (years) are the body's own unless given; `fat_mass` and `muscle_mass`
    (kilograms) are predicted from stature, mass, waist, age and sex unless given. `template` is a
    layered template of one's own (.npz), as `corporeal anatomy template` writes it. Masses that
    the surface cannot hold are refused.
    """
    chosen = None if template is None else read_template(template)
    return fit_body_layers(
        body, sex, as_float(age), as_float(fat_mass), as_float(muscle_mass), chosen
    )[0]


def grow(
    layers: LayeredBody,
    mass: Number,
    *,
    regions: Sequence[str] = (),
    tissue: Literal["fat", "muscle"] = "fat",
    visceral: bool = False,
) -> LayeredBody:
    """The same person with `mass` kilograms more (or, below 0, less) of a `tissue`: fat or muscle.

    `regions` are some of belly, back, chest, hips, thighs, legs, arms and neck; everywhere if none
    is named. Fat comes and goes as between people of one sex, age and stature; where regions are
    named, part of it behind the belly's muscles only with `visceral`. What cannot be (−40 kg from a
    person of 50) is refused.
    """
    growth = Growth(mass=float(mass), regions=tuple(regions), tissue=tissue, visceral=visceral)
    return grow_body(layers, growth)


def transfer_fat(
    donor: LayeredBody, layers: LayeredBody, mass: Number, *, regions: Sequence[str] = ()
) -> LayeredBody:
    """The person of `layers` with `mass` kilograms more fat, or less, lying where `donor` has it.

    `regions` are as in `grow`.
    """
    return grow_body(layers, Growth(mass=float(mass), regions=tuple(regions)), donor.layers)
