"""Derivatives of posed vertices by the joints' rotations, compiled: only what is not zero.

A vertex is moved by the joints that it has weights of and by their ancestors, some ten of a body's
fifty. The plain form of the same derivative is `jacobians.Blend.by_rotations`.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.linear_model import Blending
from corporeal.runtime.threads import over_slices
from corporeal.skinning.jacobians import joint_motions
from corporeal.skinning.kinematics import KinematicState, descendants


@dataclass(frozen=True)
class SkinSupport:
    """Which joints move a vertex: those with a weight, and the ancestors of these."""

    joints: Int[NumpyArray, "V K"]
    """Joints with a weight, the largest first."""
    weights: Float[NumpyArray, "V K"]
    """Their weights; 0 where a vertex has fewer."""
    ancestors: Int[NumpyArray, "V a"]
    """Joints whose rotation moves the vertex, by index; −1 where there are fewer."""


def skin_support(weights: Float[NumpyArray, "V J"], parents: tuple[int, ...]) -> SkinSupport:
    """The joints that move each vertex, from its weights."""
    most = max(1, int((weights != 0).sum(axis=1).max()))
    order = np.argsort(-weights, axis=1, kind="stable")[:, :most]
    reached = (weights != 0) @ descendants(parents) > 0
    ranked = np.argsort(~reached, axis=1, kind="stable")[:, : int(reached.sum(axis=1).max())]
    held = np.take_along_axis(reached, ranked, axis=1)
    return SkinSupport(
        order.astype(np.int32),
        np.take_along_axis(weights, order, axis=1),
        np.where(held, ranked, -1).astype(np.int32),
    )


def rotation_jacobian(
    blending: Blending,
    support: SkinSupport,
    points: Float[NumpyArray, "N V 3"],
    state: KinematicState,
    parents: tuple[int, ...],
    out: Float[NumpyArray, "N V 3 c 3"] | None = None,
) -> Float[NumpyArray, "N V 3 c 3"]:
    """∂t'_v/∂δ_j in a batch of poses, metres a radian, compiled.

    Sparse: column a of vertex v belongs to joint `support.ancestors[v, a]`, and is 0 where that is
    −1. Given `out`, filled with zeros, column j of every vertex belongs to joint j instead, and
    only what is not zero is written.
    """
    from corporeal.skinning.sparse_jacobians_cpu import dual_rotations, linear_rotations

    dtype, ancestors = points.dtype, support.ancestors
    slots = ancestors
    if out is None:
        slots = np.broadcast_to(np.arange(ancestors.shape[1], dtype=np.int32), ancestors.shape)
        out = np.zeros((*points.shape, ancestors.shape[1], 3), dtype)
    run = linear_rotations if blending == "lbs" else dual_rotations
    motions = joint_motions(blending, state).astype(dtype)
    centres, weights = np.array(state.centres, dtype), support.weights.astype(dtype)
    below, slots, result = descendants(parents) > 0, np.array(slots), out

    def work(first: int, last: int) -> None:
        run(
            points, support.joints, weights, motions, centres, ancestors, slots, below, result,
            first, last,
        )  # fmt: skip

    over_slices(work, len(points))
    return out
