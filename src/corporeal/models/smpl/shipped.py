"""Deformers `smpl` and `smpl-sparse`: any body of the default surface, moved as people were seen
to move.

The person keeps its own shape and joints; skin weights and pose correctives are the learned ones.
"""

from dataclasses import replace

import numpy as np

from corporeal.assets.default_body import load_default_body
from corporeal.assets.learned_smpl import LearnedName, LearnedSmpl, learned_smpl
from corporeal.body.correctives import PoseCorrectives
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.models.smpl.corrected import CorrectedSkinning
from corporeal.models.smpl.embedding import (
    embedded_correctives,
    embedded_model,
    embedded_weights,
    is_embeddable,
)
from corporeal.models.smpl.reduction import exact_correctives


class SmplSkinning(CorrectedSkinning):
    """Linear blend skinning with learned weights and 64 pose correctives."""

    name = "smpl"
    summary = "linear blending with learned weights and pose correctives"
    accepts_custom_mesh = False
    accepts_trained = True
    _asset: LearnedName = "smpl"

    def __init__(self, template: Template, trained: LinearBodyModel | None = None) -> None:
        """`trained` is a model of the default body's surface, the one that ships if None."""
        if trained is None:
            super().__init__(*_rigged(self.name, template, learned_smpl(self._asset)))
        else:
            super().__init__(*_rigged_by(trained, template), trained.blending)


class SparseSmplSkinning(SmplSkinning):
    """The same with correctives that only a vertex's own joints cause."""

    name = "smpl-sparse"
    title = "SMPL, sparse"
    summary = "the same with correctives that only a vertex's own joints cause"
    accepts_trained = False
    _asset: LearnedName = "smpl-sparse"


def _rigged(
    name: str, template: Template, learned: LearnedSmpl
) -> tuple[Template, PoseCorrectives]:
    """The template with learned weights, and correctives for its joints."""
    if not np.array_equal(template.mesh.triangles, learned.view.mesh.triangles):
        raise InputError(
            f"deformer {name!r} has learned to move the default body's surface; a mesh of "
            f"{template.mesh.vertex_count} vertices came. Train a model on registrations of it "
            f"(corporeal train smpl), or use --deformer lbs."
        )
    names = template.skeleton.names
    if names == learned.view.skeleton.names:
        return replace(template, weights=learned.weights), learned.correctives
    # fingers share as on the default body, whatever weights the template came with
    weights = embedded_weights(learned.weights, load_default_body().template)
    exact = np.asarray(weights.values, np.float32)
    weights = replace(weights, values=exact / exact.sum(axis=1, keepdims=True))
    return replace(template, weights=weights), embedded_correctives(learned.correctives)


def _rigged_by(
    model: LinearBodyModel, template: Template
) -> tuple[Template, PoseCorrectives | None]:
    """The template with a trained model's weights and pose blend shapes."""
    if not np.array_equal(template.mesh.triangles, model.triangles):
        raise InputError(
            f"the model was trained on a surface of {model.vertex_count} vertices and "
            f"{len(model.triangles)} triangles; the body has {template.mesh.vertex_count} and "
            f"{len(template.mesh.triangles)}. Move the model's own people: "
            f"corporeal animate --model my_smpl.npz."
        )
    names = template.skeleton.names
    if names != model.joint_names and is_embeddable(model):
        model = embedded_model(model)
    if names != model.joint_names:
        raise InputError(
            f"the model has {len(model.joint_names)} joints and the body {len(names)} others; "
            f"expected SMPL's 24 or the body's own. Move the model's own people: "
            f"corporeal animate --model my_smpl.npz."
        )
    return replace(template, weights=model.weights), exact_correctives(model)
