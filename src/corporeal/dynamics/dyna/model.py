"""Deformer `dyna`: BlendSCAPE with dynamic triangle deformations that the movement drives."""

from functools import cached_property

import numpy as np

from corporeal._typing import Float, Float32, Float64, NumpyArray
from corporeal.assets.learned_blendscape import learned_blendscape
from corporeal.assets.learned_dynamics import learned_dyna
from corporeal.body.animation import Animation
from corporeal.body.dynamics import Predictors, TriangleDynamics
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.dynamics.deformer import AutoregressiveDynamics, require_local_weights
from corporeal.models.blendscape.model import BlendScape

_FRAMES = 32
"""Frames whose deformations are held at a time."""


class DynaSkinning(AutoregressiveDynamics):
    """BlendSCAPE whose shapes swing: T = S + D(δ), eq. 18, the two stitched one by one."""

    name = "dyna"
    title = "Dyna"
    summary = "BlendSCAPE with dynamic deformations that velocities and accelerations drive"
    references = ("ponsmoll2015dyna", "hirshberg2012coregistration")

    def __init__(
        self,
        template: Template,
        trained: TriangleDynamics | None = None,
        local_weights: Float[NumpyArray, "V"] | None = None,
        anchored: bool = True,
    ) -> None:
        """`trained` is the model, the one that ships if None; `local_weights` scale dynamics at
        every vertex (1 leaves it as it is); `anchored` holds limbs and their flesh in place, else
        the root alone is pinned, as in the paper."""
        if trained is None:
            dynamic = learned_dyna()
            trained = TriangleDynamics(learned_blendscape(), dynamic)
        self.model = trained
        self.static = BlendScape(template, trained.body, anchored)
        self._anchored = anchored
        self.template = self.static.template
        self.local_weights = require_local_weights(local_weights, template.mesh.vertex_count)

    @property
    def predictors(self) -> Predictors:
        """From motion to coefficients."""
        return self.model.dynamic.predictors

    @cached_property
    def _flat(self) -> tuple[Float32[NumpyArray, "D n"], Float32[NumpyArray, "n"]]:
        """Components and mean as rows; single precision."""
        dynamic = self.model.dynamic
        rows = np.asarray(dynamic.deformations, np.float32)
        return rows.reshape(len(rows), -1), np.asarray(dynamic.mean, np.float32).ravel()

    @cached_property
    def _arms(self) -> Float64[NumpyArray, "n A J 3"]:
        """What the mean and every component move of anchors in the rest pose."""
        rows, mean = self._flat
        parts = [self.static.arms(self.static.rest_offsets(part.reshape(1, -1, 3, 3)))
                 for part in (mean, *rows)]  # fmt: skip
        return np.concatenate(parts)

    def deformations(self, deltas: Float64[NumpyArray, "N D"]) -> Float32[NumpyArray, "N F 3 3"]:
        """D_t = μ_D + Σ_d δ_d u_D,d (eq. 14)."""
        rows, mean = self._flat
        return (deltas.astype(np.float32) @ rows + mean).reshape(len(deltas), -1, 3, 3)

    def require_fit(self, identity: Identity, pose: Pose) -> None:
        """Raise `InputError` unless identity and pose are of the template."""
        self.static.require_fit(identity, pose)

    def frames(self, identity: Identity, poses: Pose) -> Float[NumpyArray, "N J 4 4"]:
        """World frames of all joints."""
        return np.asarray(self.static.world_from_joint(identity, poses))

    def shown(
        self, identity: Identity, poses: Pose, deltas: Float64[NumpyArray, "N D"] | None
    ) -> Float[NumpyArray, "N V 3"]:
        """Posed skin of N poses, metres."""
        if deltas is None:
            return self.static.vertices(identity, poses)
        parts = []
        for first in range(0, len(deltas), _FRAMES):
            part = slice(first, first + _FRAMES)
            some = Pose(poses.joint_rotations[part], poses.root_translation[part])
            arms = None
            if self._anchored:
                arms = np.tensordot(deltas[part], self._arms[1:], axes=1) + self._arms[0]
            shape = self.deformations(deltas[part])
            skin = self.static.vertices(identity, some, shape, arms)
            if self.local_weights is not None:
                # stitching carries a deformation everywhere: painted is what the skin does of it
                still = self.static.vertices(identity, some)
                factors = self.local_weights[:, None]
                skin = (still + factors * (skin - still)).astype(still.dtype)
            parts.append(skin)
        return np.concatenate(parts)

    def taken(
        self, identity: Identity, motion: Motion, deltas: Float64[NumpyArray, "N D"] | None
    ) -> Animation:
        """A motion with these coefficients; static where they are None."""
        frames = self.frames(identity, motion.poses)
        return Animation(
            deformer=self.name,
            template=self.template,
            identity=identity,
            motion=motion,
            vertices=self.shown(identity, motion.poses, deltas),
            world_from_joint=frames,
        )
