"""Deformers `smpl` and `smpl-sparse`: any body of the default surface, moved as people were seen
to move.

The person keeps its own shape and joints; skin weights and pose correctives are the learned ones.
"""

from dataclasses import replace

import numpy as np

from corporeal.assets.default_body import load_default_body
from corporeal.assets.learned_smpl import LearnedName, LearnedSmpl, learned_smpl
from corporeal.body.correctives import PoseCorrectives
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.models.smpl.corrected import CorrectedSkinning
from corporeal.models.smpl.embedding import embedded_correctives, embedded_weights


class SmplSkinning(CorrectedSkinning):
    """Linear blend skinning with learned weights and 64 pose correctives."""

    name = "smpl"
    summary = "linear blending with learned weights and pose correctives"
    accepts_custom_mesh = False
    _asset: LearnedName = "smpl"

    def __init__(self, template: Template) -> None:
        super().__init__(*_rigged(self.name, template, learned_smpl(self._asset)))


class SparseSmplSkinning(SmplSkinning):
    """The same with correctives that only a vertex's own joints cause."""

    name = "smpl-sparse"
    title = "SMPL, sparse"
    summary = "the same with correctives that only a vertex's own joints cause"
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
