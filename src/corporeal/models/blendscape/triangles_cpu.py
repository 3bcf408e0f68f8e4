"""Compiled: the edges of deformed and turned triangles (`DeformedTriangles.edges`), in one go."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def turned_edges(
    world, turns, joints, weights, pose_joints, pose_deformations, template_edges, total, edges
):
    """v_t,e = (Σ_k w_tk R_k) T_t (I + Σ_jc θ_jc C_tjc) v̂_t,e into `edges`, F × 2 × 3; the root's
    own turn deforms nothing."""
    bent, blended, shaped = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for t in range(len(template_edges)):
        for a in range(3):
            for b in range(3):
                bent[a, b] = 1.0 if a == b else 0.0
                blended[a, b] = 0.0
        for j in range(pose_joints.shape[1]):
            joint = pose_joints[t, j]
            for c in range(3):
                angle = 0.0 if joint == 0 else np.float64(turns[joint, c])
                if angle == 0.0:
                    continue
                for a in range(3):
                    for b in range(3):
                        bent[a, b] += angle * pose_deformations[t, j, c, a, b]
        for k in range(joints.shape[1]):
            weight = np.float64(weights[t, k])
            if weight == 0.0:
                continue
            for a in range(3):
                for b in range(3):
                    blended[a, b] += weight * world[joints[t, k], a, b]
        for a in range(3):
            for b in range(3):
                shaped[a, b] = 0.0
                for k in range(3):
                    shaped[a, b] += blended[a, k] * total[t, k, b]
        for e in range(2):
            x = y = z = 0.0
            for k in range(3):
                edge = template_edges[t, k, e]
                x += bent[0, k] * edge
                y += bent[1, k] * edge
                z += bent[2, k] * edge
            for a in range(3):
                edges[t, e, a] = shaped[a, 0] * x + shaped[a, 1] * y + shaped[a, 2] * z
