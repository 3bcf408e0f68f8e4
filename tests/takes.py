"""Takes with known rest-pose offsets, for tests of the bake and of the engine formats."""

from dataclasses import replace

import numpy as np
from small_body import small_animation

from corporeal.body.animation import Animation
from corporeal.body.attachment import Attachment
from corporeal.body.character import Character, unsigned_weights
from corporeal.body.mesh import Mesh
from corporeal.pipelines.bake import bake


def soft_take(frames: int = 24, rank: int = 6, size: float = 0.03, seed: int = 0) -> Animation:
    """The small tube in motion, with rest-pose offsets (metres) of exactly `rank` dimensions.

    The offsets are carried into the pose here, by the skinning formula, in float64.
    """
    still = small_animation(frames)
    random = np.random.default_rng(seed)
    rest = np.asarray(still.identity.rest_vertices)
    modes = random.normal(size=(rank, *rest.shape))
    curves = size * random.normal(size=(frames, rank)) * 0.8 ** np.arange(rank)
    offsets = np.tensordot(curves, modes, axes=1)
    weights = still.template.weights.dense()
    rotations = np.asarray(still.world_from_joint)[:, :, :3, :3]
    # x'_tv = x_tv + Σ_j w_vj R_tj d_tv
    moved = np.einsum("vj,njab,nvb->nva", weights, rotations, offsets)
    vertices = np.asarray(still.vertices) + moved
    return replace(still, deformer="soft", vertices=vertices, dynamic_offsets=offsets)


def eye(joint: int = 2) -> Attachment:
    """A tetrahedron beside the tube."""
    corners = np.array([[0.1, 1, 0.1], [0.14, 1, 0.1], [0.1, 1.04, 0.1], [0.1, 1, 0.14]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    return Attachment("left_eye", Mesh(corners, triangles), np.full((4, 3), 0.5), joint)


def soft_character(frames: int = 24, rank: int = 6) -> Character:
    """`soft_take`, baked to 0.001 mm, with an eye, colours, and weights as files have them."""
    take = soft_take(frames, rank)
    count = take.template.mesh.vertex_count
    colours = np.linspace(0, 1, 3 * count).reshape(-1, 3)
    character, _ = bake(take, max_error_mm=1e-3, attachments=[eye()], vertex_colours=colours)
    return unsigned_weights(character)


def played_attachment(character: Character, world_from_joint: np.ndarray) -> np.ndarray:
    """Places of the first attachment under the frames of its joint: W (x − x_joint)."""
    part = character.attachments[0]
    local = np.asarray(part.mesh.vertices) - character.template.skeleton.joints[part.joint]
    frame = world_from_joint[..., part.joint, :, :]
    return local @ frame[..., :3, :3].swapaxes(-1, -2) + frame[..., None, :3, 3]
