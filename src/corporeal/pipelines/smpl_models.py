"""Trained body models, by their file or by the name they ship under, and people of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.assets.default_body import grounded, load_default_body
from corporeal.assets.learned_enveloping import learned_enveloping
from corporeal.assets.learned_smpl import LearnedName, learned_smpl
from corporeal.body.body import Body
from corporeal.body.deformer import Deformer
from corporeal.body.enveloping import EnvelopingModel
from corporeal.body.identity import Identity
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.shape_correctives import ShapeCorrectives
from corporeal.errors import InputError
from corporeal.formats.enveloping import is_enveloping, read_enveloping
from corporeal.formats.smpl import read_shape_correctives, read_smpl, write_smpl
from corporeal.models.enveloping.model import EnvelopingSkinning
from corporeal.models.smpl.embedding import (
    SMPLH_JOINTS,
    embedded_model,
    embedded_shape_correctives,
    is_embeddable,
)
from corporeal.models.smpl.model import SmplModel
from corporeal.models.smpl.shape_dependent import ShapeDependentSmpl

ENVELOPING = "enveloping"
"""Name that the corrective enveloping ships under."""
_MOST = 10.0
"""Largest shape coefficient, in standard deviations."""


@dataclass(frozen=True)
class ModelPerson:
    """A person of a model, standing on the ground, and what moves it."""

    model: Deformer
    """The model that moves the person."""
    body: Body
    """The person at rest."""


def is_shipped(which: Path) -> bool:
    """Whether a model is named by what it ships under rather than by its file."""
    return which.name in (*get_args(LearnedName), ENVELOPING)


def model_file(which: Path | None) -> Path | None:
    """The file that a model comes from; None for one that ships with the package."""
    if which is None or is_shipped(which):
        return None
    if which.suffix.lower() not in (".npz", ".pkl"):
        raise InputError(
            f"there is no model {which}; expected a .npz or .pkl file with SMPL's keys, or "
            f"{', '.join(get_args(LearnedName))} or {ENVELOPING}, which ship with the package."
        )
    return which


def load_model(which: Path) -> LinearBodyModel:
    """A model from a `.npz` or `.pkl` file with SMPL's keys, or the one that ships."""
    file = model_file(which)
    if file is not None:
        return read_smpl(file)
    if which.name == ENVELOPING:
        raise InputError(
            "the model 'enveloping' has no SMPL keys; expected smpl, smpl-sparse or a file."
        )
    name: LearnedName = "smpl" if which.name == "smpl" else "smpl-sparse"
    return learned_smpl(name).model()


def read_shape(text: str, count: int) -> Float64[NumpyArray, "n"]:
    """Shape coefficients from numbers with commas, such as `2.0,-1.0`."""
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    try:
        values = np.array([float(word) for word in words])
    except ValueError:
        values = np.array([np.nan])
    if not np.isfinite(values).all():
        raise InputError(f"--shape {text!r}; expected numbers with commas, such as 2.0,-1.0.")
    return require_shape(values, count)


def require_shape(values: Float64[NumpyArray, "n"], count: int) -> Float64[NumpyArray, "n"]:
    """Shape coefficients of a model that has `count`, in standard deviations; refuses others."""
    if not np.isfinite(values).all():
        raise InputError(f"shape is {values.tolist()}; expected finite numbers.")
    if len(values) > count:
        raise InputError(
            f"--shape has {len(values)} numbers; the model has {count} shape coefficients."
        )
    if np.abs(values).max(initial=0) > _MOST:
        raise InputError(
            f"--shape has the coefficient {values[np.abs(values).argmax()]:g}; expected at most "
            f"{_MOST:g} either way: one is a standard deviation."
        )
    return values


def model_person(which: Path, shape: str = "") -> ModelPerson:
    """The person of a model with these shape coefficients; those not given are 0.

    A model of 24 joints on the default body's surface is given SMPL-H's fingers, so that every
    motion fits.
    """
    if (envelope := enveloping_of(which)) is not None:
        return enveloped_person(envelope, read_shape(shape, envelope.latent_count))
    data = load_model(which)
    file = model_file(which)
    dependent = None if file is None else read_shape_correctives(file)
    if dependent is None:
        return person_of(data, read_shape(shape, data.shape_count))
    return dependent_person(data, dependent, read_shape(shape, data.shape_count))


