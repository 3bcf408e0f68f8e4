"""From the sculpted pose to the T-pose, by one fixed and therefore linear map.

The source surface was sculpted with arms half down, elbows bent and legs apart. Bones turn it into
the T-pose by linear blend skinning with the *same* rotations for every shape; only the pivots,
which are themselves linear in the shape, differ. So the map is linear, and the offsets of a shape
target can be sent through it once, instead of the shape through it every time. It can be taken
back, too: any skin of the T-pose has its sculpted pose.
"""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.checks import require_indices
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass

TOLERANCE = 1e-3
"""Of rotations and sums of weights, which files may keep in few bits."""
SHAPES_AT_A_TIME = 32
"""Enough for a matrix product to pay, few enough for the cache."""


@pytree_dataclass()
class Repose:
    """Bones (B) that turn the sculpted pose into the T-pose."""

    rotations: Float[NumpyArray, "B 3 3"]
    """Turn of every bone in the world, the same for all shapes."""
    parents: Int[NumpyArray, "B"]
    """Parent bone; −1 for the first bone, which stays where it is."""
    pivots: Int[NumpyArray, "B"]
    """Joint about which the bone turns."""
    bone_indices: Int[NumpyArray, "V K"]
    """Bones that move a vertex."""
    bone_weights: Float[NumpyArray, "V K"]
    """How much; rows sum to 1."""
    joint_bones: Int[NumpyArray, "J"]
    """Bone that carries a joint centre."""

    def check(self) -> None:
        """Raise `InputError` unless all indices of bones and joints are in range, parents come
        first, and rotations and weights are such."""
        count = len(self.rotations)
        later = self.parents >= np.arange(len(self.parents))
        if (later | (self.parents < -1)).any():
            raise InputError(
                f"repose parents are {self.parents.tolist()}; expected −1, or a bone before."
            )
        turned = self.rotations @ np.swapaxes(self.rotations, 1, 2)
        if not np.allclose(turned, np.eye(3), atol=TOLERANCE):
            raise InputError("repose rotations are not all orthonormal; expected rotations.")
        if not np.allclose(self.bone_weights.sum(axis=1), 1.0, atol=TOLERANCE):
            raise InputError("repose weights of a vertex do not sum to 1; expected shares.")
        require_indices("repose bones", self.bone_indices, count)
        require_indices("repose joint bones", self.joint_bones, count)
        require_indices("repose pivots", self.pivots, len(self.joint_bones))

    def translations(self, joints: Float[NumpyArray, "*S J 3"]) -> Float[NumpyArray, "*S B 3"]:
        """Shift t of every bone, such that it sends x to R x + t; linear in the joints, metres."""
        pivots = joints[..., self.pivots, :]
        shifts = np.empty_like(pivots)
        for bone, parent in enumerate(self.parents):
            pivot = pivots[..., bone, :]
            # c' = R_parent c + t_parent: a pivot is carried by the parent bone
            carried = (
                pivot if parent < 0 else pivot @ self.rotations[parent].T + shifts[..., parent, :]
            )
            shifts[..., bone, :] = carried - pivot @ self.rotations[bone].T
        return shifts

    def joints(self, joints: Float[NumpyArray, "*S J 3"]) -> Float[NumpyArray, "*S J 3"]:
        """Joint centres in the T-pose, metres."""
        shifts = self.translations(joints)[..., self.joint_bones, :]
        return np.einsum("jab,...jb->...ja", self.rotations[self.joint_bones], joints) + shifts

    def vertices(
        self, vertices: Float[NumpyArray, "*S V 3"], joints: Float[NumpyArray, "*S J 3"]
    ) -> Float[NumpyArray, "*S V 3"]:
        """Skin in the T-pose, metres: Σ_b w_vb (R_b x_v + t_b).

        Works on coordinate planes, a few shapes at a time: twice as fast on arrays stored so.
        """
        weights = self.dense_weights().astype(vertices.dtype)
        matrices = np.einsum("vb,bij->ijv", weights, self.rotations).astype(vertices.dtype)
        shapes = vertices.reshape(-1, *vertices.shape[-2:])
        shifts = self.translations(joints).astype(vertices.dtype).reshape(len(shapes), -1, 3)
        reposed = np.empty(shapes.shape, vertices.dtype)
        product = np.empty(matrices.shape[::2], vertices.dtype)
        for start in range(0, len(shapes), SHAPES_AT_A_TIME):
            few = range(start, min(start + SHAPES_AT_A_TIME, len(shapes)))
            rows = shifts[few].swapaxes(1, 2).reshape(3 * len(few), -1)
            carried = (rows @ weights.T).reshape(len(few), 3, -1)
            for shape, moved in zip(few, carried, strict=True):
                # Σ_j A_vij x_vj + Σ_b w_vb t_b; plane by plane, six times as fast as an einsum
                turned = matrices[:, 0] * shapes[shape, :, 0]
                for axis in (1, 2):
                    turned += np.multiply(matrices[:, axis], shapes[shape, :, axis], out=product)
                moved += turned
                reposed[shape] = moved.T
        return reposed.reshape(vertices.shape)

    def sculpted_joints(self, joints: Float[NumpyArray, "J 3"]) -> Float[NumpyArray, "J 3"]:
        """Joint centres in the sculpted pose of those in the T-pose, metres."""
        rotations, shifts = self.rotations[self.joint_bones], self._shifts_to(joints)
        # Rᵀ (x' − t)
        return np.einsum("jba,jb->ja", rotations, joints - shifts[self.joint_bones])

    def sculpted_vertices(
        self, vertices: Float[NumpyArray, "V 3"], joints: Float[NumpyArray, "J 3"]
    ) -> Float[NumpyArray, "V 3"]:
        """Skin in the sculpted pose of that in the T-pose, as are `joints`, metres: the x with
        Σ_b w_vb (R_b x + t_b) = x'."""
        weights = self.dense_weights()
        matrices = np.einsum("vb,bij->vij", weights, self.rotations)
        moved = vertices - weights @ self._shifts_to(joints)
        try:
            return np.linalg.solve(matrices, moved[..., None])[..., 0]
        except np.linalg.LinAlgError as error:
            raise InputError(
                "the repose sends a vertex of any sculpted pose to one place, so that there is no "
                "way back; make the body without a repose, or with smaller turns."
            ) from error

    def sculpted_rotations(self, parents: tuple[int, ...]) -> Float[NumpyArray, "J 3 3"]:
        """World rotation of every joint in the sculpted pose: back by the last bone that turns
        about it, which carries the joints below; with its parent (`parents`) where none does."""
        rotations = np.tile(np.eye(3), (len(parents), 1, 1))
        for joint, parent in enumerate(parents):
            bones = np.flatnonzero(self.pivots == joint)
            if len(bones):
                rotations[joint] = self.rotations[bones[-1]].T
            elif parent >= 0:
                rotations[joint] = rotations[parent]
        return rotations

    def _shifts_to(self, joints: Float[NumpyArray, "J 3"]) -> Float[NumpyArray, "B 3"]:
        """Shift t of every bone of a body whose joint centres in the T-pose are `joints`."""
        shifts = np.empty((len(self.rotations), 3))
        for bone, parent in enumerate(self.parents):
            pivot = carried = joints[self.pivots[bone]]
            if parent >= 0:
                pivot = (carried - shifts[parent]) @ self.rotations[parent]
            shifts[bone] = carried - self.rotations[bone] @ pivot
        return shifts

    def dense_weights(self) -> Float[NumpyArray, "V B"]:
        """The bone weights as a full matrix."""
        matrix = np.zeros((len(self.bone_weights), len(self.rotations)))
        rows = np.arange(len(self.bone_weights))[:, None]
        np.add.at(matrix, (rows, self.bone_indices), self.bone_weights)
        return matrix
