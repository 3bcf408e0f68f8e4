"""Unposing: from posed vertices back to the rest pose.

Where a vertex's blended matrix M has an inverse, the rest vertex is M⁻¹ (x' − t), exactly
(`unpose`, `inverse_matrices`, from the adjugate). Linear blending can flatten M, where a joint is
twisted by half a turn; then either the identity's own rest vertex stands in (`unpose`), or the
least of the offsets that explain the posed vertex is taken (`damped_offsets`).
"""

from typing import Any

import numpy as np

from corporeal._typing import Array, Float, Float64, NumpyArray
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


def inverse_matrices(matrices: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch 3 3"]:
    """M⁻¹ = adj M / det M of blended matrices; infinite or not a number where det M = 0."""
    xp = namespace_of(matrices)
    rows = tuple(tuple(matrices[..., r, c] for c in range(3)) for r in range(3))
    adjugate, determinant = _adjugate(rows)
    stacked = xp.stack([xp.stack(row, axis=-1) for row in adjugate], axis=-2)
    return stacked / determinant[..., None, None]


def damped_offsets(
    matrices: Float64[NumpyArray, "*batch 3 3"],
    gaps: Float64[NumpyArray, "*batch 3"],
    *,
    damping: float,
    refine_above: float,
    refinements: int = 3,
) -> Float64[NumpyArray, "*batch 3"]:
    """Rest-pose offsets d with M d ≈ gap, metres: (MᵀM + λ²I) d = Mᵀ gap.

    A direction that M shrinks below `damping` λ is not undone. Offsets that miss their gap by more
    than `refine_above` metres are solved again for what is left, `refinements` times at most, so
    that elsewhere the damping does not show.
    """
    normal = np.matmul(matrices.swapaxes(-1, -2), matrices)
    normal[..., np.arange(3), np.arange(3)] += damping**2

    def solve(where: Any, right: NumpyArray) -> NumpyArray:
        pulled = np.einsum("...ji,...j->...i", matrices[where], right)
        return np.linalg.solve(normal[where], pulled[..., None])[..., 0]

    solution = solve(..., gaps)
    for _ in range(refinements):
        left = gaps - np.einsum("...ij,...j->...i", matrices, solution)
        hard = np.sum(left * left, axis=-1) > refine_above**2
        if not hard.any():
            break
        solution[hard] += solve(hard, left[hard])
    return solution


def _invert(
    rows: MotionRows,
    vertices: Float[Array, "*#batch V 3"],
    fallback: Float[Array, "*#batch V 3"],
    condition_limit: float | None,
) -> Unposed:
    (a, _, _, s), (_, _, _, t), (_, _, _, u) = rows
    xp = namespace_of(a, vertices)
    if condition_limit is None:
        condition_limit = 0.01 / float(xp.finfo(a.dtype).eps)
    linear = tuple(row[:3] for row in rows)
    adjugate, determinant = _adjugate(linear)
    size = _squares(linear) * _squares(adjugate)
    reciprocal = 3.0 * xp.abs(determinant) / xp.sqrt(xp.where(size > 0, size, 1.0))
    singular = reciprocal * condition_limit <= 1.0
    safe = xp.where(singular, 1.0, determinant)
    x, y, z = vertices[..., 0] - s, vertices[..., 1] - t, vertices[..., 2] - u
    exact = xp.stack([(p * x + q * y + r * z) / safe for p, q, r in adjugate], axis=-1)
    smallest = float(xp.finfo(a.dtype).smallest_normal)
    condition = 1.0 / xp.where(reciprocal > smallest, reciprocal, smallest)
    return Unposed(xp.where(singular[..., None], fallback, exact), condition)


def _adjugate(rows: MotionRows) -> tuple[MotionRows, Array]:
    """adj M and det M of 3×3 matrices, M⁻¹ = adj M / det M."""
    (a, b, c), (d, e, f), (g, h, i) = rows
    adjugate = (
        (e * i - f * h, c * h - b * i, b * f - c * e),
        (f * g - d * i, a * i - c * g, c * d - a * f),
        (d * h - e * g, b * g - a * h, a * e - b * d),
    )
    return adjugate, a * adjugate[0][0] + b * adjugate[1][0] + c * adjugate[2][0]


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
