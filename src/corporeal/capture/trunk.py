"""The posed skin of trunk and head, and how deep limbs are in it.

A trunk is no thick line: a belly lies far before the spine, and differs from person to person. So
points on the middle lines of the limbs are held against the skin itself, moved by linear blending.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.template import Template
from corporeal.geometry.surface import vertex_normals
from corporeal.skinning.kinematics import rest_to_world
from corporeal.skinning.linear import blend_linear

_HEAD_APART: Final = 8
"""Each so many vertices of the head are asked, whose face is finer than is needed; the trunk has
one each 2 cm."""
_BEHIND: Final = -0.5
"""Cosine to the normal from which on a place is behind the skin: the trunk is open where limbs
begin, and what lies beyond its rim is seen flatly."""
ALONG: Final = (np.arange(6) + 0.5) / 6
"""Shares of a bone's length at which its middle line is asked."""


@dataclass(frozen=True, eq=False)
class TrunkSkin:
    """Points of one person's trunk and head."""

    joints: Float64[NumpyArray, "J 3"]
    """At rest, metres."""
    points: Float64[NumpyArray, "n 3"]
    """At rest, metres."""
    normals: Float64[NumpyArray, "n 3"]
    """Outward, at rest."""
    weights: Float64[NumpyArray, "n J"]
    """Of linear blending."""

    def overlaps(
        self,
        frames: Float64[NumpyArray, "J 4 4"],
        ends: Float64[NumpyArray, "b 2 3"],
        radii: Float64[NumpyArray, "b"],
    ) -> Float64[NumpyArray, "b s"]:
        """How deep thick lines are in the posed skin at some places along them, metres.

        A line's radius less the distance of its middle from the nearest point of the skin, which
        counts as negative where the middle lies behind that.
        """
        moves = blend_linear(rest_to_world(frames, self.joints), self.weights)
        skin = np.einsum("nab,nb->na", moves[..., :3], self.points) + moves[..., 3]
        outward = np.einsum("nab,nb->na", moves[..., :3], self.normals)
        middles = ends[:, :1] + ALONG[:, None] * (ends[:, 1:] - ends[:, :1])
        # |m − x|² without |m|², which is the same for all points x
        nearest = ((skin**2).sum(axis=1) - 2.0 * middles @ skin.T).argmin(axis=2)
        away = middles - skin[nearest]
        distance = np.linalg.norm(away, axis=2)
        behind = np.einsum("bsa,bsa->bs", away, outward[nearest]) < _BEHIND * distance
        return radii[:, None] - np.where(behind, -distance, distance)


def trunk_of(
    template: Template, identity: Identity, owners: Int[NumpyArray, "V"], own: Bool[NumpyArray, "J"]
) -> TrunkSkin:
    """The skin of one person whose `owners`, a joint a vertex, are `own`: of trunk and head."""
    vertices = np.asarray(identity.rest_vertices, np.float64)
    normals = vertex_normals(vertices, np.asarray(template.mesh.triangles))
    head = template.skeleton.index("head")
    chosen = np.concatenate(
        [
            np.flatnonzero(owners == joint)[:: _HEAD_APART if joint == head else 1]
            for joint in np.flatnonzero(own)
        ]
    )
    return TrunkSkin(
        np.asarray(identity.joints, np.float64),
        vertices[chosen],
        np.asarray(normals, np.float64)[chosen],
        template.weights.dense()[chosen].astype(np.float64),
    )
