"""The posture in which bodies are measured, and the points that are read there.

One fixed set of joint rotations takes the T-pose to a standing A-pose by linear blend skinning. For
fixed rotations that map is linear in (skin, joints),

    x'_v = Σ_j w_vj R_j x_v + Σ_j w_vj (p_j − R_j x_j),

where p_j are the posed joints; so sending a shape target through it gives the exact change of every
standing point.
"""

from functools import lru_cache
from typing import Final

import numpy as np
from scipy.linalg import block_diag
from scipy.sparse import bsr_array, csr_array, kron

from corporeal._typing import Float, NumpyArray
from corporeal.anthropometry.landmarks import FINGERTIPS
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.skinning.kinematics import forward_kinematics
from corporeal.skinning.linear import blend_linear

COLLAR_DROP_DEG: Final = 12.0
"""The T-pose raises the collar bones by this much; standing lowers them again."""
SHOULDER_DROP_DEG: Final = 60.0
"""Further drop of the arms: they end about 18° away from the vertical."""

REACH_RETRACTION_DEG: Final = 34.0
"""Arms stretched sideways draw the collar bones back by so much, which the T-pose does not: found
from the spans of people whose arms and shoulders have the body's lengths."""


def standing_pose(template: Template) -> Pose:
    """The A-pose: collars and arms lowered, all else as in the zero pose."""
    rotations = np.zeros((template.skeleton.joint_count, 3))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        collar = template.skeleton.index(f"{side}_collar")
        shoulder = template.skeleton.index(f"{side}_shoulder")
        rotations[collar, 2] = -sign * np.radians(COLLAR_DROP_DEG)
        rotations[shoulder, 2] = -sign * np.radians(SHOULDER_DROP_DEG)
    return Pose(rotations, np.zeros(3))


class StandingMap:
    """The linear map from zero-pose skin and joints to the points that are read.

    Points: standing skin (V), standing joints (J), both fingertips of arms stretched sideways (2):
    the T-pose with the collar bones drawn back, the arms still along x. Its sparse
    factors are constant for a template: skin by skin (3V × 3V, 3×3 blocks), skin by joint shifts
    (3V × 3J), and two dense ones, 3J × 3J.
    """

    def __init__(self, template: Template) -> None:
        weights = template.weights
        self.vertex_count, self.joint_count = len(weights.values), weights.joint_count
        rotations = standing_pose(template).joint_rotations
        parents = template.skeleton.parents

        def frames(joints: Float[NumpyArray, "*batch J 3"]) -> Float[NumpyArray, "*batch J 4 4"]:
            turned = np.broadcast_to(rotations, joints.shape)
            return forward_kinematics(turned, joints, parents, np.zeros((*joints.shape[:-2], 3)))

        at_origin = frames(np.zeros((self.joint_count, 3)))
        rotation_vectors = at_origin[:, :3, :3]
        blended = blend_linear(at_origin, weights.dense().astype(np.float64))[..., :3]
        self._blended = np.ascontiguousarray(blended)
        self._weights = (weights.joint_indices, weights.values.astype(np.float64))
        diagonal = np.arange(self.vertex_count + 1)
        self._skin_by_skin = bsr_array((blended, diagonal[:-1], diagonal)).tocsr()
        self._skin_by_shift = kron(csr_array(weights.dense().astype(np.float64)), np.eye(3), "csr")
        units = np.eye(3 * self.joint_count).reshape(-1, self.joint_count, 3)
        # p = P x, one column a joint coordinate; shifts p_j − R_j x_j
        self._placed = frames(units)[..., :3, 3].reshape(3 * self.joint_count, -1).T
        self._shifted = self._placed - block_diag(*rotation_vectors)
        self._reach = _retraction(template)

    def __call__(
        self, rest_vertices: Float[NumpyArray, "V 3"], joints: Float[NumpyArray, "J 3"]
    ) -> Float[NumpyArray, "P 3"]:
        """Points of a shape, or changes of points of a target, metres."""
        if len(rest_vertices) != self.vertex_count or len(joints) != self.joint_count:
            raise InputError(
                f"body has {len(rest_vertices)} vertices and {len(joints)} joints; measuring "
                f"expects {self.vertex_count} and {self.joint_count}, those of the default body, "
                f"whose landmarks it knows."
            )
        flat = joints.reshape(-1)
        skin = self._skin_by_skin @ rest_vertices.reshape(-1)
        skin += self._skin_by_shift @ (self._shifted @ flat)
        tips = rest_vertices[list(FINGERTIPS)].reshape(-1) + self._reach @ flat
        return np.concatenate([skin, self._placed @ flat, tips]).reshape(-1, 3)

    def pull_back(self, gradients: csr_array) -> tuple[csr_array, Float[NumpyArray, "M m"]]:
        """Carry gradients by points (M × 3P) back to vertices (M × 3V) and joints (M × 3J)."""
        from corporeal.anthropometry import standing_cpu

        found, where, ends, *dense = standing_cpu.pull_back(
            gradients.data.astype(np.float64, copy=False),
            gradients.indices,
            gradients.indptr,
            self._blended,
            *self._weights,
            self.joint_count,
            np.array(FINGERTIPS),
        )
        by_shift, by_place, by_tip = (part.reshape(len(part), -1) for part in dense)
        columns = (3 * where[:, None] + np.arange(3)).reshape(-1)
        shape = (len(ends) - 1, 3 * self.vertex_count)
        by_skin = csr_array((found.reshape(-1), columns, 3 * ends), shape=shape)
        by_joint = by_shift @ self._shifted + by_place @ self._placed + by_tip @ self._reach
        return by_skin, by_joint


def _retraction(template: Template) -> Float[NumpyArray, "six m"]:
    """Shift of the right and left arm by the joints: (R − I)(x_shoulder − x_collar), 6 × 3J."""
    shift = np.zeros((2, 3, template.skeleton.joint_count, 3))
    for row, (side, sign) in enumerate((("right", 1.0), ("left", -1.0))):
        angle = -sign * np.radians(REACH_RETRACTION_DEG)
        turn = matrix_from_axis_angle(np.array([0.0, angle, 0.0])) - np.eye(3)
        shift[row, :, template.skeleton.index(f"{side}_shoulder")] = turn
        shift[row, :, template.skeleton.index(f"{side}_collar")] = -turn
    return shift.reshape(6, -1)


@lru_cache(maxsize=4)
def standing_map(template: Template) -> StandingMap:
    """The map of a template, found once."""
    return StandingMap(template)
