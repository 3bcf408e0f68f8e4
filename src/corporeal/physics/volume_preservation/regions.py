"""Smooth, overlapping regions of flesh, each of which keeps its volume.

Flesh that is squeezed in a crease goes to what is beside it. So a region is a piece of limb or
trunk, all the way round where that is narrow, and fades into its neighbours: what pushes it out
leaves no border on the skin. Regions as long as 15 cm that reached around thighs kept their volume
while the buttock of a raised leg swelled by 60 % and the hip before it shrank.
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.geometry.surface import unique_edges
from corporeal.physics.volumetric_mesh.model import VolumetricModel

REGION_SHARE = 0.06
"""Distance of regions, as a share of the skin's longest side: 10 cm on an adult."""
_SMOOTHING_ROUNDS = 10
_LEAST = 0.01
"""Smaller shares are left out."""


def smooth_regions(model: VolumetricModel, share: float = REGION_SHARE) -> csr_array:
    """Share that every skin vertex has in every region, V × K; all rows sum to 1.

    Regions fall off as (1 − (d/2s)²)² with the distance d from their seeds, which are chosen one by
    one, each the soft vertex furthest from those before, until none is further than s. With a
    mirror map, mirror images are chosen together, or the vertex on the plane between them.
    """
    start, end = unique_edges(np.asarray(model.triangles)).T
    size = share * float(np.ptp(model.skin, axis=0).max())
    away = _seed_distances(model, start, end, size)
    weights = np.maximum(1.0 - (away / (2.0 * size)) ** 2, 0.0) ** 2
    weights[:, 0] += weights.sum(axis=1) == 0.0  # rigid or loose vertices far from all seeds
    weights /= weights.sum(axis=1, keepdims=True)
    mean = _neighbour_mean(start, end, len(weights))
    for _ in range(_SMOOTHING_ROUNDS):
        weights = 0.5 * (weights + mean @ weights)
    weights[weights < _LEAST] = 0.0
    return csr_array(weights / weights.sum(axis=1, keepdims=True))


def _seed_distances(
    model: VolumetricModel, start: Int[NumpyArray, "e"], end: Int[NumpyArray, "e"], size: float
) -> Float64[NumpyArray, "V K"]:
    """Ways along edges from every seed, metres; a way along the bones and one over the skin are
    added as the legs of a right triangle."""
    from scipy.sparse.csgraph import dijkstra

    over = np.linalg.norm(model.skin[start] - model.skin[end], axis=1)
    along = np.linalg.norm(model.base_points[start] - model.base_points[end], axis=1)
    length = np.sqrt(along**2 + over**2)
    shape = (model.vertex_count, model.vertex_count)
    graph = csr_array((np.maximum(length, 1e-9 * size), (start, end)), shape=shape)

    def away(seed: int) -> Float64[NumpyArray, "V"]:
        return dijkstra(graph, directed=False, indices=seed, limit=4.0 * size)

    soft, mirror = np.flatnonzero(~model.carried), model.mirror
    plane = soft[:0] if mirror is None else soft[mirror[soft] == soft]
    found: list[NumpyArray] = []
    nearest, seed = np.full(model.vertex_count, np.inf), int((*plane, *soft)[0])
    while True:
        image = seed if mirror is None else int(mirror[seed])
        found += _with_image(seed, image, plane, away, size)
        nearest = np.minimum.reduce([nearest, *found])
        seed = int(soft[nearest[soft].argmax()])
        if nearest[seed] <= size:
            return np.minimum(np.stack(found, axis=1), 4.0 * size)


def _with_image(
    seed: int,
    image: int,
    plane: Int[NumpyArray, "p"],
    away: Callable[[int], Float64[NumpyArray, "V"]],
    size: float,
) -> list[Float64[NumpyArray, "V"]]:
    """Distances from a seed and from its mirror image, metres; where these are within `size` of
    each other, from the nearest vertex on the plane between them."""
    distances = away(seed)
    if image == seed:
        return [distances]
    if distances[image] <= size and distances[plane].min(initial=np.inf) <= size:
        return [away(int(plane[distances[plane].argmin()]))]
    return [distances, away(image)]


def _neighbour_mean(
    start: Int[NumpyArray, "e"], end: Int[NumpyArray, "e"], count: int
) -> csr_array:
    """The mean over neighbours as a matrix; a vertex without any keeps its own value."""
    alone = np.setdiff1d(np.arange(count), np.concatenate([start, end]))
    rows = np.concatenate([start, end, alone])
    columns = np.concatenate([end, start, alone])
    degree = np.bincount(rows, minlength=count)
    return csr_array((1.0 / degree[rows], (rows, columns)), shape=(count, count))
