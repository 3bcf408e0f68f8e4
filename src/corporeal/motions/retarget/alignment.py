"""Rest-pose alignment: the same directions of the bones, whatever pose each rig rests in.

Every foreign joint s has turned by D_s = G_s R_sᵀ since the reference pose (the pose of the foreign
skeleton that is nearest to the body's T-pose; G its frame now, R then). The body's joint j then has
the frame G_j = D_s S_j, where S_j turns the body's T-pose into that reference pose:

- **limbs** (thigh, shank, upper arm, forearm, knuckles): S_j swings the bone, from where its parent
  left it and by the shortest way, into the direction of the foreign bone. So the body's limb points
  where the foreign one does at every frame, for T-pose and A-pose rigs alike;
- **pelvis, spine, neck, head, collar bones**: only the heading is matched. Spines are curved
  differently, and matching their bones would straighten the body's;
- **feet**: only the heading is matched, since both soles are flat in both rest poses, however high
  each rig puts its ankle.
"""

from typing import Final

import numpy as np

from corporeal._typing import Array, Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.geometry.rotations import (
    axis_angle_from_matrix,
    matrix_from_axis_angle,
    matrix_from_quaternion,
    quaternion_from_matrix,
    slerp,
)
from corporeal.motions.derivatives import world_frames
from corporeal.motions.relaxed_hands import relaxed_hands
from corporeal.motions.retarget.name_maps import SIDES, NameMap
from corporeal.skinning.kinematics import forward_kinematics, relative_rotations

SPINE: Final = ("spine1", "spine2", "spine3")
_FINGERS: Final = ("index", "middle", "pinky", "ring", "thumb")
_NEXT: Final = {"hip": "knee", "knee": "ankle", "shoulder": "elbow", "elbow": "wrist"} | {
    f"{finger}{k}": f"{finger}{k + 1}" for finger in _FINGERS for k in (1, 2)
}
_SWUNG: Final = {f"{s}_{a}": f"{s}_{b}" for s in SIDES for a, b in _NEXT.items()} | {
    f"{s}_wrist": f"{s}_middle1" for s in SIDES
}
"""Limb joints, and the joint at the other end of their bone."""
_SOLES: Final = {f"{s}_ankle": f"{s}_foot" for s in SIDES}


def aligned_frames(source: Motion, body: Skeleton, names: NameMap) -> Float[NumpyArray, "N J 3 3"]:
    """World rotation of every joint of `body` when it does what `source` does."""
    reference = _reference_frames(source.skeleton, names)
    turned = world_frames(source)[..., :3, :3] @ np.swapaxes(reference[:, :3, :3], -1, -2)
    alignment = rest_alignment(source.skeleton, body, names)
    joints = {b: source.skeleton.index(s) for b, s in names.joints.items() if b in body.names}
    local_rest = matrix_from_axis_angle(relaxed_hands(body))
    frames = np.empty((source.frame_count, body.joint_count, 3, 3))
    chains = _chains(source.skeleton, names, turned)
    for index, name in enumerate(body.names):
        if name in chains:
            frames[:, index] = chains[name] @ alignment[index]
        elif name in joints:
            frames[:, index] = turned[:, joints[name]] @ alignment[index]
        else:
            frames[:, index] = frames[:, body.parents[index]] @ local_rest[index]
    return frames


def local_rotations(
    frames: Float[NumpyArray, "N J 3 3"], parents: tuple[int, ...]
) -> Float[NumpyArray, "N J 3"]:
    """Parent-relative axis-angle vectors, radians, of world rotations."""
    return axis_angle_from_matrix(relative_rotations(frames, parents))


def rest_alignment(source: Skeleton, body: Skeleton, names: NameMap) -> Float[NumpyArray, "J 3 3"]:
    """S_j: from the body's T-pose into the foreign reference pose, as world rotations."""
    places = _reference_frames(source, names)[:, :3, 3]
    rest = np.asarray(body.joints, np.float64)
    facing = _facing(source, places, names)
    alignment = np.broadcast_to(facing, (body.joint_count, 3, 3)).copy()

    def bone(start: str, end: str) -> tuple[NumpyArray, NumpyArray] | None:
        if not {start, end} <= set(names.joints) or end not in body.names:
            return None
        foreign = (source.index(names.joints[end]), source.index(names.joints[start]))
        ours = (body.index(end), body.index(start))
        return rest[ours[0]] - rest[ours[1]], places[foreign[0]] - places[foreign[1]]

    for index, name in enumerate(body.names):
        parent = body.parents[index]
        if name in _SOLES:
            if directions := bone(name, _SOLES[name]):
                ours, foreign = directions
                alignment[index] = about_vertical(heading(foreign) - heading(ours))
        elif name.endswith("_foot"):
            alignment[index] = alignment[parent]
        elif name in _SWUNG or any(finger in name for finger in _FINGERS):
            alignment[index] = alignment[parent]
            directions = bone(name, _SWUNG[name]) if name in _SWUNG else None
            if directions and np.linalg.norm(directions[1]) > 1e-6:
                ours, foreign = directions
                alignment[index] = swing(alignment[parent] @ ours, foreign) @ alignment[parent]
    return alignment


