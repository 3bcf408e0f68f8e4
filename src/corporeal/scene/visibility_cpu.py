"""How much of the sky and of each softbox every vertex, and every spot of the ground, can see.

For every light direction the body is drawn once, flat, as two depth maps: the surface nearest to
the light and the surface furthest from it, which is nearest to a light on the other side.
"""

import numpy as np

from corporeal.runtime.kernels import kernel

EMPTY = np.float32(1e9)


@kernel()
def _draw_depths(place, triangles, highest, lowest):
    """Flat depth maps of triangles; `place` (V 3) holds column, row and height to the light."""
    highest[:] = -EMPTY
    lowest[:] = EMPTY
    rows, columns = highest.shape
    for t in range(triangles.shape[0]):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        xi, yi, zi = place[i, 0], place[i, 1], place[i, 2]
        ux, uy, uz = place[j, 0] - xi, place[j, 1] - yi, place[j, 2] - zi
        vx, vy, vz = place[k, 0] - xi, place[k, 1] - yi, place[k, 2] - zi
        area = ux * vy - uy * vx
        if area == 0.0:
            continue
        left = int(np.ceil(xi + min(min(ux, vx), 0.0)))
        right = int(np.floor(xi + max(max(ux, vx), 0.0)))
        top = int(np.ceil(yi + min(min(uy, vy), 0.0)))
        bottom = int(np.floor(yi + max(max(uy, vy), 0.0)))
        if left > right or top > bottom:
            continue
        inverse = 1.0 / area
        for row in range(max(top, 0), min(bottom, rows - 1) + 1):
            for column in range(max(left, 0), min(right, columns - 1) + 1):
                x, y = column - xi, row - yi
                b = (x * vy - y * vx) * inverse
                c = (ux * y - uy * x) * inverse
                if b >= 0.0 and c >= 0.0 and b + c <= 1.0:
                    z = zi + b * uz + c * vz
                    if z > highest[row, column]:
                        highest[row, column] = z
                    if z < lowest[row, column]:
                        lowest[row, column] = z


@kernel()
def _lit(depths, x, y, z, side, softness):
    """Part, 0 to 1, of a texel-wide patch at (x, y) and height z that a map does not cover."""
    column, row = int(np.floor(x)), int(np.floor(y))
    if column < 0 or row < 0 or column + 1 >= depths.shape[1] or row + 1 >= depths.shape[0]:
        return 1.0
    fx, fy = x - column, y - row
    total = 0.0
    for dy in range(2):
        for dx in range(2):
            weight = (fx if dx else 1.0 - fx) * (fy if dy else 1.0 - fy)
            clear = 1.0 + side * (z - depths[row + dy, column + dx]) / softness
            total += weight * min(max(clear, 0.0), 1.0)
    return total


@kernel()
def accumulate(points, normals, triangles, frames, groups, grid, seen_points, seen_ground):
    """Add what `points` and the ground see of the directions `frames` (n 3 3, last row to light).

    `groups` (n 2) holds a direction's group (0 the sky, lit from both ends; 1 key, 2 rim) and its
    weight. `seen_points` (V 4) gets sky, sky's weight, key, rim; `seen_ground` (g g 4) likewise.
    `grid` is x₀, z₀, cell size and height of the ground, metres, and the depth maps' size.
    """
    size = int(grid[4])
    highest = np.empty((size, size), np.float32)
    lowest = np.empty((size, size), np.float32)
    place = np.empty(points.shape, np.float32)
    for n in range(frames.shape[0]):
        axes = frames[n]
        for i in range(points.shape[0]):
            for k in range(3):
                place[i, k] = (
                    axes[k, 0] * points[i, 0]
                    + axes[k, 1] * points[i, 1]
                    + axes[k, 2] * points[i, 2]
                )
        left, right = place[:, 0].min(), place[:, 0].max()
        top, bottom = place[:, 1].min(), place[:, 1].max()
        texel = max(right - left, bottom - top, 1e-6) / (size - 5)
        for i in range(points.shape[0]):
            place[i, 0] = (place[i, 0] - left) / texel + 2.0
            place[i, 1] = (place[i, 1] - top) / texel + 2.0
        _draw_depths(place, triangles, highest, lowest)
        group, weight = int(groups[n, 0]), groups[n, 1]
        reach = 1.2 * texel
        for i in range(points.shape[0]):
            along = np.float32(0.0)
            for k in range(3):
                along += axes[2, k] * normals[i, k]
            x, y, z = place[i, 0], place[i, 1], place[i, 2]
            for k in range(3):
                x += axes[0, k] * normals[i, k] * reach / texel
                y += axes[1, k] * normals[i, k] * reach / texel
                z += axes[2, k] * normals[i, k] * reach
            if group == 0:
                facing = abs(along)
                if along > 0.0:
                    lit = _lit(highest, x, y, z, 1.0, texel)
                else:
                    lit = _lit(lowest, x, y, z, -1.0, texel)
                seen_points[i, 0] += weight * facing * lit
                seen_points[i, 1] += weight * facing
            else:
                seen_points[i, group + 1] += weight * _lit(highest, x, y, z, 1.0, texel)
        facing = axes[2, 1]
        for row in range(seen_ground.shape[0]):
            pz = grid[1] + row * grid[2]
            for column in range(seen_ground.shape[1]):
                px = grid[0] + column * grid[2]
                x = axes[0, 0] * px + axes[0, 1] * grid[3] + axes[0, 2] * pz
                y = axes[1, 0] * px + axes[1, 1] * grid[3] + axes[1, 2] * pz
                z = axes[2, 0] * px + axes[2, 1] * grid[3] + axes[2, 2] * pz
                lit = _lit(
                    highest, (x - left) / texel + 2.0, (y - top) / texel + 2.0, z, 1.0, texel
                )
                if group == 0:
                    seen_ground[row, column, 0] += weight * facing * lit
                    seen_ground[row, column, 1] += weight * facing
                else:
                    seen_ground[row, column, group + 1] += weight * lit
