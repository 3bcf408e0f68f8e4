"""Compiled: the nearest ways out of a surface."""

import numpy as np

from corporeal.geometry.surface_tree_cpu import triangle_shares
from corporeal.runtime.kernels import kernel


@kernel()
def _listed(items, value):
    """Whether a sorted list holds a value."""
    place = np.searchsorted(items, value)
    return place < len(items) and items[place] == value


@kernel()
def ways_out(points, triangles, normals, chosen, near_starts, near):
    """Metres from each chosen vertex to the nearest triangle it is behind, its own aside.

    `near` lists, from `near_starts` on, the vertices around every vertex. 0 without a way out.
    """
    distances = np.zeros(len(chosen))
    corner = np.empty((3, 3))
    for i in range(len(chosen)):
        v = chosen[i]
        own = near[near_starts[v] : near_starts[v + 1]]
        best = np.inf
        for t in range(len(triangles)):
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            if a == v or b == v or c == v:
                continue
            for k in range(3):
                corner[0, k] = points[a, k]
                corner[1, k] = points[b, k]
                corner[2, k] = points[c, k]
            u, w = corner[1] - corner[0], corner[2] - corner[0]
            normal = np.array(
                (
                    u[1] * w[2] - u[2] * w[1],
                    u[2] * w[0] - u[0] * w[2],
                    u[0] * w[1] - u[1] * w[0],
                )
            )
            offset = points[v] - corner[0]
            if offset @ normal >= 0.0:
                continue
            if normal @ normals[v] > 0.0 and (
                _listed(own, a) or _listed(own, b) or _listed(own, c)
            ):
                continue
            s, r = triangle_shares(points[v, 0], points[v, 1], points[v, 2], corner)
            squared = 0.0
            for k in range(3):
                squared += (offset[k] - s * u[k] - r * w[k]) ** 2
            best = min(best, squared)
        if best < np.inf:
            distances[i] = np.sqrt(best)
    return distances


@kernel()
def nearer_skin(points, triangles, chosen, distances):
    """Points of the skin that are nearer to chosen vertices than given distances in metres.

    One a triangle, the closest: which of the chosen, triangle, place and distance. Triangles that a
    vertex is a corner of are left out.
    """
    which, faces = [0 for _ in range(0)], [0 for _ in range(0)]
    feet, nearer = [0.0 for _ in range(0)], [0.0 for _ in range(0)]
    corner, foot = np.empty((3, 3)), np.empty(3)
    for i in range(len(chosen)):
        v = chosen[i]
        for t in range(len(triangles)):
            if v in (triangles[t, 0], triangles[t, 1], triangles[t, 2]):
                continue
            for m in range(3):
                for k in range(3):
                    corner[m, k] = points[triangles[t, m], k]
            s, r = triangle_shares(points[v, 0], points[v, 1], points[v, 2], corner)
            squared = 0.0
            for k in range(3):
                foot[k] = (1.0 - s - r) * corner[0, k] + s * corner[1, k] + r * corner[2, k]
                squared += (points[v, k] - foot[k]) ** 2
            if squared < distances[i] ** 2:
                which.append(i)
                faces.append(t)
                nearer.append(np.sqrt(squared))
                for k in range(3):
                    feet.append(foot[k])
    places = np.array(feet).reshape(len(which), 3)
    return np.array(which), np.array(faces), places, np.array(nearer)