def dependent_person(
    data: LinearBodyModel, dependent: ShapeCorrectives, betas: Float64[NumpyArray, "n"]
) -> ModelPerson:
    """The person of a model with shape-dependent pose blend shapes, on the ground; with fingers
    where they can be given."""
    if is_embeddable(data):
        data, dependent = embedded_model(data), embedded_shape_correctives(dependent)
    known = load_default_body().template if _is_default_surface(data) else None
    model = ShapeDependentSmpl(data, dependent, known)
    made = model.prepare(betas if len(betas) else np.zeros(1))
    rest, joints = grounded(
        np.asarray(made.rest_vertices, np.float32), np.asarray(made.joints, np.float32)
    )
    identity = Identity(rest, joints, made.parameters)
    measured = _measured(smpl_model(data), identity)
    return ModelPerson(model, Body(model.template, identity, measured))


def enveloping_of(which: Path) -> EnvelopingModel | None:
    """The corrective enveloping that a file holds or that ships; None for other models."""
    if which.name == ENVELOPING:
        return learned_enveloping()
    file = model_file(which)
    return read_enveloping(file) if file is not None and is_enveloping(file) else None


def enveloped_person(model: EnvelopingModel, x: Float64[NumpyArray, "n"]) -> ModelPerson:
    """The person of an enveloping with these latent coordinates, on the ground; with fingers."""
    template = load_default_body().template
    deformer = EnvelopingSkinning(template, model)
    made = deformer.prepare(x)
    rest, joints = grounded(
        np.asarray(made.rest_vertices, np.float32), np.asarray(made.joints, np.float32)
    )
    identity = Identity(rest, joints, made.parameters)
    from corporeal.anthropometry.measure import measure

    values = {k: float(v) for k, v in measure(identity, template).values.items()}
    return ModelPerson(deformer, Body(template, identity, values))


def smpl_model(data: LinearBodyModel) -> SmplModel:
    """A model to call and to move people with; quads and parts where its surface is a known one."""
    return SmplModel(data, load_default_body().template if _is_default_surface(data) else None)


def person_of(data: LinearBodyModel, betas: Float64[NumpyArray, "n"]) -> ModelPerson:
    """The person of a model with these shape coefficients, on the ground; fingers as above."""
    model = smpl_model(embedded_model(data) if is_embeddable(data) else data)
    made = model.prepare(betas if len(betas) else None)
    rest, joints = grounded(
        np.asarray(made.rest_vertices, np.float32), np.asarray(made.joints, np.float32)
    )
    identity = Identity(rest, joints, made.parameters)
    return ModelPerson(model, Body(model.template, identity, _measured(model, identity)))


def convert_model(which: Path, out: Path, joints: int | None = None) -> dict[str, Any]:
    """Write a model with SMPL's keys; gives back what there is to tell.

    `.pkl` is what `smplx.SMPL` loads: 24 joints. `.npz` is SMPL-H's layout, 52 joints with hands,
    where fingers can be given. `joints` overrules that.
    """
    data = load_model(which)
    if out.suffix.lower() not in (".npz", ".pkl"):
        raise InputError(f"cannot write a model as {out}; expected .npz or .pkl.")
    wanted = joints
    if wanted is None:
        with_hands = out.suffix.lower() == ".npz" and is_embeddable(data)
        wanted = SMPLH_JOINTS if with_hands else data.joint_count
    if wanted == SMPLH_JOINTS:
        data = embedded_model(data)
    if data.joint_count != wanted:
        raise InputError(
            f"{which} has {data.joint_count} joints and {wanted} were asked for; fingers can be "
            f"added, not taken away. Leave --joints out."
        )
    write_smpl(out, data)
    report: dict[str, Any] = {
        "vertices": data.vertex_count,
        "joints": data.joint_count,
        "shapes": data.shape_count,
    }
    if data.blending != "lbs":
        report["note"] = f"blends by {data.blending}; other programs will blend linearly"
    return report


def _measured(model: SmplModel, identity: Identity) -> dict[str, float]:
    from corporeal.anthropometry.measure import measure, whole_body

    if model.data.joint_count == SMPLH_JOINTS and _is_default_surface(model.data):
        return {k: float(v) for k, v in measure(identity, model.template).values.items()}
    return whole_body(np.asarray(identity.rest_vertices, np.float64), model.template)


def _is_default_surface(data: LinearBodyModel) -> bool:
    return np.array_equal(data.triangles, load_default_body().template.mesh.triangles)
