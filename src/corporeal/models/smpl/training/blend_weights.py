"""Blend weights W, given poses, subjects and pose blend shapes.

The skin is linear in the weights, t'_v = Σ_k w_vk A_k x_v, and with Σ_k w_vk = 1 the residual is
Σ_k w_vk (A_k x_v − t_v), so every vertex is a small problem of its own,

    min_w  Σ_n ‖Σ_k w_k d_nk‖² + λ_W ‖w − w_I‖²,   w ≥ 0,  Σ w = 1,  at most four above 0,

with d_nk = A_k x_v − t_v (for dual quaternions, linearised about the weights so far), over the few
joints that the initial weights name. All sets of four are solved at once by their
Lagrange conditions, and the best one without a negative weight is taken.
"""

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes, walk
from corporeal.numerics.simplex import least_on_simplex
from corporeal.runtime.threads import over_slices
from corporeal.skinning.gradients import influences_of
from corporeal.skinning.jacobians import joint_motions

INFLUENCES = 4
"""Joints a vertex may follow."""
CANDIDATES = 6
"""Joints a vertex may choose from: the largest of its diffused initial weights."""


def candidate_joints(diffused: Float[NumpyArray, "V J"]) -> Int[NumpyArray, "V c"]:
    """The joints that each vertex may follow, the most likely first."""
    return np.argsort(-diffused, axis=1, kind="stable")[:, :CANDIDATES]


def solved_weights(
    meshes: PosedMeshes,
    estimate: Estimate,
    candidates: Int[NumpyArray, "V c"],
    initial: Float[NumpyArray, "V J"],
    strength: float,
) -> Float64[NumpyArray, "V J"]:
    """The best weights; `strength` is λ_W, m² for a weight that is wrong by one."""
    products = _products(meshes, estimate, candidates)
    start = np.take_along_axis(initial, candidates, axis=1)
    products += strength * np.eye(candidates.shape[1])
    chosen = least_on_simplex(products, strength * start, INFLUENCES)
    weights = np.zeros_like(initial, np.float64)
    np.put_along_axis(weights, candidates, chosen, axis=1)
    return weights


def _products(
    meshes: PosedMeshes, estimate: Estimate, candidates: Int[NumpyArray, "V c"]
) -> Float64[NumpyArray, "V c c"]:
    """Σ_n d_nkᵀ d_nl of every vertex."""
    from corporeal.models.smpl.training import terms_cpu

    vertex_count, count = candidates.shape
    products = np.zeros((vertex_count, count, count))
    influences = influences_of(estimate.weights)
    values = influences.values.astype(np.float64)
    now = np.take_along_axis(estimate.weights, candidates, axis=1)
    for some in walk(meshes, estimate):
        targets, motions = some.targets, joint_motions(estimate.blending, some.tree)

        def work(
            first: int,
            last: int,
            points: NumpyArray = some.points,
            motions: NumpyArray = motions,
            targets: NumpyArray = targets,
        ) -> None:
            if estimate.blending == "lbs":
                terms_cpu.linear_weight_products(
                    points, candidates, motions, targets, products, first, last
                )
                return
            terms_cpu.dual_weight_products(
                points, influences.joint_indices, values, candidates, now, motions, targets,
                products, first, last,
            )  # fmt: skip

        over_slices(work, vertex_count, 256)
    upper = np.triu(np.ones((count, count), bool), 1)
    return products + np.swapaxes(np.where(upper, products, 0.0), 1, 2)