def swing(
    start: Float[NumpyArray, "*batch 3"], end: Float[NumpyArray, "*batch 3"]
) -> Float[NumpyArray, "*batch 3 3"]:
    """The shortest rotation from the direction `start` to the direction `end`."""
    a = start / np.linalg.norm(start, axis=-1, keepdims=True)
    b = end / np.linalg.norm(end, axis=-1, keepdims=True)
    across = np.cross(a, b)
    sine = np.linalg.norm(across, axis=-1, keepdims=True)
    cosine = np.sum(a * b, axis=-1, keepdims=True)
    # Opposite directions: any axis across will do.
    spare = np.cross(a, np.where(np.abs(a[..., :1]) < 0.9, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]))
    spare = spare / np.linalg.norm(spare, axis=-1, keepdims=True)
    axis = np.where(sine > 1e-9, across / np.maximum(sine, 1e-300), spare)
    return matrix_from_axis_angle(axis * np.arctan2(sine, cosine))


def heading(direction: Float[Array, "*batch 3"]) -> Float[Array, "*batch"]:
    """Angle about the vertical from +z towards +x, radians."""
    return np.arctan2(direction[..., 0], direction[..., 2])


def about_vertical(angle: Float[Array, "*batch"]) -> Float[NumpyArray, "*batch 3 3"]:
    """Turns of `angle` radians about the y axis."""
    zero = np.zeros_like(angle)
    return matrix_from_axis_angle(np.stack([zero, angle, zero], axis=-1))


def _reference_frames(source: Skeleton, names: NameMap) -> Float[NumpyArray, "J 4 4"]:
    rotations = np.zeros((source.joint_count, 3))
    for joint, vector in names.reference.items():
        rotations[source.index(joint)] = vector
    joints = np.asarray(source.joints, np.float64)
    return forward_kinematics(rotations, joints, source.parents, np.zeros(3))


def _facing(
    source: Skeleton, places: Float[NumpyArray, "J 3"], names: NameMap
) -> Float[NumpyArray, "3 3"]:
    """Turn about the vertical that takes +x to the foreign body's left."""
    left = (
        places[source.index(names.joints["left_hip"])]
        - places[source.index(names.joints["right_hip"])]
    )
    return about_vertical(heading(left) - 0.5 * np.pi)


def _chains(
    source: Skeleton, names: NameMap, turned: Float[NumpyArray, "N J 3 3"]
) -> dict[str, Float[NumpyArray, "N 3 3"]]:
    """Turns of spine and neck joints, spread evenly along foreign chains of any length."""
    base = source.index(names.joints["pelvis"])
    chains: dict[str, Float[NumpyArray, "N 3 3"]] = {}
    if names.spine:
        links = turned[:, [base, *(source.index(name) for name in names.spine)]]
        share = len(names.spine) / len(SPINE)
        for place, joint in enumerate(SPINE, start=1):
            chains[joint] = _along(links, place * share)
    if names.neck:
        links = turned[:, [source.index(name) for name in names.neck]]
        chains["neck"] = _along(links, 0.5 * (len(names.neck) - 1))
    return chains


def _along(links: Float[NumpyArray, "N n 3 3"], place: float) -> Float[NumpyArray, "N 3 3"]:
    """The turn at a place of a chain: 1.5 is halfway between its joints 1 and 2."""
    before = min(int(place + 1e-9), links.shape[1] - 1)
    after = min(before + 1, links.shape[1] - 1)
    start, end = (quaternion_from_matrix(links[:, link]) for link in (before, after))
    return matrix_from_quaternion(slerp(start, end, np.full(len(links), max(place - before, 0.0))))
