"""Deformer `dmpl`: SMPL with dynamic blend shapes that the movement drives (Loper 2015, 6)."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from corporeal._typing import Float, Float32, Float64, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.assets.learned_dynamics import learned_dmpl
from corporeal.body.animation import Animation
from corporeal.body.dynamics import DynamicBlendShapes, Predictors
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.dynamics.deformer import LearnedDynamics, require_local_weights
from corporeal.errors import InputError
from corporeal.models.smpl.corrected import CorrectedSkinning
from corporeal.models.smpl.shipped import SmplSkinning


class DmplSkinning(LearnedDynamics):
    """SMPL's skin with rest-pose displacements by velocities, accelerations and their own past."""

    name = "dmpl"
    title = "DMPL"
    summary = "SMPL with dynamic blend shapes that velocities and accelerations drive"
    references = ("loper2015smpl", "ponsmoll2015dyna")

    def __init__(
        self,
        template: Template,
        trained: DynamicBlendShapes | None = None,
        local_weights: Float[NumpyArray, "V"] | None = None,
    ) -> None:
        """`trained` is the model, the one that ships if None; `local_weights` scale dynamics at
        every vertex (1 leaves it as it is)."""
        model = learned_dmpl() if trained is None else trained
        if model.predictors is None:
            raise InputError(
                "the DMPL file holds shapes and nothing that predicts them (files of others do); "
                "expected one of `corporeal train dmpl`."
            )
        self.static = static_skinning(template)
        self.template = self.static.template
        self.model = model
        count = self.template.mesh.vertex_count
        if model.vertex_count != count:
            raise InputError(
                f"the dynamic blend shapes move {model.vertex_count} vertices and the body has "
                f"{count}; expected one topology. Train a model on takes of this body "
                f"(corporeal train dmpl)."
            )
        self.local_weights = require_local_weights(local_weights, count)

    @property
    def predictors(self) -> Predictors:
        """From motion to coefficients."""
        assert self.model.predictors is not None
        return self.model.predictors

    @cached_property
    def _flat(self) -> tuple[Float32[NumpyArray, "D n"], Float32[NumpyArray, "n"]]:
        """Shapes and mean as rows, with painted factors in them; single precision."""
        factors = 1.0 if self.local_weights is None else self.local_weights[:, None]
        shapes = (self.model.shapes * factors).astype(np.float32)
        mean = (self.model.mean * factors).astype(np.float32)
        return np.ascontiguousarray(shapes.reshape(len(shapes), -1)), mean.ravel()

    @cached_property
    def _influences(self) -> tuple[NumpyArray, NumpyArray]:
        """Joints and weights of every vertex, laid out for the kernel."""
        weights = self.template.weights
        joints = np.ascontiguousarray(weights.joint_indices, np.int32)
        return joints, np.ascontiguousarray(weights.values, np.float32)

    def offsets(self, deltas: Float64[NumpyArray, "N D"]) -> Float32[NumpyArray, "N V 3"]:
        """B_D = μ_D + 𝒟 δ in the rest pose, metres (eq. 17)."""
        shapes, mean = self._flat
        rows = deltas.astype(np.float32) @ shapes + mean
        return rows.reshape(len(deltas), -1, 3)

    def require_fit(self, identity: Identity, pose: Pose) -> None:
        """Raise `InputError` unless identity and pose are of the template."""
        self.static.skinning.require_fit(identity, pose)

    def shown(
        self, identity: Identity, poses: Pose, deltas: Float64[NumpyArray, "N D"] | None
    ) -> Float[NumpyArray, "N V 3"]:
        """Posed skin of N poses, metres."""
        posed = np.asarray(self.static.vertices(identity, poses))
        return posed if deltas is None else self._carried(identity, poses, posed, deltas)[0]

    def taken(
        self, identity: Identity, motion: Motion, deltas: Float64[NumpyArray, "N D"] | None
    ) -> Animation:
        """A motion with these coefficients; static where they are None."""
        plain = replace(self.static.animate(identity, motion), deformer=self.name)
        if deltas is None:
            return plain
        posed = np.asarray(plain.vertices).copy()
        vertices, offsets = self._carried(identity, motion.poses, posed, deltas)
        return replace(plain, vertices=vertices, dynamic_offsets=offsets.astype(posed.dtype))

    def _carried(
        self, identity: Identity, poses: Pose, posed: NumpyArray, deltas: NumpyArray
    ) -> tuple[NumpyArray, NumpyArray]:
        """The posed skin with rest-pose offsets carried along: x + Σ_k w_k Q_k d."""
        from corporeal.dynamics.dmpl.posing_cpu import add_carried

        world = np.asarray(self.static.skinning.world_from_joint(identity, poses), np.float64)
        rotations = np.ascontiguousarray(world[..., :3, :3])
        joints, shares = self._influences
        offsets = self.offsets(deltas)
        for frame in range(len(posed)):
            add_carried(posed[frame], rotations[frame], joints, shares, offsets[frame])
        return posed, offsets


def static_skinning(template: Template) -> CorrectedSkinning:
    """What dynamics are added to: SMPL on the default body's surface, linear blending else."""
    own = load_default_body().template.mesh.triangles
    if np.array_equal(template.mesh.triangles, own):
        return SmplSkinning(template)
    return CorrectedSkinning(template, None)
