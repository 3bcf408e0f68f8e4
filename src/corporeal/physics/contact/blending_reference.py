"""Where bones alone would put the skin, and how far they disagree about it.

Skin goes with the bone that it is nearest to; around joints, within about as far as flesh is thick,
neighbouring bones share it. The rest pose is its own reference to within rounding; beside a bent
joint flesh may be elsewhere without any contact, by up to some of what the bones disagree.
"""

import numpy as np
from scipy.sparse import csr_array, diags_array, eye_array

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.geometry.surface import vertex_adjacency
from corporeal.skinning.kinematics import rest_to_world

CARRIERS = 4
"""Joints that a vertex goes with at most."""
_SPREAD = 2.0
"""Rounds of averaging over neighbours for the square of the flesh's mean thickness in edges."""


class BlendingReference:
    """The undeformed skin of one body, for any pose."""

    def __init__(
        self,
        rest: Float64[NumpyArray, "V 3"],
        triangles: Int[NumpyArray, "F 3"],
        joints: Float64[NumpyArray, "J 3"],
        owners: Int[NumpyArray, "V"],
        thickness: float,
    ) -> None:
        """`owners` are the joints whose bones vertices are nearest to; `thickness` is the mean
        distance to them in mean edges."""
        self._rest, self.joints = rest, joints
        near = vertex_adjacency(triangles, len(rest)).astype(np.float64) + eye_array(len(rest))
        mean = diags_array(1.0 / near.sum(axis=1)) @ near
        shares = csr_array((np.ones(len(rest)), (np.arange(len(rest)), owners)))
        shares = shares.toarray()
        for _ in range(int(np.ceil(_SPREAD * thickness**2))):
            shares = mean @ shares
        most = np.argsort(-shares, axis=1, kind="stable")[:, :CARRIERS]
        chosen = np.take_along_axis(shares, most, axis=1)
        self.carriers = np.ascontiguousarray(most)
        """Joints that every vertex goes with."""
        self.shares = chosen / chosen.sum(axis=1, keepdims=True)
        """And how much with each."""

    def at(
        self, world_from_joint: Float64[NumpyArray, "J 4 4"]
    ) -> tuple[Float64[NumpyArray, "V 3"], Float64[NumpyArray, "V"]]:
        """Blending reference positions of the skin, and the mean distance of its carriers'
        opinions, metres."""
        return self.moved(self.moves(world_from_joint))

    def moves(self, world_from_joint: Float64[NumpyArray, "J 4 4"]) -> Float64[NumpyArray, "J 4 4"]:
        """How joints take what they carry from the rest pose to a pose."""
        return np.ascontiguousarray(rest_to_world(world_from_joint, self.joints))

    def moved(
        self, moves: Float64[NumpyArray, "J 4 4"]
    ) -> tuple[Float64[NumpyArray, "V 3"], Float64[NumpyArray, "V"]]:
        """`at` a pose that the joints' `moves` lead to."""
        from corporeal.physics.contact.cpu.release import blend

        return blend(self._rest, self.carriers, self.shares, moves)

    def moved_apart(
        self,
        points: Float64[NumpyArray, "C 3"],
        corners: Int[NumpyArray, "C 4"],
        coefficients: Float64[NumpyArray, "C 4"],
        moves: Float64[NumpyArray, "J 4 4"],
    ) -> Float64[NumpyArray, "C"]:
        """Metres between where the carriers of both sides of a pair take one point.

        `corners` are vertices of both sides, with `coefficients` that sum to 1 on one and to −1 on
        the other; `moves` are how joints take what they carry. What moves as one, moves nothing
        apart.
        """
        blended = np.einsum("cvk,cvkij->cvij", self.shares[corners], moves[self.carriers[corners]])
        between = np.einsum("cv,cvij->cij", coefficients, blended)
        away = np.einsum("cij,cj->ci", between[:, :3, :3], points) + between[:, :3, 3]
        return np.linalg.norm(away, axis=1)
