"""A motion of one skeleton on another with the same joint names, whatever pose each rests in.

The source's joint s has the world rotation G_s. Its partner j gets G_j = G_s Q_j, where Q_j turns
j's rest bones into the directions of s's rest bones: so bones of the same name point the same way
at every frame. Where both skeletons rest in the same pose, Q = 1 and rotations are copied.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.geometry.alignment import best_rotation
from corporeal.motions.derivatives import world_frames
from corporeal.motions.retarget.alignment import local_rotations, swing
from corporeal.skinning.kinematics import forward_kinematics

_SHORT = 1e-6
"""Bones shorter than this, as a share of the skeleton's size, have no direction."""


@dataclass(frozen=True)
class Transferred:
    """A motion, and how it was carried over."""

    motion: Motion
    """Of the target's skeleton."""
    matched: tuple[str, ...]
    """Joints that the source moves."""
    unmatched: tuple[str, ...]
    """Joints that follow their parents."""
    scale: float
    """Bone length of the target over that of the source; the root's way is scaled by it."""
    largest_turn: float
    """Largest angle between rest bones of the same name, radians."""


def same_names(skeleton: Skeleton, source: Skeleton) -> dict[str, str]:
    """Joints that both have, by name."""
    return {name: name for name in skeleton.names if name in source.names}


def transfer(source: Motion, skeleton: Skeleton, partners: Mapping[str, str]) -> Transferred:
    """`source` as a motion of `skeleton`; `partners` are source joints by the skeleton's names."""
    rotation_vectors = rest_rotations(skeleton, source.skeleton, partners)
    frames = np.empty((source.frame_count, skeleton.joint_count, 3, 3))
    world = world_frames(source)
    for index, name in enumerate(skeleton.names):
        parent = skeleton.parents[index]
        if name in partners:
            turn = world[:, source.skeleton.index(partners[name]), :3, :3]
            frames[:, index] = turn @ rotation_vectors[index]
        else:
            frames[:, index] = frames[:, parent] if parent >= 0 else np.eye(3)
    scale = size_ratio(skeleton, source.skeleton, partners)
    root = skeleton.names[0]
    way = np.zeros((source.frame_count, 3))
    if root in partners:
        partner = source.skeleton.index(partners[root])
        rest = np.asarray(source.skeleton.joints, np.float64)[partner]
        way = scale * (world[:, partner, :3, 3] - rest)
    angles = np.arccos(
        np.clip((np.trace(rotation_vectors, axis1=1, axis2=2) - 1.0) / 2.0, -1.0, 1.0)
    )
    return Transferred(
        Motion(source.name, source.fps, local_rotations(frames, skeleton.parents), way, skeleton),
        tuple(name for name in skeleton.names if name in partners),
        tuple(name for name in skeleton.names if name not in partners),
        scale,
        float(angles.max()),
    )


def posed_like(skeleton: Skeleton, source: Skeleton, partners: Mapping[str, str]) -> Skeleton:
    """The skeleton with its own bone lengths in the rest pose of another, the root in its place."""
    rotation_vectors = rest_rotations(skeleton, source, partners)
    joints = np.asarray(skeleton.joints, np.float64)
    rotations = local_rotations(rotation_vectors[None], skeleton.parents)[0]
    frames = forward_kinematics(rotations, joints, skeleton.parents, np.zeros(3))
    return Skeleton(skeleton.names, skeleton.parents, frames[:, :3, 3])


def rest_rotations(
    skeleton: Skeleton, source: Skeleton, partners: Mapping[str, str]
) -> Float[NumpyArray, "J 3 3"]:
    """Q_j: from the rest directions of a skeleton's bones to those of its partners'.

    A joint with one bone is swung by the shortest way from where its parent left it; one with more
    takes the rotation that fits them best; one without a partner, or a leaf, goes with its parent.
    """
    ours, theirs = (np.asarray(s.joints, np.float64) for s in (skeleton, source))
    short = _SHORT * max(float(np.ptp(ours, axis=0).max()), 1e-300)
    rotation_vectors = np.broadcast_to(np.eye(3), (skeleton.joint_count, 3, 3)).copy()
    for index, name in enumerate(skeleton.names):
        parent = skeleton.parents[index]
        if parent >= 0:
            rotation_vectors[index] = rotation_vectors[parent]
        bones = [
            (
                ours[child] - ours[index],
                theirs[source.index(partners[end])] - theirs[source.index(partners[name])],
            )
            for child, end in enumerate(skeleton.names)
            if skeleton.parents[child] == index and end in partners and name in partners
        ]
        bones = [(a, b) for a, b in bones if min(np.linalg.norm(a), np.linalg.norm(b)) > short]
        if len(bones) == 1:
            here, there = bones[0]
            rotation_vectors[index] = (
                swing(rotation_vectors[index] @ here, there) @ rotation_vectors[index]
            )
        elif bones:
            rotation_vectors[index] = best_rotation(*_directions(bones))
    return rotation_vectors


def size_ratio(skeleton: Skeleton, source: Skeleton, partners: Mapping[str, str]) -> float:
    """Summed length of the bones both have, target over source; 1 where there are none."""
    ours, theirs = (np.asarray(s.joints, np.float64) for s in (skeleton, source))
    total = np.zeros(2)
    for index, name in enumerate(skeleton.names):
        above = skeleton.names[skeleton.parents[index]] if index else ""
        if name in partners and above in partners:
            ends = [source.index(partners[end]) for end in (name, above)]
            total[0] += np.linalg.norm(ours[index] - ours[skeleton.parents[index]])
            total[1] += np.linalg.norm(theirs[ends[0]] - theirs[ends[1]])
    return float(total[0] / total[1]) if total.min() > 0 else 1.0


def _directions(
    bones: list[tuple[Float[NumpyArray, "3"], Float[NumpyArray, "3"]]],
) -> Float[NumpyArray, "2 n 3"]:
    """Unit vectors along ours, then along theirs."""
    both = np.array(bones).swapaxes(0, 1)
    return both / np.linalg.norm(both, axis=-1, keepdims=True)
