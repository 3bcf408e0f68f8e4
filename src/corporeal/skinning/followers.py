"""Loose parts that follow a skin: eyes, teeth, clothes.

Every point is bound to the skin triangles nearest to it, in the frame of each (an edge and the
normal), and follows their mean; weights fall with the distance. Rigid motions of the skin carry
the points exactly. Small parts are then made rigid: the rotation that fits their points best.
"""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.checks import require_indices
from corporeal.errors import InputError
from corporeal.geometry.alignment import best_rotation
from corporeal.geometry.surface import triangle_areas
from corporeal.runtime.pytree_dataclass import pytree_dataclass

NEIGHBOURS = 6
"""Skin triangles that carry a point."""


@pytree_dataclass()
class Follower:
    """Points bound to a skin of V vertices."""

    rest: Float[NumpyArray, "n 3"]
    """The points at rest, metres."""
    triangles: Int[NumpyArray, "n k 3"]
    """Corners of the skin triangles that carry each point."""
    places: Float[NumpyArray, "n k 3"]
    """The point in the frame of each of them, metres."""
    weights: Float[NumpyArray, "n k"]
    """Share of each triangle; rows sum to one."""
    rigid_groups: Int[NumpyArray, "n"]
    """Number of the part that a point moves rigidly with; −1 for soft points."""

    def follow(self, skin: Float[NumpyArray, "N V 3"]) -> Float[NumpyArray, "N n 3"]:
        """Where the points are when the skin is at `skin`, metres."""
        require_indices("triangles of a follower", self.triangles, skin.shape[1])
        moved = np.stack([self._at(np.asarray(frame, np.float64)) for frame in skin])
        for group in range(self.rigid_groups.max(initial=-1) + 1):
            members = np.flatnonzero(self.rigid_groups == group)
            moved[:, members] = _rigid(self.rest[members], moved[:, members])
        return moved.astype(skin.dtype)

    def _at(self, skin: Float[NumpyArray, "V 3"]) -> Float[NumpyArray, "n 3"]:
        origins, frames = _frames(skin[self.triangles])
        # x = Σ_k w_k (o_k + F_k y_k)
        each = origins + np.einsum("nkij,nkj->nki", frames, self.places)
        return np.einsum("nk,nki->ni", self.weights, each)


def bind_follower(
    points: Float[NumpyArray, "n 3"],
    rigid_groups: Int[NumpyArray, "n"],
    skin: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
) -> Follower:
    """Bind points (metres) to the nearest triangles of a skin at rest."""
    from scipy.spatial import KDTree

    from corporeal.geometry.surface_tree import SurfaceTree

    points, skin = np.asarray(points, np.float64), np.asarray(skin, np.float64)
    area = triangle_areas(skin, triangles)
    solid = triangles[area > 1e-12 * max(float(area.max(initial=0.0)), 1e-300)]
    if len(solid) == 0:
        raise InputError("loose parts have no skin to follow: it has no triangle with an area.")
    corners = skin[solid]
    touched, nearest = SurfaceTree(skin, solid).closest(points)
    count = min(NEIGHBOURS - 1, len(solid))
    away, others = KDTree(corners.mean(axis=1)).query(points, k=count)
    near = np.column_stack([nearest, others.reshape(-1, count)])
    gap = np.linalg.norm(points - touched, axis=1)
    distance = np.column_stack([gap, away.reshape(-1, count)])
    softening = gap[:, None] + np.sqrt(triangle_areas(skin, solid)[near]).mean(
        axis=1, keepdims=True
    )
    weights = 1.0 / (distance**2 + softening**2)
    weights /= weights.sum(axis=1, keepdims=True)
    origins, frames = _frames(corners[near])
    places = np.einsum("nkji,nkj->nki", frames, points[:, None] - origins)
    return Follower(points, solid[near], places, weights, np.asarray(rigid_groups))


def _frames(
    corners: Float[NumpyArray, "*batch 3 3"],
) -> tuple[Float[NumpyArray, "*batch 3"], Float[NumpyArray, "*batch 3 3"]]:
    """Centre and axes (columns) of triangles; a collapsed one has zero axes where it has none."""
    edge = _unit(corners[..., 1, :] - corners[..., 0, :])
    normal = _unit(np.cross(edge, corners[..., 2, :] - corners[..., 0, :]))
    return corners.mean(axis=-2), np.stack([edge, np.cross(normal, edge), normal], axis=-1)


def _unit(vectors: Float[NumpyArray, "*batch 3"]) -> Float[NumpyArray, "*batch 3"]:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)


def _rigid(
    rest: Float[NumpyArray, "n 3"], moved: Float[NumpyArray, "N n 3"]
) -> Float[NumpyArray, "N n 3"]:
    """`rest` under the rotation and shift of every frame that fits `moved` best (Kabsch 1976)."""
    centre, centres = rest.mean(axis=0), moved.mean(axis=1, keepdims=True)
    rotations = best_rotation(rest - centre, moved - centres)
    return np.einsum("Nij,nj->Nni", rotations, rest - centre) + centres
