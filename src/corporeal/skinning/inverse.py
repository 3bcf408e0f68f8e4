"""Inverse skinning: from posed vertices back to the rest pose, exactly, with its conditioning."""

import numpy as np

from corporeal._typing import Array, Float
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.errors import InputError
from corporeal.runtime.arrays import as_one_kind, is_numpy, namespace_of
from corporeal.runtime.pytree_dataclass import pytree_dataclass
from corporeal.skinning.geometric import GeometricSkinning, MotionRows

_FRAMES_AT_ONCE = 16  # bounds the matrices held: about 100 bytes a vertex and frame


@pytree_dataclass()
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
    rows = deformer.vertex_motions(identity, pose)
    _, vertices, fallback = as_one_kind(rows[0][0], vertices, identity.rest_vertices)
    return _invert(rows, vertices, fallback, condition_limit)


def _invert(
    rows: MotionRows,
    vertices: Float[Array, "*#batch V 3"],
    fallback: Float[Array, "*#batch V 3"],
    condition_limit: float | None,
) -> Unposed:
    (a, b, c, s), (d, e, f, t), (g, h, i, u) = rows
    xp = namespace_of(a, vertices)
    if condition_limit is None:
        condition_limit = 0.01 / float(xp.finfo(a.dtype).eps)
    # M⁻¹ = adj M / det M
    adjugate = (
        (e * i - f * h, c * h - b * i, b * f - c * e),
        (f * g - d * i, a * i - c * g, c * d - a * f),
        (d * h - e * g, b * g - a * h, a * e - b * d),
    )
    determinant = a * adjugate[0][0] + b * adjugate[1][0] + c * adjugate[2][0]
    size = _squares(tuple(row[:3] for row in rows)) * _squares(adjugate)
    reciprocal = 3.0 * xp.abs(determinant) / xp.sqrt(xp.where(size > 0, size, 1.0))
    singular = reciprocal * condition_limit <= 1.0
    safe = xp.where(singular, 1.0, determinant)
    x, y, z = vertices[..., 0] - s, vertices[..., 1] - t, vertices[..., 2] - u
    exact = xp.stack([(p * x + q * y + r * z) / safe for p, q, r in adjugate], axis=-1)
    smallest = float(xp.finfo(a.dtype).smallest_normal)
    condition = 1.0 / xp.where(reciprocal > smallest, reciprocal, smallest)
    return Unposed(xp.where(singular[..., None], fallback, exact), condition)


def _squares(rows: MotionRows) -> Array:
    """Squared Frobenius norm."""
    return sum(entry * entry for row in rows for entry in row)


def _is_long(identity: Identity, pose: Pose, vertices: Array) -> bool:
    """Whether this is one identity over many frames, to be taken a few frames at a time."""
    frames = pose.joint_rotations.shape[:-2]
    same = frames == pose.root_translation.shape[:-1] == vertices.shape[:-2]
    one_identity = identity.rest_vertices.ndim == 2 and identity.joints.ndim == 2
    return same and one_identity and len(frames) == 1 and frames[0] > _FRAMES_AT_ONCE


def _slices(count: int) -> list[slice]:
    return [slice(k, k + _FRAMES_AT_ONCE) for k in range(0, count, _FRAMES_AT_ONCE)]
