"""Offsets in the rest pose: what a deformer does beyond plain skinning, carried back by unposing.

For every frame t and vertex v, with the blended motion (M, m) of the named skinning and the rest
vertex r:  x_tv = M_tv (r_v + d_tv) + m_tv,  d = pose + dynamic.  The offsets are in the rest pose,
relative to the root: the root's rotation and translation are part of (M, m).
"""

from typing import Literal

import numpy as np

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass
from corporeal.skinning.dual_quaternion import DualQuaternionSkinning
from corporeal.skinning.geometric import GeometricSkinning, move_points
from corporeal.skinning.linear import LinearBlendSkinning
from corporeal.skinning.unposing import unpose

SkinningName = Literal["lbs", "dqs"]
SKINNINGS: dict[str, type[GeometricSkinning]] = {
    made.name: made for made in (LinearBlendSkinning, DualQuaternionSkinning)
}
"""What offsets may be relative to."""

CONDITION_LIMIT = 1e6
"""Condition of a vertex's blended matrix above which it counts as singular: linear blending of a
joint twisted by half a turn. A posed point then does not determine its offset."""

_FRAMES_AT_ONCE = 16


@pytree_dataclass(static=("skinning",))
class RestOffsets:
    """Offsets of every frame, by cause. Skinning the rest shape with their sum gives the animation
    back, wherever it is not singular."""

    skinning: str
    """What they are relative to: `lbs` or `dqs`, with the animation's own template weights."""
    pose: Float64[NumpyArray, "N V 3"]
    """What the pose alone causes (correctives, static balance), metres."""
    dynamic: Float64[NumpyArray, "N V 3"]
    """What the movement causes (soft tissue), metres."""
    singular: Bool[NumpyArray, "N V"]
    """Vertices whose skinning cannot be undone; their offsets are 0."""

    @property
    def total(self) -> Float64[NumpyArray, "N V 3"]:
        """Of both causes, metres."""
        return self.pose + self.dynamic

    @property
    def singular_count(self) -> int:
        """Vertices of all frames that are singular."""
        return int(np.count_nonzero(self.singular))


def rest_offsets(
    animation: Animation,
    skinning: SkinningName = "lbs",
    condition_limit: float = CONDITION_LIMIT,
) -> tuple[Float64[NumpyArray, "N V 3"], Bool[NumpyArray, "N V"]]:
    """Offsets of all causes together (metres, float64), and which vertices are singular."""
    deformer, identity = _double(animation, skinning)
    found = unpose(
        deformer,
        identity,
        _poses(animation),
        np.asarray(animation.vertices, np.float64),
        condition_limit,
    )
    singular = np.asarray(found.condition) >= condition_limit
    offsets = np.asarray(found.rest_vertices) - identity.rest_vertices
    return np.where(singular[..., None], 0.0, offsets), singular


def skinned_offsets(
    animation: Animation, offsets: Float64[NumpyArray, "N V 3"], skinning: SkinningName = "lbs"
) -> Float64[NumpyArray, "N V 3"]:
    """The way back: the rest shape of the animation's person with `offsets` (metres), skinned."""
    deformer, identity = _double(animation, skinning)
    poses, skin = _poses(animation), np.empty(offsets.shape)
    for start in range(0, len(offsets), _FRAMES_AT_ONCE):
        part = slice(start, start + _FRAMES_AT_ONCE)
        pose = Pose(poses.joint_rotations[part], poses.root_translation[part])
        rows = deformer.vertex_motions(identity, pose)
        skin[part] = move_points(rows, identity.rest_vertices + offsets[part])
    return skin


def _double(animation: Animation, skinning: str) -> tuple[GeometricSkinning, Identity]:
    """The skinning and the person in float64."""
    if skinning not in SKINNINGS:
        raise InputError(f"no skinning {skinning!r}; expected {' or '.join(SKINNINGS)}.")
    rest, joints = animation.identity.rest_vertices, animation.identity.joints
    if np.ndim(rest) != 2:
        raise InputError("a batch of identities came; take the offsets of one person at a time.")
    identity = Identity(np.asarray(rest, np.float64), np.asarray(joints, np.float64), {})
    return SKINNINGS[skinning](animation.template), identity


def _poses(animation: Animation) -> Pose:
    return Pose(
        np.asarray(animation.motion.joint_rotations, np.float64),
        np.asarray(animation.motion.root_translation, np.float64),
    )
