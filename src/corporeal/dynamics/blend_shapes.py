"""Dynamics as rest-pose blend shapes on a skinned body: what DMPL and neural flesh share."""

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property

import numpy as np

from corporeal._typing import Float, Float32, Float64, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.dynamics.deformer import LearnedDynamics, require_local_weights
from corporeal.dynamics.rest_offsets import carried_back
from corporeal.errors import InputError
from corporeal.models.smpl.corrected import CorrectedSkinning
from corporeal.models.smpl.shipped import SmplSkinning

_FRAMES = 32
"""Frames whose blended motions are held at a time."""


class BlendShapeDynamics(LearnedDynamics):
    """SMPL's skin with rest-pose displacements B_D = μ + 𝒟 δ (Loper 2015, eq. 17)."""

    def __init__(
        self,
        template: Template,
        vertex_count: int,
        local_weights: Float[NumpyArray, "V"] | None = None,
    ) -> None:
        """`vertex_count` is how many vertices the shapes move; `local_weights` scale dynamics at
        every vertex (1 leaves it as it is)."""
        self.static = static_skinning(template)
        self.template = self.static.template
        count = self.template.mesh.vertex_count
        if vertex_count != count:
            raise InputError(
                f"the dynamic blend shapes move {vertex_count} vertices and the body has "
                f"{count}; expected one topology. Train a model on takes of this body "
                f"(corporeal train {self.name})."
            )
        self.local_weights = require_local_weights(local_weights, count)

    @property
    @abstractmethod
    def shapes(self) -> Float[NumpyArray, "D V 3"]:
        """𝒟: rest-pose displacement of every coefficient of one, metres."""

    @property
    @abstractmethod
    def mean(self) -> Float[NumpyArray, "V 3"]:
        """μ_D: displacement where all coefficients are 0, metres."""

    def pose_extra(self, identity: Identity, poses: Pose) -> Float32[NumpyArray, "N V 3"] | None:
        """What poses alone do beyond SMPL's correctives, in the rest pose, metres; none here. Left
        out with the dynamics: what is static is SMPL itself."""
        del identity, poses
        return None

    @cached_property
    def _flat(self) -> tuple[Float32[NumpyArray, "D n"], Float32[NumpyArray, "n"]]:
        """Shapes and mean as rows, with painted factors in them; single precision."""
        factors = 1.0 if self.local_weights is None else self.local_weights[:, None]
        shapes = (self.shapes * factors).astype(np.float32)
        mean = (self.mean * factors).astype(np.float32)
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

    def frames(self, identity: Identity, poses: Pose) -> Float[NumpyArray, "N J 4 4"]:
        """World frames of all joints."""
        return np.asarray(self.static.skinning.world_from_joint(identity, poses))

    def carried_back(
        self, identity: Identity, poses: Pose, moved: Float[NumpyArray, "N V 3"]
    ) -> Float[NumpyArray, "N V 3"]:
        """Displacements of the posed skin as offsets in the rest pose, metres."""
        found = np.empty(moved.shape, np.float32)
        for first in range(0, len(moved), _FRAMES):
            part = slice(first, first + _FRAMES)
            some = Pose(poses.joint_rotations[part], poses.root_translation[part])
            motions = self.static.skinning.vertex_motions(identity, some)
            found[part] = carried_back(motions, moved[part])
        return found

    def shown(
        self, identity: Identity, poses: Pose, deltas: Float64[NumpyArray, "N D"] | None
    ) -> Float[NumpyArray, "N V 3"]:
        """Posed skin of N poses, metres."""
        posed = np.asarray(self.static.vertices(identity, poses))
        if deltas is None:
            return posed
        extra, offsets = self.pose_extra(identity, poses), self.offsets(deltas)
        return self._carried(identity, poses, posed, offsets if extra is None else extra + offsets)

    def taken(
        self, identity: Identity, motion: Motion, deltas: Float64[NumpyArray, "N D"] | None
    ) -> Animation:
        """A motion with these coefficients; static where they are None."""
        plain = replace(self.static.animate(identity, motion), deformer=self.name)
        if deltas is None:
            return plain
        posed = np.asarray(plain.vertices).copy()
        extra = self.pose_extra(identity, motion.poses)
        if extra is not None:
            corrected = np.asarray(plain.pose_offsets) + extra
            self._carried(identity, motion.poses, posed, extra)
            plain = replace(plain, vertices=posed, pose_offsets=corrected.astype(posed.dtype))
        offsets = self.offsets(deltas)
        self._carried(identity, motion.poses, posed, offsets)
        return replace(plain, vertices=posed, dynamic_offsets=offsets.astype(posed.dtype))

    def _carried(
        self,
        identity: Identity,
        poses: Pose,
        posed: Float[NumpyArray, "N V 3"],
        offsets: Float32[NumpyArray, "N V 3"],
    ) -> Float[NumpyArray, "N V 3"]:
        """The posed skin with rest-pose offsets carried along, in place: x + Σ_k w_k Q_k d."""
        from corporeal.dynamics.carried_cpu import add_carried
        from corporeal.skinning.kinematics_cpu import pose_joints

        skeleton, (joints, shares) = self.template.skeleton, self._influences
        rest, parents = np.asarray(identity.joints, np.float64), np.array(skeleton.parents)
        turns = np.ascontiguousarray(poses.joint_rotations, np.float64)
        roots = np.ascontiguousarray(poses.root_translation, np.float64)
        local, moves = np.empty((3, 3)), np.empty((len(rest) + 1, 3, 4))
        for frame in range(len(posed)):
            pose_joints(turns[frame], roots[frame], rest, parents, local, moves)
            add_carried(posed[frame], moves, joints, shares, offsets[frame])
        return posed


def carried_offsets(
    static: CorrectedSkinning,
    identity: Identity,
    poses: Pose,
    offsets: Float32[NumpyArray, "N V 3"],
) -> Float32[NumpyArray, "N V 3"]:
    """Σ_k w_k Q_k d of every vertex: rest-pose offsets as the posed skin shows them, metres."""
    from corporeal.dynamics.carried_cpu import add_carried

    world = np.asarray(static.skinning.world_from_joint(identity, poses), np.float64)
    rotations = np.ascontiguousarray(world[..., :3, :3])
    weights = static.template.weights
    joints = np.ascontiguousarray(weights.joint_indices, np.int32)
    shares = np.ascontiguousarray(weights.values, np.float32)
    moved = np.zeros(offsets.shape, np.float32)
    for frame in range(len(offsets)):
        add_carried(moved[frame], rotations[frame], joints, shares, offsets[frame])
    return moved


def static_skinning(template: Template) -> CorrectedSkinning:
    """What dynamics are added to: SMPL on the default body's surface, linear blending else."""
    own = load_default_body().template.mesh.triangles
    if np.array_equal(template.mesh.triangles, own):
        return SmplSkinning(template)
    return CorrectedSkinning(template, None)
