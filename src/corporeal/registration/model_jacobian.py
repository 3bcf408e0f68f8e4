"""∂m/∂(β, θ, t) of a posed person as an operator: shapes dense, rotations sparse."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float32, Float64, NumpyArray
from corporeal.registration.person_model import PersonModel, PosedPerson
from corporeal.skinning.jacobians import by_shape
from corporeal.skinning.sparse_jacobians import rotation_jacobian

_APART = 3
"""Every so many vertices stand for all in the small matrix, which only preconditions."""


@dataclass(frozen=True, eq=False)
class ModelJacobian:
    """Columns: shapes, three rotations a joint (world axes), the translation."""

    shapes: Float32[NumpyArray, "V3 S"]
    """Derivatives by shape, metres a standard deviation."""
    rotations: csr_array
    """V 3 × J 3, metres a radian."""
    back: csr_array
    """Its transpose."""

    @property
    def size(self) -> int:
        """Number of columns."""
        return self.shapes.shape[1] + self.back.shape[0] + 3  # pyright: ignore

    def apply(self, step: Float64[NumpyArray, "P"]) -> Float64[NumpyArray, "V 3"]:
        """J p."""
        count = self.shapes.shape[1]
        moved = self.shapes @ step[:count].astype(np.float32) + self.rotations @ step[count:-3]
        return moved.reshape(-1, 3) + step[-3:]

    def transposed(self, force: Float64[NumpyArray, "V 3"]) -> Float64[NumpyArray, "P"]:
        """Jᵀ f."""
        flat = force.reshape(-1)
        shapes = flat.astype(np.float32) @ self.shapes
        return np.concatenate([shapes, self.back @ flat, force.sum(axis=0)])

    def normal_matrix(self, blocks: Float64[NumpyArray, "V 3 3"]) -> Float64[NumpyArray, "P P"]:
        """Jᵀ D J, about: a part of the vertices stands for all."""
        rows = np.arange(0, len(blocks), _APART)
        flat = (3 * rows[:, None] + np.arange(3)).reshape(-1)
        dense = np.concatenate(
            [self.shapes[flat], self.rotations[flat].toarray(), np.tile(np.eye(3), (len(rows), 1))],
            axis=1,
            dtype=np.float32,
        )
        scaled = np.matmul(
            blocks[rows].astype(np.float32), dense.reshape(len(rows), 3, -1)
        ).reshape(dense.shape)
        return _APART * (dense.T @ scaled).astype(np.float64)


def model_jacobian(model: PersonModel, posed: PosedPerson, shapes: int) -> ModelJacobian:
    """Of all vertices."""
    kinematics = posed.kinematics
    count = len(posed.rest)
    by_betas = by_shape(
        posed.blend,
        kinematics.world_rotations,
        model.parents,
        model.space.vertex_shapes[:shapes],
        model.space.joint_shapes[:shapes],
    ).reshape(3 * count, shapes)
    by_betas = by_betas.astype(np.float32)
    sparse = rotation_jacobian(
        "lbs", model.support, posed.rest[None], kinematics[None], model.parents
    )
    ancestors = model.support.ancestors  # V a
    values = sparse[0]  # V 3 a 3
    columns = np.broadcast_to(
        3 * ancestors[:, None, :, None] + np.arange(3), (count, 3, ancestors.shape[1], 3)
    )
    rows = np.broadcast_to(np.arange(3 * count).reshape(count, 3, 1, 1), columns.shape)
    kept = (values != 0) & (ancestors >= 0)[:, None, :, None]
    matrix = csr_array(
        (values[kept], (rows[kept], columns[kept])), shape=(3 * count, 3 * model.joint_count)
    )
    return ModelJacobian(np.ascontiguousarray(by_betas), matrix, csr_array(matrix.T))
