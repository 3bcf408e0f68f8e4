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
def _place_of(row, source):
    """Where `source` stands in a row of sources; −1 if it does not."""
    for place in range(len(row)):
        if row[place] == source:
            return place
    return -1


@kernel()
def _is_news(sources, distances, vertex, source, distance):
    """Enter a way to `vertex` into its row, if it is shorter than the one known, or than the
    longest of a full row; tells whether it was."""
    row, known = sources[vertex], distances[vertex]
    place = _place_of(row, source)
    if place < 0:
        place = 0
        for other in range(1, len(row)):
            if known[other] > known[place]:
                place = other
    if distance >= known[place]:
        return False
    row[place], known[place] = source, distance
    return True


@kernel()
def _sorted_rows(sources, distances):
    """Sort every row by distance, in place."""
    for v in range(len(sources)):
        for place in range(1, sources.shape[1]):
            source, distance = sources[v, place], distances[v, place]
            before = place - 1
            while before >= 0 and distances[v, before] > distance:
                sources[v, before + 1] = sources[v, before]
                distances[v, before + 1] = distances[v, before]
                before -= 1
            sources[v, before + 1], distances[v, before + 1] = source, distance


@kernel()
def geodesic_neighbours(points, triangles, sources, count):
    """The `count` sources nearest to every vertex along the surface, and how far they are.

    All sources march at once. Every vertex keeps the shortest ways known from `count` + 1 sources:
    a way that is longer than all of a full row is not gone, since the row only gets shorter, and a
    nearest source of a vertex is also one of those the way to it leads over. The last distance is
    the support radius. Rows that end early hold −1 and infinity, and have the furthest that was
    found, doubled, for a radius.
    """
    vertex_count = len(points)
    starts, faces = vertex_faces(triangles, vertex_count)
    near = np.full((vertex_count, count + 1), -1)
    distances = np.full((vertex_count, count + 1), np.inf)
    heap = [(0.0, sources[i], sources[i]) for i in range(len(sources))]
    for i in range(len(sources)):
        near[sources[i], 0], distances[sources[i], 0] = sources[i], 0.0
    heapq.heapify(heap)
    while len(heap) > 0:
        distance, a, source = heapq.heappop(heap)
        place = _place_of(near[a], source)
        if place < 0 or distances[a, place] != distance:
            continue  # a shorter way was found since
        for entry in range(starts[a], starts[a + 1]):
            f = faces[entry]
            for k in range(3):
                c = triangles[f, k]
                if c == a:
                    continue
                b = triangles[f, 0] + triangles[f, 1] + triangles[f, 2] - a - c
                there = distance + _distance(points, a, c)
                by = _place_of(near[b], source)
                if by >= 0 and distances[b, by] <= distance:
                    there = _through_triangle(points, a, b, c, distance, distances[b, by])
                    there = max(there, distance)  # slivers: no way gets shorter by going on
                if _is_news(near, distances, c, source, there):
                    heapq.heappush(heap, (there, c, source))
    _sorted_rows(near, distances)
    return near[:, :count].copy(), distances[:, :count].copy(), _radii(distances)


@kernel()
def _radii(distances):
    """The last of every sorted row; twice the furthest where a row ends early."""
    last = distances.shape[1] - 1
    radii = distances[:, last].copy()
    for v in range(len(radii)):
        if radii[v] == np.inf:
            radii[v] = 0.0
            for place in range(last):
                if distances[v, place] < np.inf:
                    radii[v] = 2.0 * distances[v, place]
    return radii
