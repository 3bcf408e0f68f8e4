"""How round a limb stays: rings of skin around a bone, followed through a deformation."""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class SkinRing:
    """The rest skin's cut with a plane, as points on edges that move with the skin."""

    edges: Int[NumpyArray, "n 2"]
    """Vertices at the ends of the edges that were cut."""
    shares: Float[NumpyArray, "n"]
    """Where on the edge, from 0 to 1."""
    lengths: Float[NumpyArray, "n"]
    """Rest length of the ring that a point stands for, metres."""

    def points(self, vertices: Float[NumpyArray, "V 3"]) -> Float[NumpyArray, "n 3"]:
        """Where the ring is while the skin is at `vertices` (metres)."""
        start, end = vertices[self.edges[:, 0]], vertices[self.edges[:, 1]]
        return start + self.shares[:, None] * (end - start)

    def mean_radius(self, vertices: Float[NumpyArray, "V 3"]) -> float:
        """Mean distance of the ring from its centre, metres."""
        points, weights = self.points(vertices), self.lengths / self.lengths.sum()
        return float(weights @ np.linalg.norm(points - weights @ points, axis=1))


def cut_ring(
    vertices: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    origin: Float[NumpyArray, "3"],
    normal: Float[NumpyArray, "3"],
) -> SkinRing:
    """The ring in which the plane through `origin` (metres) cuts the skin around it.

    Of several loops it is the one whose centre is nearest to `origin`.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    height = (vertices - origin) @ normal
    above = height >= 0
    crossed = triangles[(above[triangles].sum(axis=1) % 3) != 0]
    if len(crossed) < 3:
        raise InputError(
            f"the plane through {np.round(origin, 3)} cuts {len(crossed)} triangles of the skin; "
            f"expected a ring of at least 3. Move it to where the limb is."
        )
    sides = np.sort(crossed[:, [[0, 1], [1, 2], [2, 0]]], axis=-1)
    cut = above[sides[..., 0]] != above[sides[..., 1]]
    edges, joined = np.unique(sides[cut], axis=0, return_inverse=True)
    low, high = height[edges[:, 0]], height[edges[:, 1]]
    shares = low / (low - high)
    ring = SkinRing(edges, shares, np.ones(len(edges)))
    points, segments = ring.points(vertices), joined.reshape(-1, 2)
    graph = csr_array((np.ones(len(segments)), segments.T), shape=(len(edges), len(edges)))
    count, loop = connected_components(graph, directed=False)
    centres = np.stack([points[loop == k].mean(axis=0) for k in range(count)])
    chosen = loop == np.argmin(np.linalg.norm(centres - origin, axis=1))
    length = np.linalg.norm(points[segments[:, 0]] - points[segments[:, 1]], axis=1)
    lengths = np.bincount(segments.ravel(), 0.5 * np.repeat(length, 2), len(edges))
    return SkinRing(edges[chosen], shares[chosen], lengths[chosen])
