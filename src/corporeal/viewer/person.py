"""Who is on the stage: from sliders to a body, and what is to be said about it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from corporeal.appearance.appearance import Appearance
from corporeal.appearance.faces import random_face
from corporeal.assets.default_body import grounded
from corporeal.assets.learned_smpl import learned_smpl
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.viewer.document import BodyChoice, MotionChoice
from corporeal.viewer.playhead import FPS, rooted
from corporeal.viewer.posing import POSES, Key, posed

SHOWN = (
    "stature", "mass", "bmi", "waist_circumference", "chest_circumference",
    "buttock_circumference", "thigh_circumference",
)  # fmt: skip
"""Measurements that the page reads out."""


def shaped(
    model: PhenotypeModel, choice: BodyChoice, scanned: Mapping[str, Identity] | None = None
) -> Identity:
    """The body that was chosen; `scanned` are registered people by the names of their files."""
    if choice.scan:
        if choice.scan not in (scanned or {}):
            raise InputError(f"there is no person {choice.scan!r:.60}; open the file first.")
        return dict(scanned or {})[choice.scan]
    sliders = {row.name: row.default for row in model.parameters} | dict(choice.sliders)
    identity = model.prepare(sliders, dict(choice.local))
    return _learned(model, identity, choice.learned) if choice.learned else identity


def _learned(model: PhenotypeModel, identity: Identity, learned: Mapping[str, float]) -> Identity:
    """The body with learned coefficients of shape added: x + Σ_k β_k B_k, joints likewise."""
    offsets = learned_smpl("smpl").shape_offsets
    unknown = [name for name in learned if name not in map(str, range(1, len(offsets) + 1))]
    if unknown:
        raise InputError(
            f"there is no learned coefficient {unknown[0]!r}; there are 1 to {len(offsets)}."
        )
    numbers = np.array([learned.get(str(k + 1), 0.0) for k in range(len(offsets))], np.float32)
    change = np.tensordot(numbers, offsets, axes=1)
    joints = np.asarray(identity.joints) + model.body.joint_regressor @ change
    rest, joints = grounded(np.asarray(identity.rest_vertices) + change, joints)
    return Identity(rest, joints, identity.parameters)


def facts(model: PhenotypeModel, identity: Identity) -> dict[str, float]:
    """Measurements in SI units, and predicted masses of fat and muscle where they are known."""
    from corporeal.anatomy.composition.predict import predict_composition
    from corporeal.anthropometry.measure import measure

    found = {name: float(value) for name, value in measure(identity).values.items()}
    report = {name: found[name] for name in SHOWN if name in found}
    gender = float(np.asarray(identity.parameters["gender"]))
    age = float(np.asarray(identity.parameters["age"]))
    try:
        sex = "male" if gender >= 0.5 else "female"
        estimate = predict_composition(identity, age, sex, model.template).composition
    except InputError:  # outside the people whose composition is known
        return report
    return report | {"fat_mass": estimate.fat_mass, "muscle_mass": estimate.muscle_mass}


def weighed(found: Mapping[str, float], masses: Mapping[str, float]) -> dict[str, float]:
    """Measurements with the masses (kg) of fitted layers instead of predicted ones: two read-outs
    of one person must not disagree."""
    names = {"body": "mass", "fat": "fat_mass", "muscle": "muscle_mass"}
    known = {names[part]: value for part, value in masses.items() if part in names}
    both = dict(found) | known
    if "mass" in known and "stature" in both:
        both["bmi"] = both["mass"] / both["stature"] ** 2
    return both


def solved(model: PhenotypeModel, targets: Mapping[str, float], choice: BodyChoice) -> BodyChoice:
    """The body with these measurements (SI), of the same gender and age."""
    from corporeal.anthropometry.solve import solve_measurements

    defaults = {row.name: row.default for row in model.parameters}
    now = defaults | dict(choice.sliders)
    found = solve_measurements(targets, now["gender"], now["age"], model)
    return BodyChoice(_floats(found.phenotype), _floats(found.local), dict(targets))


def drawn(model: PhenotypeModel, seed: int) -> BodyChoice:
    """Somebody of the adult population."""
    from corporeal.population.realise import realise
    from corporeal.population.sampling import sample_people

    found = realise(model, sample_people(0, 1, seed)).identity(0).parameters
    macro = {row.name for row in model.parameters}
    numbers = _floats(found)
    return BodyChoice(
        {name: value for name, value in numbers.items() if name in macro},
        {name: value for name, value in numbers.items() if name not in macro and value != 0.0},
    )


def shown_face(appearance: Appearance) -> dict[str, float]:
    """Where the face's sliders stand: as a random seed drew them, and as moved by hand."""
    drawn_face = random_face(appearance.face_seed, appearance.face_variety)
    both = drawn_face | dict(appearance.face)
    return {name: round(value, 4) for name, value in both.items()}


def mirrored(choice: BodyChoice) -> BodyChoice:
    """Left and right changed places."""
    other = {"l": "r", "r": "l"}
    local = {
        f"{other[name[0]]}{name[1:]}" if name[:2] in ("l-", "r-") else name: value
        for name, value in choice.local.items()
    }
    return replace(choice, local=local)


def authored(
    model: PhenotypeModel, identity: Identity, choice: MotionChoice, keys: Sequence[Key] = ()
) -> Motion:
    """An authored motion for this body, or the one through the person's own poses."""
    from corporeal.motions.library import make_motion

    if choice.name == POSES:
        return rooted(posed(keys, identity, model.template, FPS), choice.root)
    motion = make_motion(
        choice.name,
        identity,
        model.template,
        seed=choice.seed,
        fps=FPS,
        duration=choice.duration,
    )
    return rooted(motion, choice.root)


def _floats(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(np.asarray(value)) for name, value in values.items()}
