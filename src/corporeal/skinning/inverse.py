"""Inverse skinning: from posed vertices back to the rest pose, exactly, with its conditioning."""

import numpy as np

from corporeal._typing import Array, Float
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.errors import InputError
from corporeal.runtime.arrays import as_one_kind, is_numpy, namespace_of
from corporeal.runtime.nouns import noun
from corporeal.skinning.geometric import GeometricSkinning

_FRAMES_AT_ONCE = 16  # bounds the matrices held: about 100 bytes a vertex and frame


@noun()
class Unposed:
    """Posed vertices brought back to the zero pose."""

    rest_vertices: Float[Array, "*batch V 3"]
    """Metres."""
    condition: Float[Array, "*batch V"]
    """‖M‖ ‖M⁻¹‖ / 3 of each vertex's blended 3×3 matrix (Frobenius norms): 1 for a rotation, and
    the factor by which the inverse may enlarge errors; above the limit M counts as singular."""


def unpose(
    deformer: GeometricSkinning,
    identity: Identity,
    pose: Pose,
    vertices: Float[Array, "*batch V 3"],
    condition_limit: float | None = None,
) -> Unposed:
    """Undo the skinning of posed `vertices` (metres): x_v = M_v⁻¹ (x'_v − t_v).

    Exact, up to rounding times the condition, wherever the blended matrix is invertible; always so
    for dual quaternions, whose condition is 1. Where the condition passes `condition_limit`
    (default: a hundredth of what the dtype resolves), the posed point does not determine the rest
    point, and the identity's own rest vertex is given instead.
    """
    if vertices.shape[-2] != deformer.template.mesh.vertex_count:
        raise InputError(
            f"got {vertices.shape[-2]} vertices to unpose; the template has "
            f"{deformer.template.mesh.vertex_count}. Give all of them, in the template's order."
        )
    rotations = pose.joint_rotations
    if is_numpy(namespace_of(rotations, vertices)) and _is_long(identity, pose, vertices):
        parts = [
            unpose(
                deformer,
                identity,
                Pose(rotations[part], pose.root_translation[part]),
                vertices[part],
                condition_limit,
            )
            for part in _slices(len(rotations))
        ]
        rest = np.concatenate([part.rest_vertices for part in parts])
        return Unposed(rest, np.concatenate([part.condition for part in parts]))
    motions = deformer.vertex_motions(identity, pose)
    vertices, motions, fallback = as_one_kind(vertices, motions, identity.rest_vertices)
    return _invert_motions(motions, vertices, fallback, condition_limit)


def _invert_motions(
    motions: Float[Array, "*#batch V 3 4"],
    vertices: Float[Array, "*#batch V 3"],
    fallback: Float[Array, "*#batch V 3"],
    condition_limit: float | None,
) -> Unposed:
    xp = namespace_of(motions, vertices)
    if condition_limit is None:
        condition_limit = 0.01 / float(xp.finfo(motions.dtype).eps)
    a, b, c = motions[..., 0], motions[..., 1], motions[..., 2]
    # rows of the adjugate: b × c, c × a, a × b;  det M = a · (b × c)
    adjugate = xp.stack(
        [xp.linalg.cross(b, c), xp.linalg.cross(c, a), xp.linalg.cross(a, b)], axis=-2
    )
    determinant = xp.sum(a * adjugate[..., 0, :], axis=-1)
    size = xp.sum(motions[..., :3] ** 2, axis=(-1, -2)) * xp.sum(adjugate**2, axis=(-1, -2))
    reciprocal = 3.0 * xp.abs(determinant) / xp.sqrt(xp.where(size > 0, size, 1.0))
    singular = reciprocal * condition_limit <= 1.0
    safe = xp.where(singular, 1.0, determinant)
    shifted = (vertices - motions[..., 3])[..., None, :]
    exact = xp.sum(adjugate * shifted, axis=-1) / safe[..., None]
    smallest = float(xp.finfo(motions.dtype).smallest_normal)
    condition = 1.0 / xp.where(reciprocal > smallest, reciprocal, smallest)
    return Unposed(xp.where(singular[..., None], fallback, exact), condition)


def _is_long(identity: Identity, pose: Pose, vertices: Array) -> bool:
    """Whether this is one identity over many frames, to be taken a few frames at a time."""
    frames = pose.joint_rotations.shape[:-2]
    same = frames == pose.root_translation.shape[:-1] == vertices.shape[:-2]
    one_identity = identity.rest_vertices.ndim == 2 and identity.joints.ndim == 2
    return same and one_identity and len(frames) == 1 and frames[0] > _FRAMES_AT_ONCE


def _slices(count: int) -> list[slice]:
    return [slice(k, k + _FRAMES_AT_ONCE) for k in range(0, count, _FRAMES_AT_ONCE)]
