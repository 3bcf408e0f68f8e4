"""Finds the skin that nobody sees from outside: mouth, nostrils and the sockets behind the eyes."""

import numba
import numpy as np

SMALLEST_CAVITY = 12
"""Hidden patches of fewer vertices are creases, not cavities."""
START_M = 2e-4
"""A ray starts this far from its vertex, so that it leaves the triangles there."""


def hidden_vertices(
    vertices: np.ndarray, triangles: np.ndarray, candidates: np.ndarray, directions: np.ndarray
) -> np.ndarray:
    """Candidates from which a ray in any of the directions meets a triangle."""
    seen = _seen(vertices, triangles.astype(np.int64), candidates, directions)
    return candidates[~seen]


def patches(hidden: np.ndarray, triangles: np.ndarray) -> list[np.ndarray]:
    """Connected patches of hidden vertices, largest first."""
    left, found = set(hidden.tolist()), []
    neighbours: dict[int, set[int]] = {vertex: set() for vertex in left}
    for triangle in triangles[np.isin(triangles, hidden).any(axis=1)].tolist():
        inside = [vertex for vertex in triangle if vertex in left]
        for vertex in inside:
            neighbours[vertex].update(inside)
    while left:
        patch, front = set(), [left.pop()]
        while front:
            vertex = front.pop()
            patch.add(vertex)
            front += neighbours[vertex] & left
            left -= neighbours[vertex]
        found.append(np.array(sorted(patch)))
    return sorted((p for p in found if len(p) >= SMALLEST_CAVITY), key=len, reverse=True)


def sphere_directions(count: int) -> np.ndarray:
    """Unit vectors evenly over the sphere (a Fibonacci spiral)."""
    index = np.arange(count)
    height = 1 - (2 * index + 1) / count
    angle = index * np.pi * (3 - np.sqrt(5))
    level = np.sqrt(1 - height**2)
    return np.stack([level * np.cos(angle), height, level * np.sin(angle)], axis=1)


@numba.njit(cache=False, fastmath=True)
def _seen(vertices, triangles, candidates, directions):
    """Möller and Trumbore's ray–triangle test, stopping at the first open direction."""
    corner = vertices[triangles[:, 0]]
    edge = vertices[triangles[:, 1]] - corner
    other = vertices[triangles[:, 2]] - corner
    seen = np.zeros(len(candidates), np.bool_)
    for c in range(len(candidates)):
        x0, y0, z0 = vertices[candidates[c]]
        for d in range(len(directions)):
            if not _blocked(x0, y0, z0, directions[d], corner, edge, other):
                seen[c] = True
                break
    return seen


@numba.njit(cache=False, fastmath=True)
def _blocked(x0, y0, z0, ray, corner, edge, other):
    rx, ry, rz = ray
    for t in range(len(corner)):
        ex, ey, ez = edge[t]
        ox, oy, oz = other[t]
        px, py, pz = ry * oz - rz * oy, rz * ox - rx * oz, rx * oy - ry * ox
        determinant = ex * px + ey * py + ez * pz
        if abs(determinant) < 1e-18:
            continue
        sx = x0 + START_M * rx - corner[t, 0]
        sy = y0 + START_M * ry - corner[t, 1]
        sz = z0 + START_M * rz - corner[t, 2]
        u = (sx * px + sy * py + sz * pz) / determinant
        if u < 0 or u > 1:
            continue
        qx, qy, qz = sy * ez - sz * ey, sz * ex - sx * ez, sx * ey - sy * ex
        v = (rx * qx + ry * qy + rz * qz) / determinant
        if v >= 0 and u + v <= 1 and (ox * qx + oy * qy + oz * qz) / determinant > 0:
            return True
    return False
