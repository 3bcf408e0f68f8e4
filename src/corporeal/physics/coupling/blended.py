"""Vertices carried by joints through weights: linear blend skinning of all that is simulated."""

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float64, NumpyArray
from corporeal.skinning.kinematics import motions_between, rest_to_world


class BlendedCarrier:
    """x_i = (Σ_j w_ij A_j) x̄_i, written as one sparse product of all frames.

    `weights` is n × J, `rest` are x̄ in metres, `joints` the rest joints; A_j moves rest points
    along with joint j.
    """

    def __init__(
        self,
        weights: csr_array,
        rest: Float64[NumpyArray, "n 3"],
        joints: Float64[NumpyArray, "J 3"],
    ) -> None:
        self.weights, self.rest, self.joints = weights, rest, joints
        # Σ_j Σ_c w_ij x̄_ic A_j[:, c] with x̄_i3 = 1: rows over (j, c)
        count, joint_count = weights.shape  # pyright: ignore[reportGeneralTypeIssues]
        ones = np.concatenate([rest, np.ones((count, 1))], axis=1)
        row = np.repeat(np.arange(count), np.diff(weights.indptr))
        values = weights.data[:, None] * ones[row]
        columns = 4 * weights.indices[:, None] + np.arange(4)
        self._matrix = csr_array(
            (values.ravel(), columns.ravel(), 4 * weights.indptr), shape=(count, 4 * joint_count)
        )

    def carriers(
        self, world_from_joint: Float64[NumpyArray, "*batch J 4 4"]
    ) -> Float64[NumpyArray, "*batch n 3"]:
        """where the joints put every point, metres."""
        moved = rest_to_world(world_from_joint, self.joints)[..., :3, :]
        batch = moved.shape[:-3]
        rows = np.moveaxis(moved.reshape(-1, *moved.shape[-3:]), -1, 2)  # k J 4 3
        stacked = np.moveaxis(rows, 0, 2).reshape(4 * moved.shape[-3], -1)
        count = len(self.rest)
        found = (self._matrix @ stacked).reshape(count, len(rows), 3)
        return np.ascontiguousarray(np.moveaxis(found, 1, 0)).reshape(*batch, count, 3)

    def carry(
        self,
        positions: Float64[NumpyArray, "n 3"],
        before: Float64[NumpyArray, "J 4 4"],
        after: Float64[NumpyArray, "J 4 4"],
    ) -> Float64[NumpyArray, "n 3"]:
        """The vertices moved by their joints' movement between two poses that lie close."""
        motion = motions_between(before, after, self.joints)
        each = (self.weights @ motion[:, :3].reshape(-1, 12)).reshape(-1, 3, 4)
        return np.einsum("nij,nj->ni", each[:, :, :3], positions) + each[:, :, 3]
