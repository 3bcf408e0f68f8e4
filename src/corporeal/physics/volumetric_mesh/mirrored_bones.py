"""What makes the flesh of a symmetric body symmetric where a rule alone would choose a side.

A vertex on the sagittal plane is as near to the left hip as to the right one, and a base point in a
joint is on several bones at once. Vertices on the plane keep to bones on the plane; of two mirror
images, the one at x > 0 decides for both.
"""

import numpy as np

from corporeal._typing import Bool, Float, Int, NumpyArray
from corporeal.geometry.mirror import EXACT, REFLECTION, mirror_joints, sides
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class MirroredBones:
    """A skin and bone lines that are their own mirror images."""

    vertices: Int[NumpyArray, "V"]
    """Image of every vertex."""
    side: Int[NumpyArray, "V"]
    """1 for vertices on the side x > 0, −1 for their images, 0 on the plane."""
    nodes: Int[NumpyArray, "n"]
    """Image of every node."""
    bones: Int[NumpyArray, "b"]
    """Image of every bone."""

    @property
    def middle_vertices(self) -> Bool[NumpyArray, "V"]:
        """Vertices on the plane."""
        return self.side == 0

    @property
    def middle_bones(self) -> Bool[NumpyArray, "b"]:
        """Bones on the plane."""
        return self.bones == np.arange(len(self.bones))

    def followers(self, points: Float[NumpyArray, "V 3"]) -> Bool[NumpyArray, "V"]:
        """Vertices at x < 0 whose `points` (metres) are mirror images of their image's: whatever
        bone these belong to, theirs belong to the image of it."""
        apart = np.abs(points[self.vertices] * REFLECTION - points).max(axis=1)
        return (self.side < 0) & (apart <= EXACT)


def mirrored_bones(
    vertices: Float[NumpyArray, "V 3"],
    mirror: Int[NumpyArray, "V"] | None,
    nodes: Float[NumpyArray, "n 3"],
    bones: Int[NumpyArray, "b 2"],
) -> MirroredBones | None:
    """None where the skin has no mirror map, or the bone lines have none or no bone on the
    plane."""
    if mirror is None:
        return None
    parents, ending = np.full(len(nodes), -1), np.full(len(nodes), -1)
    parents[bones[:, 1]], ending[bones[:, 1]] = bones[:, 0], np.arange(len(bones))
    images = mirror_joints(nodes, parents)
    if images is None or len(bones) == 0:
        return None
    found = MirroredBones(mirror, sides(vertices, mirror), images, ending[images[bones[:, 1]]])
    return found if found.middle_bones.any() else None


def nearest_bones(
    vertices: Float[NumpyArray, "V 3"],
    nodes: Float[NumpyArray, "n 3"],
    bones: Int[NumpyArray, "b 2"],
    mirrored: MirroredBones | None,
) -> tuple[Int[NumpyArray, "V"], Float[NumpyArray, "V"]]:
    """The nearest bone line of every vertex and the place on it, 0 to 1; of vertices on the plane,
    that of the bones there."""
    from corporeal.physics.volumetric_mesh.distances_cpu import closest_on_segments

    starts, ends = nodes[bones[:, 0]], nodes[bones[:, 1]]
    nearest, places = closest_on_segments(vertices, starts, ends)
    if mirrored is None:
        return nearest, places
    middle, inside = mirrored.middle_vertices, np.flatnonzero(mirrored.middle_bones)
    among, places[middle] = closest_on_segments(vertices[middle], starts[inside], ends[inside])
    nearest[middle] = inside[among]
    return nearest, places
