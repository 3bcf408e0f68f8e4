"""Skin weights: which joints move a vertex, and how much."""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.checks import require_finite, require_indices
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("joint_count",))
class SkinWeights:
    """Sparse skin weights with a fixed number of influences a vertex, largest first."""

    joint_indices: Int[NumpyArray, "V K"]
    """Joint of every influence; unused slots repeat the first joint with weight 0."""
    values: Float[NumpyArray, "V K"]
    """Weights, non-negative; every row sums to 1."""
    joint_count: int
    """Number J of joints that indices may name."""

    def check(self) -> None:
        """Raise `InputError` unless weights are non-negative, rows sum to 1 and indices are in
        range."""
        require_finite("skin weights", self.values)
        require_indices("skin weight joints", self.joint_indices, self.joint_count)
        if self.values.min() < 0:
            raise InputError(f"skin weights fall to {self.values.min()}; expected none below 0.")
        error = np.abs(self.values.sum(axis=1) - 1)
        if error.max() > 1e-5:
            worst = int(error.argmax())
            raise InputError(
                f"skin weights of vertex {worst} sum to {self.values[worst].sum():.6f}; "
                f"expected 1. Divide every row by its sum."
            )

    def dense(self) -> Float[NumpyArray, "V J"]:
        """The same weights as a full matrix."""
        matrix = np.zeros((len(self.values), self.joint_count), self.values.dtype)
        np.add.at(matrix, (np.arange(len(self.values))[:, None], self.joint_indices), self.values)
        return matrix

    @staticmethod
    def from_dense(
        matrix: Float[NumpyArray, "V J"], influences: int | None = None
    ) -> "SkinWeights":
        """Keep the largest `influences` weights a vertex (all, if None) and make rows sum to 1."""
        most = int((matrix > 0).sum(axis=1).max())
        kept = most if influences is None else min(influences, matrix.shape[1])
        order = np.argsort(-matrix, axis=1, kind="stable")[:, :kept]
        values = np.take_along_axis(matrix, order, axis=1)
        order = np.where(values > 0, order, order[:, :1])
        values = values / values.sum(axis=1, keepdims=True)
        return SkinWeights(order.astype(np.int32), values, matrix.shape[1])
