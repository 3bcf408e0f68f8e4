"""Playing a baked character: the posed skin that an engine shows at a frame."""

from collections.abc import Iterator

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.character import Character
from corporeal.geometry.rotations import axis_angle_from_quaternion
from corporeal.skinning.kinematics import forward_kinematics, rest_to_world

_CHUNK_VERTICES = 400_000
"""Posed vertices in memory at once: about 40 MB of blended matrices."""


def character_joints(
    character: Character, frames: Int[NumpyArray, "n"] | None = None
) -> Float64[NumpyArray, "n J 4 4"]:
    """World frame of every joint at `frames` (all, if None)."""
    chosen = np.arange(character.frame_count) if frames is None else frames
    rotations = character.joint_rotations_wxyz[chosen].astype(np.float64)
    return forward_kinematics(
        axis_angle_from_quaternion(rotations),
        np.asarray(character.template.skeleton.joints, np.float64),
        character.template.skeleton.parents,
        character.root_translation[chosen].astype(np.float64),
    )


def skin_matrices(
    character: Character, frames: Int[NumpyArray, "n"]
) -> Float64[NumpyArray, "n V 3 4"]:
    """Blended affine motion of every vertex at `frames`: T_v = Σ_j w_vj A_j."""
    joints = np.asarray(character.template.skeleton.joints, np.float64)
    world_from_rest = rest_to_world(character_joints(character, frames), joints)
    weights = character.template.weights.dense().astype(np.float64)
    rows = world_from_rest[..., :3, :].reshape(len(frames), len(joints), 12)
    return (weights @ rows).reshape(len(frames), len(weights), 3, 4)


def character_vertices(
    character: Character, frames: Int[NumpyArray, "n"] | None = None
) -> Float64[NumpyArray, "n V 3"]:
    """Posed skin at `frames` (all, if None), metres: blend the morphs, then the joints."""
    chosen = np.arange(character.frame_count) if frames is None else frames
    rest = np.asarray(character.template.mesh.vertices, np.float64)
    offsets = character.morph_offsets.astype(np.float64)
    posed = np.empty((len(chosen), *rest.shape))
    for part in frame_chunks(len(chosen), len(rest)):
        weights = character.morph_weights[chosen[part]].astype(np.float64)
        # s_tv = x_v + Σ_b w_tb d_bv
        shaped = rest + np.tensordot(weights, offsets, axes=1)
        matrices = skin_matrices(character, chosen[part])
        posed[part] = np.einsum("nvij,nvj->nvi", matrices[..., :3], shaped) + matrices[..., 3]
    return posed


def frame_chunks(frame_count: int, vertex_count: int) -> Iterator[slice]:
    """Slices of frames small enough to hold a matrix for every vertex in memory."""
    step = max(1, _CHUNK_VERTICES // max(1, vertex_count))
    for start in range(0, frame_count, step):
        yield slice(start, min(start + step, frame_count))
