"""Reading texels: bilinear, by level."""

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
    """Opacity, 0 to 255, of the nearest texel of picture `n`."""
    first, width, height = table[n, 3 * level], table[n, 3 * level + 1], table[n, 3 * level + 2]
    i = min(max(int(u * width), 0), width - 1)
    j = min(max(int(v * height), 0), height - 1)
    return texels[first + j * width + i, 3]
