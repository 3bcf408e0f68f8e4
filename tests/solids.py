"""Solids whose areas, volumes and sections have closed forms."""

import numpy as np


def box(width: float, height: float, depth: float) -> tuple[np.ndarray, np.ndarray]:
    """An axis-aligned box about the origin, outward triangles."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float) - 0.5
    quads = np.array(
        [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    )
    return corners * [width, height, depth], quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)


def icosphere(levels: int) -> tuple[np.ndarray, np.ndarray]:
    """A unit sphere from an icosahedron, every triangle split in four `levels` times."""
    g = (1 + 5**0.5) / 2
    v = [[-1, g, 0], [1, g, 0], [-1, -g, 0], [1, -g, 0], [0, -1, g], [0, 1, g]]
    v += [[0, -1, -g], [0, 1, -g], [g, 0, -1], [g, 0, 1], [-g, 0, -1], [-g, 0, 1]]
    vertices = np.array(v) / np.hypot(1, g)
    f = "0 11 5 0 5 1 0 1 7 0 7 10 0 10 11 1 5 9 5 11 4 11 10 2 10 7 6 7 1 8 "
    f += "3 9 4 3 4 2 3 2 6 3 6 8 3 8 9 4 9 5 2 4 11 6 2 10 8 6 7 9 8 1"
    triangles = np.array(f.split(), int).reshape(-1, 3)
    for _ in range(levels):
        edges = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)), axis=0)
        number = {tuple(e): len(vertices) + i for i, e in enumerate(edges.tolist())}
        middle = vertices[edges].mean(axis=1)
        vertices = np.concatenate([vertices, middle / np.linalg.norm(middle, axis=1)[:, None]])
        split = []
        for a, b, c in triangles.tolist():
            ab, bc, ca = (number[min(e), max(e)] for e in ((a, b), (b, c), (c, a)))
            split += [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
        triangles = np.array(split)
    return vertices, triangles


def tube(profile: np.ndarray, height: float, rings: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """A prism along y over a closed profile (n, 2) of (x, z), capped by fans."""
    n = len(profile)
    levels = np.linspace(0, height, rings)
    around = [np.stack([profile[:, 0], np.full(n, y), profile[:, 1]], axis=1) for y in levels]
    middle = profile.mean(axis=0)
    caps = [[middle[0], y, middle[1]] for y in (0.0, height)]
    triangles = []
    for r in range(rings - 1):
        for i in range(n):
            a, b = r * n + i, r * n + (i + 1) % n
            triangles += [[a, a + n, b], [b, a + n, b + n]]
    last = (rings - 1) * n
    for i in range(n):
        j = (i + 1) % n
        triangles += [[rings * n, i, j], [rings * n + 1, last + j, last + i]]
    return np.concatenate([*around, caps]), np.array(triangles)


def circle(radius: float, count: int) -> np.ndarray:
    """Points of a circle (n, 2), so ordered that `tube` faces outwards."""
    angle = 2 * np.pi * np.arange(count) / count
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def star(outer: float, inner: float, tips: int) -> np.ndarray:
    """A star-shaped profile (2·tips, 2): tips on one circle, notches on a smaller one."""
    radius = np.tile([outer, inner], tips)[:, None]
    return radius * circle(1.0, 2 * tips)
