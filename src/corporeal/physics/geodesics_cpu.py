"""Compiled geodesic neighbours: fast marching from many sources at once.

Kimmel and Sethian 1998, with the source unfolded into each triangle's plane (exact on flat ground).
"""

import heapq

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def vertex_faces(triangles, vertex_count):
    """Faces of every vertex, as compressed rows."""
    starts = np.zeros(vertex_count + 1, np.int64)
    for f in range(len(triangles)):
        for k in range(3):
            starts[triangles[f, k] + 1] += 1
    for v in range(vertex_count):
        starts[v + 1] += starts[v]
    filled, faces = starts[:-1].copy(), np.empty(starts[-1], np.int64)
    for f in range(len(triangles)):
        for k in range(3):
            v = triangles[f, k]
            faces[filled[v]] = f
            filled[v] += 1
    return starts, faces


@kernel()
def _distance(points, a, b):
    squared = 0.0
    for k in range(3):
        squared += (points[a, k] - points[b, k]) ** 2
    return np.sqrt(squared)


@kernel()
def _through_triangle(points, a, b, c, to_a, to_b):
    """Distance of c over the edge ab, whose ends are `to_a` and `to_b` away from the source.

    The triangle lies flat with a at 0, b on the x axis and c above; the source is below, and counts
    only if the straight way from it to c crosses the edge.
    """
    ab, ac, bc = _distance(points, a, b), _distance(points, a, c), _distance(points, b, c)
    along_edges = min(to_a + ac, to_b + bc)
    if ab == 0.0:
        return along_edges
    source_x = (ab * ab + to_a * to_a - to_b * to_b) / (2.0 * ab)
    below = to_a * to_a - source_x * source_x
    corner_x = (ab * ab + ac * ac - bc * bc) / (2.0 * ab)
    above = ac * ac - corner_x * corner_x
    if below < 0.0 or above <= 0.0:
        return along_edges
    source_y, corner_y = np.sqrt(below), np.sqrt(above)
    crossing = source_x + (corner_x - source_x) * source_y / (source_y + corner_y)
    if crossing < 0.0 or crossing > ab:
        return along_edges
    straight = np.sqrt((corner_x - source_x) ** 2 + (corner_y + source_y) ** 2)
    return min(straight, along_edges)


@kernel()
def _met(neighbours, found, vertex, source):
    """Place of `source` among those that have reached `vertex`; −1 if it has not."""
    for place in range(found[vertex]):
        if neighbours[vertex, place] == source:
            return place
    return -1


@kernel()
def geodesic_neighbours(points, triangles, sources, count):
    """The `count` sources nearest to every vertex along the surface, and how far they are.

    All sources march at once, and a front goes on only from vertices that it reached among the
    first: a nearest source of a vertex is also one of those the way to it leads over. One more than
    `count` is looked for: its distance is the support radius. Rows that end early hold −1 and
    infinity, and have the furthest that was found, doubled, for a radius.
    """
    vertex_count = len(points)
    starts, faces = vertex_faces(triangles, vertex_count)
    neighbours = np.full((vertex_count, count + 1), -1)
    distances = np.full((vertex_count, count + 1), np.inf)
    found = np.zeros(vertex_count, np.int64)
    heap = [(0.0, sources[i], sources[i]) for i in range(len(sources))]
    heapq.heapify(heap)
    while len(heap) > 0:
        distance, a, source = heapq.heappop(heap)
        if found[a] > count or _met(neighbours, found, a, source) >= 0:
            continue
        neighbours[a, found[a]], distances[a, found[a]] = source, distance
        found[a] += 1
        for place in range(starts[a], starts[a + 1]):
            f = faces[place]
            for k in range(3):
                c = triangles[f, k]
                if c == a or found[c] > count or _met(neighbours, found, c, source) >= 0:
                    continue
                b = triangles[f, 0] + triangles[f, 1] + triangles[f, 2] - a - c
                there = distance + _distance(points, a, c)
                by = _met(neighbours, found, b, source)
                if by >= 0:
                    there = _through_triangle(points, a, b, c, distance, distances[b, by])
                heapq.heappush(heap, (there, c, source))
    radii = np.where(found > count, distances[:, count], 0.0)
    for v in range(vertex_count):
        if 0 < found[v] <= count:
            radii[v] = 2.0 * distances[v, found[v] - 1]
    return neighbours[:, :count].copy(), distances[:, :count].copy(), radii
