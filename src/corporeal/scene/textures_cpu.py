"""Reading texels: bilinear, by level."""

import math

from corporeal.runtime.kernels import kernel


@kernel()
def texel_at(texels, table, n, level, u, v, out):
    """Fill `out` (7) with red, green, blue, opacity, normal x and y, roughness, each 0 to 255, of
    picture `n` at u to the right and v down."""
    first, width, height = table[n, 3 * level], table[n, 3 * level + 1], table[n, 3 * level + 2]
    x = min(max(u * width - 0.5, 0.0), width - 1.0)
    y = min(max(v * height - 0.5, 0.0), height - 1.0)
    i, j = int(x), int(y)
    right, below = min(i + 1, width - 1), min(j + 1, height - 1)
    fx, fy = x - i, y - j
    a, b = first + j * width + i, first + j * width + right
    c, d = first + below * width + i, first + below * width + right
    wa, wb = (1.0 - fx) * (1.0 - fy), fx * (1.0 - fy)
    wc, wd = (1.0 - fx) * fy, fx * fy
    for k in range(7):
        out[k] = wa * texels[a, k] + wb * texels[b, k] + wc * texels[c, k] + wd * texels[d, k]


@kernel()
def opacity_at(texels, table, n, level, u, v):
    """Opacity, 0 to 255, of picture `n`, bilinear: cut edges are curves, not texels."""
    first, width, height = table[n, 3 * level], table[n, 3 * level + 1], table[n, 3 * level + 2]
    x = min(max(u * width - 0.5, 0.0), width - 1.0)
    y = min(max(v * height - 0.5, 0.0), height - 1.0)
    i, j = int(x), int(y)
    right, below = min(i + 1, width - 1), min(j + 1, height - 1)
    fx, fy = x - i, y - j
    above = (1.0 - fx) * texels[first + j * width + i, 3]
    above += fx * texels[first + j * width + right, 3]
    under = (1.0 - fx) * texels[first + below * width + i, 3]
    under += fx * texels[first + below * width + right, 3]
    return (1.0 - fy) * above + fy * under


@kernel()
def lay_frames(corners, attributes, triangles, pictures, table, count, frames, levels):
    """Fill `frames` (F 6) and `levels` (F) of triangles with a picture; columns 11 and 12 of the
    attributes are u, and v downwards."""
    for t in range(triangles.shape[0]):
        n = pictures[t]
        if n < 0:
            continue
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        a, b = attributes[j, 11] - attributes[i, 11], attributes[j, 12] - attributes[i, 12]
        c, d = attributes[k, 11] - attributes[i, 11], attributes[k, 12] - attributes[i, 12]
        flat = a * d - b * c
        side = -1.0 if flat < 0.0 else 1.0
        along, up = 0.0, 0.0
        for x in range(3):
            edge = attributes[j, x] - attributes[i, x]
            other = attributes[k, x] - attributes[i, x]
            frames[t, x] = (d * edge - b * other) * side
            frames[t, 3 + x] = (c * edge - a * other) * side
            along += frames[t, x] * frames[t, x]
            up += frames[t, 3 + x] * frames[t, 3 + x]
        along, up = 1.0 / max(math.sqrt(along), 1e-20), 1.0 / max(math.sqrt(up), 1e-20)
        for x in range(3):
            frames[t, x] *= along
            frames[t, 3 + x] *= up
        wi, wj, wk = max(corners[i, 2], 1e-6), max(corners[j, 2], 1e-6), max(corners[k, 2], 1e-6)
        xi, yi = corners[i, 0] / wi, corners[i, 1] / wi
        xj, yj = corners[j, 0] / wj - xi, corners[j, 1] / wj - yi
        xk, yk = corners[k, 0] / wk - xi, corners[k, 1] / wk - yi
        seen = max(abs(xj * yk - yj * xk), 2e-3)
        texels = max(abs(flat) * table[n, 1] * table[n, 2], 1e-12)
        level = math.floor(0.5 * math.log2(texels / seen) + 0.35)
        levels[t] = min(max(level, 0), count - 1)
