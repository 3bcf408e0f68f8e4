"""Whether a pose asks the impossible of flesh: bones through bones, anchors through anchors.

Hard anchors lie three quarters of the way from the bones to the skin and go where bones take them,
whatever the material between them. Where those of two limbs are through each other, no contact and
no material can part the skin that lies on them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.capture.clearance import Capsules, segment_distances
from corporeal.geometry.intersection import intersecting_triangle_pairs
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.solver.constraints.strain import StrainConstraint
from corporeal.physics.volumetric_mesh.prisms import signed_volumes
from corporeal.skinning.kinematics import forward_kinematics

APART: Final = 0.8
"""Share of the sum of their radii that the middle lines of two limbs must be apart by: a little
more than where anchors lie."""


@dataclass(frozen=True)
class NearestLimbs:
    """The two bones of a pose that are deepest in each other."""

    names: tuple[str, str]
    """Joints that they begin at."""
    distance: float
    """Between their middle lines, metres."""
    share: float
    """Of the sum of their radii; below `APART` bones are through each other."""


def nearest_limbs(
    capsules: Capsules, skeleton: Skeleton, rotations: Float64[NumpyArray, "J 3"]
) -> NearestLimbs:
    """Of all pairs of limb bones that share no joint."""
    frames = forward_kinematics(rotations, capsules.joints, capsules.parents, np.zeros(3))
    ends = frames[capsules.bones, :3, 3]
    first, second = capsules.pairs.T
    distances = segment_distances(ends[first], ends[second])
    shares = distances / (capsules.radii[first] + capsules.radii[second])
    least = int(shares.argmin())
    one, other = (skeleton.names[capsules.bones[side[least], 0]] for side in (first, second))
    return NearestLimbs((one, other), float(distances[least]), float(shares[least]))


class AnchorHealth:
    """Looks at the hard anchors of one body's flesh, as bones carry them."""

    def __init__(self, body: SimulatedBody) -> None:
        self._body, held = body, np.asarray(body.system.anchored)
        inner = np.asarray(body.surface.triangles, np.int64) + body.surface.vertex_count
        self.triangles: Int[NumpyArray, "F 3"] = inner[held[inner].all(axis=1)]
        """Of the surface beneath the skin: those of which bones carry every corner."""
        strains = [c for c in body.system.constraints if isinstance(c, StrainConstraint)]
        elements = np.concatenate([c.tetrahedra for c in strains])
        self.elements: Int[NumpyArray, "T 4"] = elements[held[elements].all(axis=1)]
        """Of which bones carry every corner."""

    @cached_property
    def _at_rest(self) -> Int[NumpyArray, "m"]:
        """Of the pose that flesh is free of stress in, and of the zero pose."""
        standing = Pose(np.zeros((len(self._body.joints), 3)), np.zeros(3))
        standing_anchors = self._body.carriers(self._body.frames(standing))
        rest = np.asarray(self._body.rest, np.float64)
        return np.union1d(self._codes(rest), self._codes(standing_anchors))

    def _codes(self, positions: Float64[NumpyArray, "n 3"]) -> Int[NumpyArray, "m"]:
        """A number for each pair of triangles that meet."""
        one, other = intersecting_triangle_pairs(positions, self.triangles).T
        return one * len(self.triangles) + other

    def crossings(self, world_from_joint: Float64[NumpyArray, "J 4 4"]) -> int:
        """Pairs of triangles between hard anchors that meet, and do neither at rest nor in the zero
        pose."""
        carried = self._body.carriers(world_from_joint)
        return len(np.setdiff1d(self._codes(carried), self._at_rest))

    def inverted(self, world_from_joint: Float64[NumpyArray, "J 4 4"]) -> int:
        """Elements between hard anchors that are inside out."""
        carried = self._body.carriers(world_from_joint)
        return int((signed_volumes(carried, self.elements) <= 0.0).sum())
