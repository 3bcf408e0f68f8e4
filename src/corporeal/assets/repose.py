"""From the sculpted pose to the T-pose, by one fixed and therefore linear map.

The source surface was sculpted with arms half down, elbows bent and legs apart. Bones turn it into
the T-pose by linear blend skinning with the *same* rotations for every shape; only the pivots, which
are themselves linear in the shape, differ. So the map is linear, and the offsets of a shape target
can be sent through it once, instead of the shape through it every time.
"""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.checks import require_indices
from corporeal.runtime.nouns import noun


@noun()
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
        count = len(self.rotations)
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
            carried = pivot if parent < 0 else pivot @ self.rotations[parent].T + shifts[..., parent, :]
            shifts[..., bone, :] = carried - pivot @ self.rotations[bone].T
        return shifts

    def joints(self, joints: Float[NumpyArray, "*S J 3"]) -> Float[NumpyArray, "*S J 3"]:
        """Joint centres in the T-pose, metres."""
        shifts = self.translations(joints)[..., self.joint_bones, :]
        return np.einsum("jab,...jb->...ja", self.rotations[self.joint_bones], joints) + shifts

    def vertices(
        self, vertices: Float[NumpyArray, "*S V 3"], joints: Float[NumpyArray, "*S J 3"]
    ) -> Float[NumpyArray, "*S V 3"]:
        """Skin in the T-pose, metres: Σ_b w_vb (R_b x_v + t_b)."""
        weights = self.dense_weights().astype(vertices.dtype)
        shifts = self.translations(joints).astype(vertices.dtype)
        turned = vertices + np.matmul(weights, shifts)
        matrices = np.einsum("vb,bij->vij", weights, self.rotations - np.eye(3)).astype(vertices.dtype)
        moving = np.flatnonzero(np.abs(matrices).max(axis=(1, 2)) > 0)
        # Σ_j (A − I)_vij x_vj, added where A differs from the identity
        turned[..., moving, :] += np.einsum("vij,...vj->...vi", matrices[moving], vertices[..., moving, :])
        return turned

    def dense_weights(self) -> Float[NumpyArray, "V B"]:
        """The bone weights as a full matrix."""
        matrix = np.zeros((len(self.bone_weights), len(self.rotations)))
        rows = np.arange(len(self.bone_weights))[:, None]
        np.add.at(matrix, (rows, self.bone_indices), self.bone_weights)
        return matrix
