"""Kernels of `surface_tree`: a tree of boxes in flat arrays.

A node is a row (first slot, end slot, left child); the right child stands after the left one; a
leaf has left child −1. Triangles are stored in slot order.
"""

import math

import numpy as np

from corporeal.geometry.sorting_cpu import sorted_order
from corporeal.runtime.kernels import kernel

_DEPTH = 64
"""Of the stack; halving 2⁶⁰ triangles would not fill it."""


@kernel()
def build_tree(low, high, middle, leaf):
    """Order of the triangles, nodes, and boxes: halves by count along the longest side."""
    count = len(low)
    order, before, keys = np.arange(count), np.empty(count, np.int64), np.empty(count)
    most = max(1, 4 * (count // max(1, leaf // 2) + 1))
    nodes = np.empty((most, 3), np.int64)
    boxes = np.empty((most, 6))
    nodes[0, 0], nodes[0, 1], nodes[0, 2] = 0, count, -1
    used, node = 1, 0
    while node < used:
        first, end = nodes[node, 0], nodes[node, 1]
        for axis in range(3):
            boxes[node, axis], boxes[node, axis + 3] = np.inf, -np.inf
        for slot in range(first, end):
            for axis in range(3):
                boxes[node, axis] = min(boxes[node, axis], low[order[slot], axis])
                boxes[node, axis + 3] = max(boxes[node, axis + 3], high[order[slot], axis])
        if end - first > leaf:
            longest = 0
            for axis in range(1, 3):
                side = boxes[node, axis + 3] - boxes[node, axis]
                if side > boxes[node, longest + 3] - boxes[node, longest]:
                    longest = axis
            for slot in range(first, end):
                keys[slot - first], before[slot] = middle[order[slot], longest], order[slot]
            ranks = sorted_order(keys[: end - first])
            for slot in range(first, end):
                order[slot] = before[first + ranks[slot - first]]
            half = (first + end) // 2
            nodes[node, 2] = used
            nodes[used, 0], nodes[used, 1], nodes[used, 2] = first, half, -1
            nodes[used + 1, 0], nodes[used + 1, 1], nodes[used + 1, 2] = half, end, -1
            used += 2
        node += 1
    return order, nodes[:used].copy(), boxes[:used].copy()


@kernel()
def node_moments(corners, nodes):
    """Per node: centre of area (3), radius, and area vector (3)."""
    moments = np.zeros((len(nodes), 7))
    for node in range(len(nodes)):
        total = 0.0
        for slot in range(nodes[node, 0], nodes[node, 1]):
            ax, ay, az = corners[slot, 0, 0], corners[slot, 0, 1], corners[slot, 0, 2]
            bx, by, bz = corners[slot, 1, 0], corners[slot, 1, 1], corners[slot, 1, 2]
            cx, cy, cz = corners[slot, 2, 0], corners[slot, 2, 1], corners[slot, 2, 2]
            ux, uy, uz = bx - ax, by - ay, bz - az
            vx, vy, vz = cx - ax, cy - ay, cz - az
            nx = 0.5 * (uy * vz - uz * vy)
            ny = 0.5 * (uz * vx - ux * vz)
            nz = 0.5 * (ux * vy - uy * vx)
            area = math.sqrt(nx * nx + ny * ny + nz * nz)
            total += area
            moments[node, 0] += area * (ax + bx + cx) / 3.0
            moments[node, 1] += area * (ay + by + cy) / 3.0
            moments[node, 2] += area * (az + bz + cz) / 3.0
            moments[node, 4] += nx
            moments[node, 5] += ny
            moments[node, 6] += nz
        for axis in range(3):
            moments[node, axis] /= max(total, 1e-300)
        farthest = 0.0
        for slot in range(nodes[node, 0], nodes[node, 1]):
            for k in range(3):
                x = corners[slot, k, 0] - moments[node, 0]
                y = corners[slot, k, 1] - moments[node, 1]
                z = corners[slot, k, 2] - moments[node, 2]
                farthest = max(farthest, x * x + y * y + z * z)
        moments[node, 3] = math.sqrt(farthest)
    return moments


@kernel()
def _box_squared(x, y, z, box):
    dx = max(box[0] - x, 0.0, x - box[3])
    dy = max(box[1] - y, 0.0, y - box[4])
    dz = max(box[2] - z, 0.0, z - box[5])
    return dx * dx + dy * dy + dz * dz


@kernel()
def triangle_shares(px, py, pz, corner):
    """Shares of the second and third corner in the triangle's point nearest to p."""
    ax, ay, az = corner[0, 0], corner[0, 1], corner[0, 2]
    ux, uy, uz = corner[1, 0] - ax, corner[1, 1] - ay, corner[1, 2] - az
    vx, vy, vz = corner[2, 0] - ax, corner[2, 1] - ay, corner[2, 2] - az
    wx, wy, wz = px - ax, py - ay, pz - az
    d1, d2 = ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
    if d1 <= 0.0 and d2 <= 0.0:
        return 0.0, 0.0
    uu, vv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz
    uv = ux * vx + uy * vy + uz * vz
    d3, d4 = d1 - uu, d2 - uv
    if d3 >= 0.0 and d4 <= d3:
        return 1.0, 0.0
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return d1 / (d1 - d3) if d1 != d3 else 0.0, 0.0
    d5, d6 = d1 - uv, d2 - vv
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 1.0
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return 0.0, d2 / (d2 - d6) if d2 != d6 else 0.0
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        whole = (d4 - d3) + (d5 - d6)
        share = (d4 - d3) / whole if whole > 0.0 else 0.0
        return 1.0 - share, share
    whole = va + vb + vc
    return vb / whole, vc / whole


@kernel()
def closest_points(points, corners, nodes, boxes, first, last, found, slots):
    """Nearest surface point of the points `first` … `last` − 1 and its slot, nearer child first."""
    stack = np.empty(_DEPTH, np.int64)
    for i in range(first, last):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        stack[0], height, best = 0, 1, np.inf
        while height > 0:
            height -= 1
            node = stack[height]
            if _box_squared(x, y, z, boxes[node]) >= best:
                continue
            child = nodes[node, 2]
            if child >= 0:
                left = _box_squared(x, y, z, boxes[child])
                right = _box_squared(x, y, z, boxes[child + 1])
                near, far = (child, child + 1) if left <= right else (child + 1, child)
                stack[height], stack[height + 1] = far, near
                height += 2
                continue
            for slot in range(nodes[node, 0], nodes[node, 1]):
                s, t = triangle_shares(x, y, z, corners[slot])
                r = 1.0 - s - t
                a, b, c = corners[slot, 0], corners[slot, 1], corners[slot, 2]
                qx = r * a[0] + s * b[0] + t * c[0]
                qy = r * a[1] + s * b[1] + t * c[1]
                qz = r * a[2] + s * b[2] + t * c[2]
                squared = (qx - x) ** 2 + (qy - y) ** 2 + (qz - z) ** 2
                if squared < best:
                    best, slots[i] = squared, slot
                    found[i, 0], found[i, 1], found[i, 2] = qx, qy, qz


@kernel()
def _solid_angle(x, y, z, corner):
    """Of a triangle seen from a point (van Oosterom and Strackee), over 4π."""
    ax, ay, az = corner[0, 0] - x, corner[0, 1] - y, corner[0, 2] - z
    bx, by, bz = corner[1, 0] - x, corner[1, 1] - y, corner[1, 2] - z
    cx, cy, cz = corner[2, 0] - x, corner[2, 1] - y, corner[2, 2] - z
    a = math.sqrt(ax * ax + ay * ay + az * az)
    b = math.sqrt(bx * bx + by * by + bz * bz)
    c = math.sqrt(cx * cx + cy * cy + cz * cz)
    triple = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    ab, bc, ca = (
        ax * bx + ay * by + az * bz,
        bx * cx + by * cy + bz * cz,
        cx * ax + cy * ay + cz * az,
    )
    return math.atan2(triple, a * b * c + ab * c + bc * a + ca * b) / (2.0 * math.pi)


@kernel()
def winding_numbers(points, corners, nodes, moments, far, first, last, winding):
    """Sum of solid angles at the points `first` … `last` − 1: dipoles beyond `far` radii, exact
    within."""
    stack = np.empty(_DEPTH, np.int64)
    for i in range(first, last):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        stack[0], height, total = 0, 1, 0.0
        while height > 0:
            height -= 1
            node = stack[height]
            m = moments[node]
            dx, dy, dz = m[0] - x, m[1] - y, m[2] - z
            squared = dx * dx + dy * dy + dz * dz
            if squared > (far * m[3]) ** 2:
                cube = squared * math.sqrt(squared)
                total += (dx * m[4] + dy * m[5] + dz * m[6]) / (4.0 * math.pi * cube)
                continue
            child = nodes[node, 2]
            if child >= 0:
                stack[height], stack[height + 1] = child, child + 1
                height += 2
                continue
            for slot in range(nodes[node, 0], nodes[node, 1]):
                total += _solid_angle(x, y, z, corners[slot])
        winding[i] = total
