"""How much of the sky and of each softbox every vertex, and every spot of the ground, can see.

For every light direction the body is drawn once, flat, as two depth maps: the surface nearest to
the light and the surface furthest from it, which is nearest to a light on the other side.
"""

import numpy as np

from corporeal.runtime.kernels import kernel

EMPTY = np.float32(1e9)


@kernel(fastmath=True)
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
        texel = max(right - left, bottom - top, np.float32(1e-6)) / np.float32(size - 5)
        for i in range(points.shape[0]):
            place[i, 0] = (place[i, 0] - left) / texel + np.float32(2.0)
            place[i, 1] = (place[i, 1] - top) / texel + np.float32(2.0)
        _draw_depths(place, triangles, highest, lowest)
        group, weight = int(groups[n, 0]), groups[n, 1]
        reach, steep = np.float32(1.2) * texel, np.float32(1.0) / texel
        for i in range(points.shape[0]):
            along = np.float32(0.0)
            for k in range(3):
                along += axes[2, k] * normals[i, k]
            x, y, z = place[i, 0], place[i, 1], place[i, 2]
            for k in range(3):
                x += axes[0, k] * normals[i, k] * np.float32(1.2)
                y += axes[1, k] * normals[i, k] * np.float32(1.2)
                z += axes[2, k] * normals[i, k] * reach
            if group == 0:
                facing = abs(along)
                if along > 0.0:
                    lit = _lit(highest, x, y, z, steep)
                else:
                    lit = _lit(lowest, x, y, z, -steep)
                seen_points[i, 0] += weight * facing * lit
                seen_points[i, 1] += weight * facing
            else:
                seen_points[i, group + 1] += weight * _lit(highest, x, y, z, steep)
        facing = axes[2, 1]
        for row in range(seen_ground.shape[0]):
            pz = grid[1] + row * grid[2]
            for column in range(seen_ground.shape[1]):
                px = grid[0] + column * grid[2]
                x = axes[0, 0] * px + axes[0, 1] * grid[3] + axes[0, 2] * pz
                y = axes[1, 0] * px + axes[1, 1] * grid[3] + axes[1, 2] * pz
                z = axes[2, 0] * px + axes[2, 1] * grid[3] + axes[2, 2] * pz
                lit = _lit(highest, (x - left) / texel + 2.0, (y - top) / texel + 2.0, z, steep)
                if group == 0:
                    seen_ground[row, column, 0] += weight * facing * lit
                    seen_ground[row, column, 1] += weight * facing
                else:
                    seen_ground[row, column, group + 1] += weight * lit
