"""Deformations of triangles in batches: frames, blended rotations, pose deformations, total ones.

A triangle's frame is the matrix of its two edges and a normal edge as columns, n = e₀ × e₁ / √|…|,
so that a deformation is determined by a triangle alone (Sumner, Popović 2004): M = V V̂⁻¹.
"""

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.triangle_model import TriangleModel
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.skinning.unposing import inverse_matrices

_DAMPING = 1e-3
"""Added to the square of a blended rotation that is undone: it may be flat."""


def triangle_frames(
    vertices: Float[NumpyArray, "*batch V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Float[NumpyArray, "*batch F 3 3"]:
    """Edges and the normal edge of every triangle, as columns, metres."""
    first = vertices[..., triangles[:, 0], :]
    one = vertices[..., triangles[:, 1], :] - first
    two = vertices[..., triangles[:, 2], :] - first
    normal = np.stack(
        [
            one[..., 1] * two[..., 2] - one[..., 2] * two[..., 1],
            one[..., 2] * two[..., 0] - one[..., 0] * two[..., 2],
            one[..., 0] * two[..., 1] - one[..., 1] * two[..., 0],
        ],
        axis=-1,
    )
    length = np.sqrt(np.sum(normal * normal, axis=-1, keepdims=True))
    normal = normal / np.sqrt(np.maximum(length, 1e-20))
    return np.stack([one, two, normal], axis=-1)


class DeformedTriangles:
    """A model's triangles, ready to be deformed and undeformed."""

    def __init__(self, model: TriangleModel) -> None:
        self.model = model
        frames = triangle_frames(np.asarray(model.template_vertices, np.float64), model.triangles)
        self.template_edges = np.ascontiguousarray(frames[..., :2])
        """v̂ as columns, metres."""
        self.template_inverse = np.asarray(inverse_matrices(frames), np.float64)
        """V̂⁻¹."""

    def blended(self, world: Float[NumpyArray, "J 3 3"]) -> Float[NumpyArray, "F 3 3"]:
        """R*_t = Σ_i w_ti R_i, eq. 1."""
        weights = self.model.weights
        # Σ_k w_tk R_{i_tk}
        return np.einsum("tk,tkab->tab", weights.values, world[weights.joint_indices])

    def pose_deformed(self, turns: Float[NumpyArray, "J 3"]) -> Float[NumpyArray, "F 3 3"]:
        """Q_t(θ) = I + Σ θ_jc C_tjc; the root's own turn deforms nothing."""
        own = np.asarray(turns, np.float64).copy()
        own[0] = 0.0
        driving = own[self.model.pose_joints]
        return np.eye(3) + np.einsum("tjc,tjcab->tab", driving, self.model.pose_deformations)

    def shape_of(self, rest: Float[NumpyArray, "V 3"]) -> Float64[NumpyArray, "F 3 3"]:
        """S_t of a person's skin in the zero pose."""
        frames = triangle_frames(np.asarray(rest, np.float64), self.model.triangles)
        return frames @ self.template_inverse

    def person(self, betas: Float[NumpyArray, "s"]) -> Float64[NumpyArray, "F 3 3"]:
        """S_t(β) = μ_S + Σ β_s u_S,s."""
        some = self.model.shape_deformations[: len(betas)]
        return np.asarray(self.model.mean_shape, np.float64) + np.tensordot(betas, some, axes=1)

    def edges(
        self,
        world: Float[NumpyArray, "J 3 3"],
        turns: Float[NumpyArray, "J 3"],
        total: Float[NumpyArray, "F 3 3"],
    ) -> Float64[NumpyArray, "F 2 3"]:
        """v_t,e = R*_t T_t Q_t v̂_t,e, eq. 2 and 17, metres."""
        from corporeal.models.blendscape.triangles_cpu import turned_edges

        found = np.empty((len(self.template_edges), 2, 3))
        weights = self.model.weights
        turned_edges(
            np.asarray(world, np.float64), np.asarray(turns, np.float64), weights.joint_indices,
            weights.values, self.model.pose_joints, self.model.pose_deformations,
            self.template_edges, np.asarray(total), found,
        )  # fmt: skip
        return found

    def undone(
        self,
        world: Float[NumpyArray, "J 3 3"],
        turns: Float[NumpyArray, "J 3"],
        frames: Float[NumpyArray, "F 3 3"],
    ) -> Float64[NumpyArray, "F 3 3"]:
        """T_t with R*_t T_t Q_t V̂ = V: total deformations of posed frames, or of differences."""
        blended = self.blended(world)
        turned = np.swapaxes(blended, -1, -2)
        # R⁺ = (RᵀR + ε)⁻¹ Rᵀ, which stays small where R* is flat
        square = turned @ blended + _DAMPING * np.eye(3)
        back = np.asarray(inverse_matrices(square)) @ turned * (1.0 + _DAMPING)
        right = self.template_inverse @ np.asarray(inverse_matrices(self.pose_deformed(turns)))
        return back @ frames @ right


def world_rotations(
    turns: Float[NumpyArray, "N J 3"], parents: tuple[int, ...]
) -> Float64[NumpyArray, "N J 3 3"]:
    """R_i of every part in the world, from parent-relative axis-angle vectors."""
    local = np.asarray(matrix_from_axis_angle(np.asarray(turns, np.float64)))
    world = np.empty_like(local)
    for joint, parent in enumerate(parents):
        world[:, joint] = local[:, joint] if parent < 0 else world[:, parent] @ local[:, joint]
    return world
