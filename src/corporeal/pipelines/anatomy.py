"""Layers fitted into a body, grown, and filled like another person's: files in, layers file out."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from corporeal.anatomy.fit.balance import FAT_DENSITY, MUSCLE_DENSITY
from corporeal.anatomy.growth.regions import REGIONS
from corporeal.anatomy.prisms import Prisms
from corporeal.anatomy.template import LayeredTemplate
from corporeal.anatomy.template_file import read_template
from corporeal.anthropometry.measure import measure
from corporeal.body.body import Body
from corporeal.body.composition import Composition
from corporeal.body.identity import Identity
from corporeal.body.layered_body import LayeredBody
from corporeal.body.layers import Layers
from corporeal.errors import InputError
from corporeal.formats.layers import read_layers, write_layers
from corporeal.formats.native import read_body
from corporeal.pipelines.layered_body import age_of, fitted_layers, require_default_topology, sex_of
from corporeal.runtime.files import require_writable
from corporeal.runtime.manifest import Run, finish_run, manifest_path, start_run

Tissue = Literal["fat", "muscle"]
Masses = Mapping[str, float]
"""Kilograms of the whole body, of fat and of muscle, by name."""
BODY_MASS = "body_mass"
"""Where layers say what the body weighs, kg: volume times density when they are fitted, and the
layers' own gains and losses from then on."""
MOST_MISSED = 2.0
"""Kilograms beyond what a surface can hold that may be asked for."""


