"""How much of the sky and of each softbox every vertex, and every spot of the ground, can see.

For every light direction the body is drawn once, flat, as two depth maps: the surface nearest to
the light and the surface furthest from it, which is nearest to a light on the other side.

Groups: 0 the sky, whose directions count for both of their ends; 1 key; 2 rim. What is seen has the
columns sky, sky's weight, key, rim. The kernels are called one by one: one that held the others
would take as long to compile as all of them.
"""

import numpy as np

from corporeal.runtime.kernels import kernel

EMPTY = np.float32(1e9)
MARGIN = np.float32(2.0)
"""Empty texels around the body."""
LIFT = np.float32(1.2)
"""How far off its surface a vertex looks from, texels: less, and it would shade itself."""


@kernel(fastmath=True)
def draw_depths(place, triangles, highest, lowest):
    """Flat depth maps of triangles; `place` (V 3) holds column, row and height to the light."""
    highest[:] = -EMPTY
    lowest[:] = EMPTY
    rows, columns = highest.shape
    for t in range(triangles.shape[0]):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        xi, yi, zi = place[i, 0], place[i, 1], place[i, 2]
        ux, uy, uz = place[j, 0] - xi, place[j, 1] - yi, place[j, 2] - zi
        vx, vy, vz = place[k, 0] - xi, place[k, 1] - yi, place[k, 2] - zi
        left = int(np.ceil(xi + min(min(ux, vx), np.float32(0.0))))
        right = int(np.floor(xi + max(max(ux, vx), np.float32(0.0))))
        top = int(np.ceil(yi + min(min(uy, vy), np.float32(0.0))))
        bottom = int(np.floor(yi + max(max(uy, vy), np.float32(0.0))))
        area = ux * vy - uy * vx
        if left > right or top > bottom or area == 0.0:
            continue
        inverse = np.float32(1.0) / area
        for row in range(max(top, 0), min(bottom, rows - 1) + 1):
            for column in range(max(left, 0), min(right, columns - 1) + 1):
                x, y = np.float32(column) - xi, np.float32(row) - yi
                b = (x * vy - y * vx) * inverse
                c = (ux * y - uy * x) * inverse
                if b >= 0.0 and c >= 0.0 and b + c <= 1.0:
                    z = zi + b * uz + c * vz
                    if z > highest[row, column]:
                        highest[row, column] = z
                    if z < lowest[row, column]:
                        lowest[row, column] = z


@kernel(fastmath=True)
def _lit(depths, x, y, z, steepness):
    """Part, 0 to 1, of a texel-wide patch at (x, y) and height z that a map does not cover.

    `steepness`, 1/metres, is how fast a patch is buried below the map; negative below `lowest`.
    """
    column, row = int(np.floor(x)), int(np.floor(y))
    if column < 0 or row < 0 or column + 1 >= depths.shape[1] or row + 1 >= depths.shape[0]:
        return np.float32(1.0)
    one, zero = np.float32(1.0), np.float32(0.0)
    fx, fy = np.float32(x - column), np.float32(y - row)
    a = min(max(one + steepness * (z - depths[row, column]), zero), one)
    b = min(max(one + steepness * (z - depths[row, column + 1]), zero), one)
    c = min(max(one + steepness * (z - depths[row + 1, column]), zero), one)
    d = min(max(one + steepness * (z - depths[row + 1, column + 1]), zero), one)
    upper, lower = a + fx * (b - a), c + fx * (d - c)
    return upper + fy * (lower - upper)


@kernel(fastmath=True)
def lay_out(points, axes, size, place):
    """Fill `place` (V 3) with column, row and height to the light; gives back the map's frame.

    The frame is left, top (metres along the first two axes) and the size of a texel, metres.
    """
    left, right, top, bottom = EMPTY, -EMPTY, EMPTY, -EMPTY
    for i in range(points.shape[0]):
        for k in range(3):
            place[i, k] = (
                axes[k, 0] * points[i, 0] + axes[k, 1] * points[i, 1] + axes[k, 2] * points[i, 2]
            )
        left, right = min(left, place[i, 0]), max(right, place[i, 0])
        top, bottom = min(top, place[i, 1]), max(bottom, place[i, 1])
    texel = max(max(right - left, bottom - top), np.float32(1e-6)) / np.float32(size - 5)
    for i in range(points.shape[0]):
        place[i, 0] = (place[i, 0] - left) / texel + MARGIN
        place[i, 1] = (place[i, 1] - top) / texel + MARGIN
    return left, top, texel


@kernel(fastmath=True)
def light_points(place, normals, axes, texel, group, weight, highest, lowest, seen):
    """Add one direction to what every vertex sees (V 4), from a little above the surface."""
    width = np.float32(texel)
    steep = np.float32(1.0) / width
    for i in range(place.shape[0]):
        x, y, z = place[i, 0], place[i, 1], place[i, 2]
        along = np.float32(0.0)
        for k in range(3):
            rise = LIFT * normals[i, k]
            x += axes[0, k] * rise
            y += axes[1, k] * rise
            z += axes[2, k] * rise * width
            along += axes[2, k] * normals[i, k]
        if group > 0:
            seen[i, group + 1] += weight * _lit(highest, x, y, z, steep)
        elif along > 0.0:
            seen[i, 0] += weight * along * _lit(highest, x, y, z, steep)
            seen[i, 1] += weight * along
        else:
            seen[i, 0] -= weight * along * _lit(lowest, x, y, z, -steep)
            seen[i, 1] -= weight * along


@kernel(fastmath=True)
def light_ground(grid, axes, frame, group, weight, highest, seen):
    """Add one direction to what every spot of the ground sees (g g 4).

    `grid` is x₀, z₀, cell size and height of the ground, metres.
    """
    left, top = np.float32(frame[0]), np.float32(frame[1])
    steep = np.float32(1.0) / np.float32(frame[2])
    for row in range(seen.shape[0]):
        pz = grid[1] + np.float32(row) * grid[2]
        for column in range(seen.shape[1]):
            px = grid[0] + np.float32(column) * grid[2]
            x = axes[0, 0] * px + axes[0, 1] * grid[3] + axes[0, 2] * pz
            y = axes[1, 0] * px + axes[1, 1] * grid[3] + axes[1, 2] * pz
            z = axes[2, 0] * px + axes[2, 1] * grid[3] + axes[2, 2] * pz
            x, y = (x - left) * steep + MARGIN, (y - top) * steep + MARGIN
            lit = weight * _lit(highest, x, y, z, steep)
            if group > 0:
                seen[row, column, group + 1] += lit
            else:
                seen[row, column, 0] += axes[2, 1] * lit
                seen[row, column, 1] += axes[2, 1] * weight
