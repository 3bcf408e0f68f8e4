"""Vertex normals for shading, fast enough to be made anew for every frame."""

import math

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def angle_weighted_normals(vertices, triangles, normals):
    """Fill `normals` (V 3) with the sum of unit triangle normals, each weighted by its angle.

    Unlike area weights, angles give the same normal however a quad is split. Vertices of no
    triangle get zero.
    """
    normals[:] = 0.0
    edge = np.empty((3, 3))
    for t in range(triangles.shape[0]):
        for k in range(3):
            i, j = triangles[t, k], triangles[t, (k + 1) % 3]
            length = 0.0
            for c in range(3):
                edge[k, c] = vertices[j, c] - vertices[i, c]
                length += edge[k, c] * edge[k, c]
            length = math.sqrt(length)
            if length > 0.0:
                for c in range(3):
                    edge[k, c] /= length
        x = edge[0, 1] * edge[1, 2] - edge[0, 2] * edge[1, 1]
        y = edge[0, 2] * edge[1, 0] - edge[0, 0] * edge[1, 2]
        z = edge[0, 0] * edge[1, 1] - edge[0, 1] * edge[1, 0]
        size = math.sqrt(x * x + y * y + z * z)
        if size == 0.0:
            continue
        for k in range(3):
            b = (k + 2) % 3
            cosine = -(edge[k, 0] * edge[b, 0] + edge[k, 1] * edge[b, 1] + edge[k, 2] * edge[b, 2])
            angle = math.acos(min(1.0, max(-1.0, cosine))) / size
            i = triangles[t, k]
            normals[i, 0] += angle * x
            normals[i, 1] += angle * y
            normals[i, 2] += angle * z
    for i in range(normals.shape[0]):
        x, y, z = normals[i, 0], normals[i, 1], normals[i, 2]
        size = math.sqrt(x * x + y * y + z * z)
        if size > 0.0:
            for c in range(3):
                normals[i, c] /= size