@dataclass(frozen=True, kw_only=True)
class FitConfig:
    """One body in, its layers out."""

    body: Path
    """Body file to read."""
    out: Path
    """Layers file to write."""
    sex: str | None = None
    """`female` or `male`; the body's own by default."""
    age: float | None = None
    """Years; the body's own by default."""
    fat_mass: float | None = None
    """Kilograms; predicted by default."""
    muscle_mass: float | None = None
    """Kilograms; predicted by default."""
    template: Path | None = None
    """Layered template of one's own; the shipped one by default."""


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How a person gains or loses tissue."""

    mass: float
    """Kilograms of tissue; negative for a loss."""
    regions: tuple[str, ...] = ()
    """Where; everywhere if none is named."""
    tissue: Tissue = "fat"
    """What grows: `fat` or `muscle`."""
    visceral: bool = False
    """Let part of the belly's fat come or go behind its muscles too, where regions are named; where
    the whole body changes, it does so by itself."""


@dataclass(frozen=True, kw_only=True)
class GrowConfig(Growth):
    """Layers in, the same person with more or less fat or muscle out."""

    layers: Path
    """Layers file to read."""
    out: Path
    """Layers file to write."""
    donor: Path | None = None
    """Layers whose fat distribution the new fat takes."""


@dataclass(frozen=True)
class AnatomyMade:
    """What came of it."""

    out: Path
    """The layers file."""
    manifest: Path
    """Its manifest."""
    before: Masses
    """Fitting: what was asked or predicted; growing: what the layers held."""
    after: Masses
    """What the written layers hold."""


def fit_anatomy(config: FitConfig) -> AnatomyMade:
    """Fit layers into a body file and write them with it."""
    _require_output(config.out)
    own = () if config.template is None else (config.template,)
    run = start_run("anatomy fit", config, [config.body, *own])
    body = read_body(config.body)
    template = None if config.template is None else read_template(config.template)
    masses_asked = (config.fat_mass, config.muscle_mass)
    layered, asked = fit_body_layers(
        body, config.sex, config.age, *masses_asked, template, name=str(config.body)
    )
    wanted = {"body": _body_mass(layered), "fat": asked.fat_mass, "muscle": asked.muscle_mass}
    return _written(run, config.out, layered, wanted)


def fit_body_layers(
    body: Body,
    sex: str | None = None,
    age: float | None = None,
    fat_mass: float | None = None,
    muscle_mass: float | None = None,
    template: LayeredTemplate | None = None,
    name: str = "the body",
) -> tuple[LayeredBody, Composition]:
    """Fit layers into a body, in memory; also gives the composition that was asked or predicted.

    `age` is in years, masses in kg; what is None comes from the body or is predicted from it.
    `name` is what errors call the body.
    """
    layers, asked = fitted_layers(body, sex, age, fat_mass, muscle_mass, template)
    _require_capacity(layers, {"fat": fat_mass, "muscle": muscle_mass}, name)
    weighed = dict(layers.metadata or {}) | {BODY_MASS: float(_measured_mass(body))}
    return LayeredBody(body, replace(layers, metadata=weighed)), asked


def grow_anatomy(config: GrowConfig) -> AnatomyMade:
    """Grow or shrink one tissue of a layers file and write the person that comes of it."""
    require_growth(config)
    _require_output(config.out)
    donors = () if config.donor is None else (config.donor,)
    verb = "anatomy grow" if config.donor is None else "anatomy transfer-fat"
    run = start_run(verb, config, [config.layers, *donors])
    before = read_layers(config.layers)
    donor = None if config.donor is None else read_layers(config.donor).layers
    return _written(run, config.out, grow_body(before, config, donor), masses(before))


def grow_body(before: LayeredBody, growth: Growth, donor: Layers | None = None) -> LayeredBody:
    """The same person with more or less of one tissue, in memory; measured again.

    Fat comes and goes as in people of that sex and age, or as `donor` has it.
    """
    require_growth(growth)
    require_default_topology(before.body)
    return _with_layers(before, _grown(growth, before, donor))


def masses(layered: LayeredBody) -> dict[str, float]:
    """A body and what it is made of, kg."""
    held = layered.layers.composition
    found = {"body": _body_mass(layered)}
    return found if held is None else found | {"fat": held.fat_mass, "muscle": held.muscle_mass}


def _body_mass(layered: LayeredBody) -> float:
    """What the layers say; else volume times the usual density."""
    said = (layered.layers.metadata or {}).get(BODY_MASS)
    return _measured_mass(layered.body) if said is None else float(said)


def _measured_mass(body: Body) -> float:
    return float(measure(body.identity, body.template).mass)


def _tissue_mass(layers: Layers) -> float:
    """Fat and muscle layers by their densities, kg; visceral fat is fat behind the muscle."""
    prisms = Prisms(layers.triangles, layers.layered)
    fat = FAT_DENSITY * float(prisms.volumes(layers.skin, layers.muscle).sum())
    visceral = float((layers.metadata or {}).get("visceral_fat", 0.0))
    inside = float(prisms.volumes(layers.muscle, layers.bone).sum()) - visceral / FAT_DENSITY
    return fat + visceral + MUSCLE_DENSITY * inside


def _grown(config: Growth, before: LayeredBody, donor: Layers | None) -> Layers:
    from corporeal.anatomy.growth.fat import grow_fat
    from corporeal.anatomy.growth.muscle import grow_muscle

    if config.tissue == "muscle":
        sex = sex_of(before.body, before.layers)
        return grow_muscle(before.layers, sex, config.mass, config.regions)
    said = "gender" in before.body.identity.parameters or "sex" in (before.layers.metadata or {})
    return grow_fat(
        before.layers,
        before.body.template,
        config.mass,
        config.regions,
        donor,
        sex=sex_of(before.body, before.layers) if said else None,
        age=age_of(before.body),
        visceral=True if config.visceral else None,
    )


def _with_layers(before: LayeredBody, layers: Layers) -> LayeredBody:
    """The body under its new skin, measured again; its joints stay where they were.

    Its mass is what it was and what the layers gained, in the measurements too: fat is lighter than
    the body on average, so volume times one density would tell another story.
    """
    body, old = before.body, before.body.identity
    gained = _tissue_mass(layers) - _tissue_mass(before.layers)
    mass = _body_mass(before) + gained
    weighed = dict(layers.metadata or {}) | {BODY_MASS: mass}
    skin = layers.skin.astype(np.asarray(old.rest_vertices).dtype)
    identity = Identity(skin, old.joints, old.parameters)
    values = measure(identity, body.template).values if body.measurements else {}
    measured = {name: float(value) for name, value in values.items()}
    if "mass" in measured:
        measured["mass"] = mass
    grown = replace(body, identity=identity, measurements=measured)
    return LayeredBody(grown, replace(layers, metadata=weighed))


def _written(run: Run, out: Path, layered: LayeredBody, before: Masses) -> AnatomyMade:
    after = masses(layered)
    write_layers(out, layered)
    report: dict[str, Any] = {"before": before, "after": after}
    finish_run(run, [out], report | {"layers": layered.layers.metadata or {}})
    return AnatomyMade(out, manifest_path(out), before, after)


def _require_output(out: Path) -> None:
    if out.suffix.lower() != ".npz":
        raise InputError(f"cannot write layers to {out}; expected a name that ends in .npz.")
    require_writable(out)


def _require_capacity(layers: Layers, asked: Mapping[str, float | None], name: str) -> None:
    """Refuse masses (kg) that were asked for and that the surface is far from holding."""
    report = layers.metadata or {}
    for tissue, mass in asked.items():
        least, most = (float(report[f"{tissue}_mass_{end}"]) for end in ("least", "most"))
        if mass is not None and not least - MOST_MISSED <= mass <= most + MOST_MISSED:
            raise InputError(
                f"{name}: {mass:g} kg of {tissue} were asked for; its surface can hold "
                f"{least:.1f} to {most:.1f} kg. Ask for a mass between them, or for another body."
            )


def require_growth(config: Growth) -> None:
    """Refuse what can be told before anything is read."""
    if not np.isfinite(config.mass) or config.mass == 0:
        raise InputError(
            f"the mass is {config.mass:g} kg; expected kilograms to gain, such as +15, or to lose, "
            f"such as -5."
        )
    if unknown := [name for name in config.regions if name not in REGIONS]:
        raise InputError(
            f"there is no region {', '.join(map(repr, unknown))}; there are {', '.join(REGIONS)}."
        )
    if config.visceral and config.tissue != "fat":
        raise InputError("--visceral is for fat; leave it out.")
