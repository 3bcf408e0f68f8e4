"""One compiled round of base-point smoothing."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def smooth_round(
    point_bones,
    point_places,
    fixed,
    nodes,
    bones,
    neighbour_starts,
    neighbours,
    joined_starts,
    joined,
    middle,
    middle_bones,
    speed,
):
    """Bones and places after one round, and the mean and largest distance moved (metres).

    Points of `middle` vertices stay on `middle_bones`.
    """
    count = len(point_bones)
    positions = np.empty((count, 3))
    for i in range(count):
        start, end = bones[point_bones[i]]
        for k in range(3):
            positions[i, k] = nodes[start, k] + point_places[i] * (nodes[end, k] - nodes[start, k])
    new_bones, new_places, moved = point_bones.copy(), point_places.copy(), 0.0
    furthest = 0.0
    target = np.empty(3)
    for i in range(count):
        first, last = neighbour_starts[i], neighbour_starts[i + 1]
        if fixed[i] or first == last:
            continue
        for k in range(3):
            mean = 0.0
            for j in range(first, last):
                mean += positions[neighbours[j], k]
            target[k] = (1.0 - speed) * positions[i, k] + speed * mean / (last - first)
        best, step = np.inf, 0.0
        for place_in_row in range(joined_starts[point_bones[i]], joined_starts[point_bones[i] + 1]):
            b = joined[place_in_row]
            if middle[i] and not middle_bones[b]:
                continue
            start, end = bones[b]
            along, squared_length = 0.0, 0.0
            for k in range(3):
                axis = nodes[end, k] - nodes[start, k]
                along += (target[k] - nodes[start, k]) * axis
                squared_length += axis * axis
            place = min(max(along / squared_length, 0.0), 1.0) if squared_length > 0.0 else 0.0
            distance, travelled = 0.0, 0.0
            for k in range(3):
                foot = nodes[start, k] + place * (nodes[end, k] - nodes[start, k])
                distance += (target[k] - foot) ** 2
                travelled += (positions[i, k] - foot) ** 2
            if distance < best:
                best, step = distance, np.sqrt(travelled)
                new_bones[i], new_places[i] = b, place
        moved += step
        furthest = max(furthest, step)
    return new_bones, new_places, moved / max(count, 1), furthest
