"""Which triangle is seen at every sample of a picture.

Triangles are drawn in homogeneous coordinates (Olano and Greer 1997): with corners p₀, p₁, p₂ as
(column·w, row·w, w), the sample s = (column, row, 1) lies inside when all of β₀ = s·(p₁×p₂)/D,
β₁ = s·(p₂×p₀)/D, β₂ = s·(p₀×p₁)/D are at least 0, D = p₀·(p₁×p₂), and Σβ is 1/w there. So no
triangle is ever clipped, and the two triangles at an edge test the same numbers: no gaps.
"""

import numpy as np

from corporeal.runtime.kernels import kernel
from corporeal.scene.textures_cpu import opacity_at


@kernel()
def sample_boxes(corners, triangles, near, width, height, boxes):
    """Fill `boxes` (F 4) with first and last column and row; empty when nothing can be seen."""
    for t in range(triangles.shape[0]):
        left, right, top, bottom = 1e30, -1e30, 1e30, -1e30
        behind = 0
        for k in range(3):
            i = triangles[t, k]
            w = corners[i, 2]
            if w <= near:
                behind += 1
                continue
            x, y = corners[i, 0] / w, corners[i, 1] / w
            left, right = min(left, x), max(right, x)
            top, bottom = min(top, y), max(bottom, y)
        if behind == 3:
            boxes[t, 0], boxes[t, 1], boxes[t, 2], boxes[t, 3] = 0, -1, 0, -1
        elif behind > 0:
            boxes[t, 0], boxes[t, 1], boxes[t, 2], boxes[t, 3] = 0, width - 1, 0, height - 1
        else:
            boxes[t, 0] = int(min(max(np.ceil(left - 0.5), 0.0), width))
            boxes[t, 1] = int(max(min(np.floor(right - 0.5), width - 1.0), -1.0))
            boxes[t, 2] = int(min(max(np.ceil(top - 0.5), 0.0), height))
            boxes[t, 3] = int(max(min(np.floor(bottom - 0.5), height - 1.0), -1.0))


@kernel()
def cover(
    corners, triangles, boxes, near, first_row, cut, levels, attributes, texels, table, seen,
    inverse_depth,
):  # fmt: skip
    """Draw all triangles into one band of sample rows that starts at `first_row`.

    `seen` (h w) gets the triangle in front, −1 for none; `inverse_depth` (h w) its 1/w, 1/metres.
    `cut` (F) is the picture whose opacity cuts holes into a triangle, −1 for none.
    """
    seen[:] = -1
    inverse_depth[:] = 0.0
    last_row = first_row + seen.shape[0] - 1
    nearest = 1.0 / near
    for t in range(triangles.shape[0]):
        if boxes[t, 3] < first_row or boxes[t, 2] > last_row or boxes[t, 0] > boxes[t, 1]:
            continue
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        xi, yi, wi = corners[i, 0], corners[i, 1], corners[i, 2]
        xj, yj, wj = corners[j, 0], corners[j, 1], corners[j, 2]
        xk, yk, wk = corners[k, 0], corners[k, 1], corners[k, 2]
        a0, b0, c0 = yj * wk - wj * yk, wj * xk - xj * wk, xj * yk - yj * xk
        a1, b1, c1 = yk * wi - wk * yi, wk * xi - xk * wi, xk * yi - yk * xi
        a2, b2, c2 = yi * wj - wi * yj, wi * xj - xi * wj, xi * yj - yi * xj
        volume = xi * a0 + yi * b0 + wi * c0
        if volume == 0.0:
            continue
        sign = 1.0 if volume > 0.0 else -1.0
        scale = 1.0 / volume
        for row in range(max(boxes[t, 2], first_row), min(boxes[t, 3], last_row) + 1):
            y = row + 0.5
            r0, r1, r2 = b0 * y + c0, b1 * y + c1, b2 * y + c2
            for column in range(boxes[t, 0], boxes[t, 1] + 1):
                x = column + 0.5
                e0, e1, e2 = a0 * x + r0, a1 * x + r1, a2 * x + r2
                if e0 * sign >= 0.0 and e1 * sign >= 0.0 and e2 * sign >= 0.0:
                    depth = (e0 + e1 + e2) * scale
                    if inverse_depth[row - first_row, column] < depth <= nearest:
                        if cut[t] >= 0:
                            share = 1.0 / (e0 + e1 + e2)
                            u = attributes[i, 11] * e0 + attributes[j, 11] * e1
                            v = attributes[i, 12] * e0 + attributes[j, 12] * e1
                            u = (u + attributes[k, 11] * e2) * share
                            v = (v + attributes[k, 12] * e2) * share
                            if opacity_at(texels, table, cut[t], levels[t], u, v) < 128:
                                continue
                        inverse_depth[row - first_row, column] = depth
                        seen[row - first_row, column] = t
