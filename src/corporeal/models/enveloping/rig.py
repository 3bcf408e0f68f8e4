"""The skeleton of enveloping: joints, and helper joints that take a share of a joint's twist.

Elevation and abduction of the shoulder move the skin near the joint; its twist about the upper arm
is spread along it. So shoulder and forearm have three influences each: without twist, with 50 %
and with 100 % of it (Allen 2006, section 2.2). A helper hangs at its joint's place under the
joint's parent, so that a rig with helpers is a plain skeleton.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.body.skeleton import Skeleton
from corporeal.body.twists import partly_twisted, twist_slopes
from corporeal.models.enveloping.bones import BoneLayout
from corporeal.skinning.kinematics import KinematicState, descendants, kinematic_state

TWISTING = ("shoulder", "elbow")
"""Joints whose twist is spread along the bone that follows."""
SHARES = (0.0, 0.5)
"""Shares of the twist that helpers take; the joint itself has all of it."""


@dataclass(frozen=True)
class EnvelopingRig:
    """J joints and H helpers: L = J + H influences."""

    layout: BoneLayout
    """Bone parameters and tree."""
    helper_joints: Int[NumpyArray, "H"]
    """Joint of every helper."""
    helper_shares: Float[NumpyArray, "H"]
    """Share of the twist that every helper takes."""

    @staticmethod
    def of(skeleton: Skeleton, *, free: bool = False) -> "EnvelopingRig":
        """With helpers at shoulders and elbows, where the skeleton has them; `free` bones may point
        anywhere."""
        joints = [
            joint
            for joint, name in enumerate(skeleton.names)
            if name.removeprefix("left_").removeprefix("right_") in TWISTING
        ]
        layout = BoneLayout(
            skeleton.names, skeleton.parents, np.asarray(skeleton.joints, np.float64), free
        )
        return EnvelopingRig(
            layout,
            np.repeat(np.array(joints, np.int64), len(SHARES)),
            np.tile(np.array(SHARES), len(joints)),
        )

    @property
    def joint_count(self) -> int:
        """Number J of joints without helpers."""
        return len(self.layout.parents)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all influences."""
        own = self.layout.names
        return own + tuple(
            f"{own[joint]}_twist_{round(100 * share)}"
            for joint, share in zip(self.helper_joints, self.helper_shares, strict=True)
        )

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Of all influences."""
        own = self.layout.parents
        return own + tuple(own[joint] for joint in self.helper_joints.tolist())

    @cached_property
    def axes(self) -> Float64[NumpyArray, "J 3"]:
        """Unit direction of the bone that follows each joint; 0 where none or several do."""
        joints, parents = np.asarray(self.layout.joints), self.layout.parents
        axes = np.zeros((len(parents), 3))
        for joint in range(len(parents)):
            below = [k for k, parent in enumerate(parents) if parent == joint]
            if len(below) == 1:
                bone = joints[below[0]] - joints[joint]
                axes[joint] = bone / max(float(np.linalg.norm(bone)), 1e-9)
        return axes

    @cached_property
    def descendants(self) -> Float64[NumpyArray, "J L"]:
        """1 where influence l hangs under joint m or is it; helpers of m itself are 0."""
        return np.ascontiguousarray(descendants(self.parents)[:, : self.joint_count].T)

    def rotations(
        self, local: Float[NumpyArray, "*batch J 3 3"]
    ) -> Float64[NumpyArray, "*batch L 3 3"]:
        """Parent-relative rotations of all influences."""
        helpers = [
            partly_twisted(local[..., joint, :, :], self.axes[joint], float(share))
            for joint, share in zip(self.helper_joints, self.helper_shares, strict=True)
        ]
        own = np.asarray(local, np.float64)
        return np.concatenate([own, np.stack(helpers, axis=-3)], axis=-3) if helpers else own

    def joints(self, joints: Float[NumpyArray, "*batch J 3"]) -> Float64[NumpyArray, "*batch L 3"]:
        """Places of all influences, metres."""
        own = np.asarray(joints, np.float64)
        return np.concatenate([own, own[..., self.helper_joints, :]], axis=-2)

    def state(self, pose: RotationPose, joints: Float[NumpyArray, "*#batch J 3"]) -> KinematicState:
        """M_{q,b,l} M_{q̄,b,l}⁻¹ of all influences: x ↦ Q_l x + τ_l."""
        posed = RotationPose(self.rotations(pose.rotations), pose.translation)
        return kinematic_state(posed, self.joints(joints), self.parents)

    def helper_turns(
        self, local: Float[NumpyArray, "J 3 3"], world: Float[NumpyArray, "L 3 3"]
    ) -> Float64[NumpyArray, "H 3 3"]:
        """I − (1 − φ) u nᵀ: what a helper turns by when its joint turns by δ; the world's axes."""
        turns = np.empty((len(self.helper_joints), 3, 3))
        for place, joint in enumerate(self.helper_joints.tolist()):
            axis, above = self.axes[joint], world[self.layout.parents[joint]]
            along = above @ local[joint] @ axis
            slope = above @ twist_slopes(local[joint], axis)
            turns[place] = np.eye(3) - (1 - self.helper_shares[place]) * np.outer(along, slope)
        return turns

    def translation_maps(
        self, world: Float64[NumpyArray, "n L 3 3"]
    ) -> Float64[NumpyArray, "n L 3 m"]:
        """∂τ_l by all joints, m = 3 J: Σ_m D_lm (Q_parent(m) − Q_m) j_m, and a helper's own Q."""
        count, parents = self.joint_count, self.layout.parents
        above = np.array([max(p, 0) for p in parents])
        before = np.where(np.array(parents)[:, None, None] < 0, np.eye(3), world[:, above])
        steps = before - world[:, :count]  # n J 3 3
        maps = np.einsum("ml,nmab->nlamb", self.descendants, steps)
        for place, joint in enumerate(self.helper_joints.tolist()):
            maps[:, count + place, :, joint] += before[:, joint] - world[:, count + place]
        return maps.reshape(*maps.shape[:3], 3 * count)
