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
from corporeal.physics.coupling.coupling import node_positions
from corporeal.physics.volumetric_mesh.base_points import BasePoints, closest_base_points
from corporeal.physics.volumetric_mesh.model import VolumetricModel
from corporeal.runtime.threads import over_slices, thread_count

COUNTER_CLOCKWISE = 8
"""Bit of a prism's kind: its sorted corners run counter-clockwise seen from outside. The bits 1, 2
and 4 are its usable tetrahedra."""
_CELL = (1.5, 1.5, 0.25)
"""Cells of the grid, in mean edges: along z they are runs in memory, so small ones are free."""
_MOST_CELLS = 200_000
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
    ) -> Int[NumpyArray, "n 2"]:
        """Every vertex, or every chosen one, that is inside the prism of a triangle it is no corner
        of: (v, t)."""
        from corporeal.physics.contact.cpu.detection import find_inside, sort_by_cell

        vertices = np.arange(len(skin)) if chosen is None else chosen
        low, cell, counts = self._grid(skin if chosen is None else skin[chosen])
        per_metre = (1.0 / cell).astype(np.float32)
        grid = sort_by_cell(skin, base_points, vertices, low, per_metre, counts)
        slots, prisms = thread_count(), len(self.prisms)
        results: list[NumpyArray] = [np.zeros((0, 2), np.int32)] * slots

        def work(start: int, stop: int) -> None:
            for slot in range(start, stop):
                first, last = prisms * slot // slots, prisms * (slot + 1) // slots
                size = _PAIRS_A_SLOT
                while True:
                    found = np.empty((size, 2), np.int32)
                    needed = find_inside(
                        self.prisms, self.kinds, per_metre, counts, *grid, first, last, found,
                    )  # fmt: skip
                    if needed <= size:
                        break
                    size = needed
                results[slot] = found[:needed]

        over_slices(work, slots)
        return np.concatenate(results)

    def _grid(
        self, points: Float64[NumpyArray, "k 3"]
    ) -> tuple[Float64[NumpyArray, "3"], Float64[NumpyArray, "3"], Int[NumpyArray, "3"]]:
        """Corner, cell size (metres) and number of cells around the points that are looked for;
        larger cells for fewer, and for what is spread far."""
        from corporeal.physics.contact.cpu.detection import box_of

        low, high = box_of(points) if len(points) else (np.zeros(3), np.zeros(3))
        extent = high - low
        cell = (
            self.mean_edge * np.array(_CELL) * np.sqrt(len(self.base.bones) / max(len(points), 1))
        )
        while True:
            counts = np.floor(extent / cell) + 1
            if counts.prod() <= _MOST_CELLS:
                return low, cell, counts.astype(np.int64)
            cell = 1.25 * cell


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
