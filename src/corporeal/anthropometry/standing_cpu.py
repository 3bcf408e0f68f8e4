"""Compiled: gradients by standing points carried back to skin and joints of the zero pose."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def pull_back(entries, columns, starts, blended, joint_indices, joint_weights, joint_count, tips):
    """Rows of a sparse gradient by points (skin, joints, fingertips), by what the points depend on.

    A standing vertex is x' = B_v x + Σ_j w_vj s_j, so that ∂/∂x = B_vᵀ g and ∂/∂s_j = Σ_v w_vj g_v;
    joints and fingertips are handed on. Gives the sparse rows by skin (three entries a point), and
    dense gradients by shifts s, standing joints and fingertips.
    """
    readings, vertex_count = len(starts) - 1, len(blended)
    by_shift = np.zeros((readings, joint_count, 3))
    by_place = np.zeros((readings, joint_count, 3))
    by_tip = np.zeros((readings, len(tips), 3))
    found = np.zeros((len(entries), 3))
    where = np.empty(len(entries), np.int64)
    ends = np.zeros(readings + 1, np.int64)
    count = 0
    for r in range(readings):
        for i in range(starts[r], starts[r + 1]):
            point, k, g = columns[i] // 3, columns[i] % 3, entries[i]
            if vertex_count <= point < vertex_count + joint_count:
                by_place[r, point - vertex_count, k] += g
                continue
            tip = point - vertex_count - joint_count
            vertex = tips[tip] if tip >= 0 else point
            if count == ends[r] or where[count - 1] != vertex:
                where[count] = vertex
                count += 1
            if tip >= 0:
                by_tip[r, tip, k] += g
                found[count - 1, k] += g
                continue
            for c in range(3):
                found[count - 1, c] += blended[point, k, c] * g
            for m in range(joint_indices.shape[1]):
                by_shift[r, joint_indices[point, m], k] += joint_weights[point, m] * g
        ends[r + 1] = count
    return found[:count], where[:count], ends, by_shift, by_place, by_tip
