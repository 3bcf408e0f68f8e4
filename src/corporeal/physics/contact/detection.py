"""Global detection: which skin vertices are inside the body, and behind which triangle.

Komaritzan 2022, section 3.2.5. The body is filled with tetrahedra between the skin and its
base points on the bone lines: the flesh's own tetrahedra would leave out what is inside the bones.
Most of a prism's three tetrahedra are flat where its base points lie on one line; they are left
out, and so are those that a pose has turned inside out.
"""

import numpy as np

from corporeal._typing import Bool, Float, Float64, Int, NumpyArray
from corporeal.geometry.surface import mean_side
from corporeal.geometry.volume import enclosed_volume
from corporeal.physics.contact.blocks import LANES, skin_blocks
from corporeal.physics.coupling.coupling import node_positions
from corporeal.physics.volumetric_mesh.base_points import BasePoints, closest_base_points
from corporeal.physics.volumetric_mesh.model import VolumetricModel
from corporeal.runtime.threads import over_slices, thread_count

COUNTER_CLOCKWISE = 8
"""Bit of a prism's kind: its sorted corners run counter-clockwise seen from outside. The bits 1, 2
and 4 are its usable tetrahedra."""
_PAIRS_A_SLOT = 4096


class SkinDetection:
    """Finds vertices inside prisms, for any pose of one body."""

    def __init__(self, model: VolumetricModel, joints: Float64[NumpyArray, "J 3"]) -> None:
        self.triangles = triangles = outward_triangles(model)
        """Of the skin, counter-clockwise seen from outside."""
        count = model.vertex_count
        self._bones, self._joints = model.bones, joints
        self.base = closest_base_points(model.base_points, model.bones)
        self._ends = np.ascontiguousarray(model.bones.bones[self.base.bones])
        order = np.argsort(triangles, axis=1)
        sorted_corners = np.take_along_axis(triangles, order, axis=1)
        flat = _always_flat(sorted_corners, self.base, model.base_points)
        even = (order[:, 1] - order[:, 0]) % 3 == 1
        kinds = (~flat) @ np.array([1, 2, 4]) + COUNTER_CLOCKWISE * even
        self.kinds = kinds.astype(np.int32)
        self.prisms = np.concatenate([sorted_corners, sorted_corners + count], axis=1).astype(
            np.int32
        )
        self.blocks = skin_blocks(
            np.asarray(model.skin, np.float64),
            np.asarray(model.base_points, np.float64),
            self.base.bones,
            len(model.bones.bones),
            self.prisms,
            self.kinds,
        )
        """What is gone through, in its order."""
        self.mean_edge = mean_side(model.skin, triangles)
        """Of the rest skin, metres."""

    def base_points(
        self, world_from_joint: Float64[NumpyArray, "J 4 4"]
    ) -> Float64[NumpyArray, "V 3"]:
        """The base points on the posed bone lines, metres."""
        from corporeal.physics.contact.cpu.detection import places_on_bones

        return places_on_bones(self.nodes(world_from_joint), self._ends, self.base.places)

    def nodes(self, world_from_joint: Float64[NumpyArray, "J 4 4"]) -> Float64[NumpyArray, "n 3"]:
        """The ends of the posed bone lines, metres."""
        return node_positions(world_from_joint, self._joints, self._bones)

    def inside(
        self,
        skin: Float64[NumpyArray, "V 3"],
        base_points: Float64[NumpyArray, "V 3"],
        chosen: Int[NumpyArray, "k"] | None = None,
        moves: Float64[NumpyArray, "J 4 4"] | None = None,
    ) -> Int[NumpyArray, "n 2"]:
        """Every vertex, or every chosen one, that is inside the prism of a triangle it is no corner
        of: (v, t), sorted by t and v.

        `moves` (`rest_to_world`) are how joints take what they carry there from rest: with them
        skin that has hardly moved against its bone is not looked at, which is faster, and changes
        nothing.
        """
        from corporeal.physics.contact.cpu import detection as compiled

        wanted = np.ones(len(skin), bool) if chosen is None else np.zeros(len(skin), bool)
        if chosen is not None:
            wanted[chosen] = True
            if len(chosen) == 0:
                return np.zeros((0, 2), np.int32)
        blocks, count = self.blocks, len(skin)
        low, _ = compiled.box_of(skin)
        corners = compiled.gather_places(skin, base_points, low)
        if moves is None:
            left = np.full(2 * count, np.inf, np.float32)
        else:
            bone_moves = np.ascontiguousarray(moves[self._bones.bone_joints])
            rest, bones = blocks.rest, self.base.bones
            left = compiled.left_rest(
                skin, base_points, rest[:count], rest[count:], bones, bone_moves
            )
        places = np.empty((len(blocks.members), 3 * LANES), np.float32)
        boxes, most_left = np.empty((len(places), 6), np.float32), np.empty(len(places), np.float32)
        bone_boxes = np.empty((len(blocks.bone_starts) - 1, 6), np.float32)
        compiled.fill_blocks(
            corners, blocks.members, wanted, left, blocks.bone_starts, places, boxes, most_left,
            bone_boxes,
        )  # fmt: skip
        slots, clusters = thread_count(), len(blocks.starts) - 1
        results: list[NumpyArray] = [np.zeros((0, 2), np.int32)] * slots

        def work(start: int, stop: int) -> None:
            for slot in range(start, stop):
                first, last = clusters * slot // slots, clusters * (slot + 1) // slots
                size = _PAIRS_A_SLOT
                while True:
                    found = np.empty((size, 2), np.int32)
                    needed = compiled.find_inside(
                        blocks.prisms, blocks.kinds, blocks.numbers, blocks.starts,
                        blocks.prism_bones, blocks.gap_starts, blocks.gaps, corners, left,
                        blocks.members, places, boxes, most_left, blocks.bone_starts, bone_boxes,
                        first, last, found,
                    )  # fmt: skip
                    if needed <= size:
                        break
                    size = needed
                results[slot] = found[:needed]

        over_slices(work, slots)
        found = np.concatenate(results)
        return found[np.argsort(found[:, 1].astype(np.int64) * count + found[:, 0])]


def outward_triangles(model: VolumetricModel) -> Int[NumpyArray, "F 3"]:
    """The skin's triangles; turned over where they enclose a negative volume."""
    triangles = np.ascontiguousarray(model.triangles, np.int64)
    volume = float(enclosed_volume(np.asarray(model.skin, np.float64), triangles))
    return triangles if volume >= 0 else np.ascontiguousarray(triangles[:, ::-1])


def _always_flat(
    corners: Int[NumpyArray, "F 3"], base: BasePoints, base_points: Float[NumpyArray, "V 3"]
) -> Bool[NumpyArray, "F 3"]:
    """Tetrahedra of the prisms, as `split_prisms` has them, without volume in every pose.

    The second, of two skin and two base points, has none where these coincide; the third, of one
    skin and three base points, where these lie on one bone. Others may be flat at rest and not so
    across a bent joint.
    """
    b, c = corners[:, 1], corners[:, 2]
    bones, places = base.bones[corners], base_points[corners]
    one_bone = (bones == bones[:, :1]).all(axis=1)
    met = np.linalg.norm(base_points[b] - base_points[c], axis=1) < 1e-9
    point = np.linalg.norm(places - places[:, :1], axis=2).max(axis=1) < 1e-9
    return np.stack([np.zeros(len(corners), bool), met, one_bone | point], axis=1)
