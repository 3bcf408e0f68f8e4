"""Skinning with pose correctives: what SMPL's deformers share, whoever the person is."""

from weakref import WeakKeyDictionary

import numpy as np

from corporeal._typing import Array, Float, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.controls import GivenControls
from corporeal.body.correctives import PoseCorrectives, driving_joints
from corporeal.body.deformer import Traits, controls_for
from corporeal.body.identity import Identity
from corporeal.body.linear_model import Blending
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.models.smpl.posing import (
    PackedCorrectives,
    PosedSkin,
    pack_correctives,
    pose_features,
)
from corporeal.runtime.arrays import as_kind_of, as_one_kind, full_precision, is_numpy, namespace_of
from corporeal.skinning.dual_quaternion import DualQuaternionSkinning
from corporeal.skinning.geometric import GeometricSkinning, move_points
from corporeal.skinning.linear import LinearBlendSkinning

_KINDS: dict[Blending, type[GeometricSkinning]] = {
    "lbs": LinearBlendSkinning,
    "dqs": DualQuaternionSkinning,
}


class CorrectedSkinning(Traits):
    """A deformer: correctives are added to the rest skin, then the joints' motions are blended.

    Results have the pose's kind of array (NumPy, JAX, PyTorch). NumPy poses of one person go
    through compiled kernels, the others through the same equations in their own operations.
    """

    name = "smpl"
    title = "SMPL"
    summary = "linear blending of a rest skin with pose correctives"
    references = ("loper2015smpl",)

    def __init__(
        self, template: Template, correctives: PoseCorrectives | None, blending: Blending = "lbs"
    ) -> None:
        if correctives is not None:
            driving_joints(correctives, template.skeleton)
            if correctives.offsets.shape[1] != template.mesh.vertex_count:
                raise InputError(
                    f"correctives move {correctives.offsets.shape[1]} vertices and the template "
                    f"has {template.mesh.vertex_count}; expected as many."
                )
        self.template = template
        self.correctives = correctives
        self.skinning = _KINDS[blending](template)
        self._packed: dict[np.dtype, PackedCorrectives | None] = {}
        self._posed: WeakKeyDictionary[Identity, dict[np.dtype, PosedSkin]] = WeakKeyDictionary()

    def vertices(
        self, identity: Identity, pose: Pose, out: NumpyArray | None = None
    ) -> Float[Array, "*batch V 3"]:
        """Posed skin, metres; the batches of identity and pose broadcast together.

        `out`, for NumPy poses of one person alone, is a contiguous array of the result's shape and
        dtype to write to.
        """
        if self.correctives is None:
            return self.skinning.vertices(identity, pose, out)
        self.skinning.require_fit(identity, pose)
        arrays = (pose.joint_rotations, pose.root_translation, identity.rest_vertices)
        if is_numpy(namespace_of(*arrays)) and identity.rest_vertices.ndim == 2:
            return self._prepared(identity, pose.joint_rotations.dtype).vertices(pose, out)
        if out is not None:
            raise InputError("`out` is for NumPy poses of one person; leave it out.")
        world = self.skinning.world_from_rest(identity, pose)
        rest, offsets = as_one_kind(identity.rest_vertices, self.pose_offsets(pose))
        return move_points(self.skinning.blend(world), rest + offsets)

    def pose_offsets(self, pose: Pose) -> Float[Array, "*batch V 3"]:
        """B_P(θ) = Σ_b w_b(θ) d_b: rest-pose displacements that the pose causes, metres."""
        features = pose_features(pose.joint_rotations)
        xp = namespace_of(features)
        if self.correctives is None:
            shape = (*features.shape[:-1], self.template.mesh.vertex_count, 3)
            return as_kind_of(features, np.zeros(shape))
        drivers = driving_joints(self.correctives, self.template.skeleton)
        columns = (9 * (np.asarray(drivers)[:, None] - 1) + np.arange(9)).reshape(-1)
        with full_precision(xp):
            shares = as_kind_of(features, self.correctives.feature_weights)
            weights = xp.matmul(features[..., columns], xp.matrix_transpose(shares))
            return xp.tensordot(weights, as_kind_of(features, self.correctives.offsets), axes=1)

    def animate(
        self,
        identity: Identity,
        motion: Motion,
        controls: GivenControls = None,
    ) -> Animation:
        """Pose the identity by every frame of the motion; there are no controls."""
        controls_for(self.name, self.Controls, controls)
        return Animation(
            deformer=self.name,
            template=self.template,
            identity=identity,
            motion=motion,
            vertices=self.vertices(identity, motion.poses),
            world_from_joint=self.skinning.world_from_joint(identity, motion.poses),
            pose_offsets=self.pose_offsets(motion.poses),
            offset_skinning=self.skinning.name,
        )

    def _prepared(self, identity: Identity, dtype: Array) -> PosedSkin:
        key = np.dtype(dtype)
        by_dtype = self._posed.setdefault(identity, {})
        if key not in by_dtype:
            blocks = self.skinning.template_blocks(key)
            exact = blocks.weights.dtype
            if exact not in self._packed:
                self._packed[exact] = pack_correctives(self.correctives, self.skinning, blocks)
            packed = self._packed[exact]
            assert packed is not None
            by_dtype[key] = PosedSkin(self.skinning, identity, packed, blocks)
        return by_dtype[key]
