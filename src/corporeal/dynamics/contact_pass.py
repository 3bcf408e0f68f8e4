"""A light contact pass: posed skin that has entered itself is pressed apart, frame by frame.

Learned offsets know movement and not contact. The pass takes the skin that they give for the shape
of rest, finds what has entered what by the physics package's detection (Komaritzan 2022, 3.2.5) on
a coarse skin, and moves the fine skin by a displacement d that opens all overlaps and is smooth:

    d = argmin Σ_v |d_v|² / l_v² + |∇d|²,   n·(d_v − Σ_k b_k d_k) ≥ clearance − gap   of every pair,

approached by rounds of projections and averages (Müller 2007, position-based dynamics). l_v is how
thick the flesh over the bone is: a belly gives way, a forearm hardly does, and nothing is pressed
into a bone. The pass has no velocity and remembers nothing: a frame depends on its own skin alone,
so that what rests stays at rest, and skin that is near no other is left as it is, to the bit.
"""

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.geometry.surface import mean_side, vertex_adjacency
from corporeal.physics.contact.detection import SkinDetection
from corporeal.physics.volumetric_mesh.carried_parts import HANDS
from corporeal.physics.volumetric_mesh.model import build_volumetric_model
from corporeal.physics.volumetric_mesh.simulation_mesh import simulation_mesh
from corporeal.skinning.kinematics import rest_to_world

MARGIN = 3.0e-3
"""Metres by which the coarse skin is blown up to find pairs: its facets lie under the fine skin."""
_OWN_RINGS = 3
"""Triangles within so many edges of a vertex, facing the same way, are not what it entered."""
_HELD = 1.5
"""Σ_j (d_j − d_i) = 1.5 e² ∇²d on a grid of equal triangles with edges e."""


class ContactSurface:
    """What the pass knows of a skin, whoever's it is."""

    def __init__(self, template: Template) -> None:
        from scipy.spatial import KDTree

        mesh, count = template.mesh, template.mesh.vertex_count
        self.template = template
        self.triangles = np.ascontiguousarray(mesh.triangles, np.int64)
        self.coarse = simulation_mesh(template)
        near = csr_array(vertex_adjacency(self.triangles, count).astype(np.int64))
        reach = near.copy()
        for _ in range(_OWN_RINGS - 1):
            reach = reach @ near + reach
        reach.sort_indices()
        self.beside = (near.indptr.astype(np.int64), near.indices.astype(np.int64))
        """Vertices one edge away, as sparse rows."""
        self.near = (reach.indptr.astype(np.int64), reach.indices.astype(np.int64))
        """Vertices of the own neighbourhood, as sparse rows."""
        self.around = _rows(self.triangles.ravel(), np.arange(3 * len(self.triangles)) // 3, count)
        """Triangles around every vertex, as sparse rows."""
        kept = self.coarse.vertex_indices
        rest = np.asarray(mesh.vertices, np.float64)
        self.owners = np.asarray(KDTree(rest[kept]).query(rest)[1], np.int64)
        """The nearest vertex of the coarse skin."""
        self.members = _rows(self.owners, np.arange(count), len(kept))
        """Vertices that a coarse one stands for, as sparse rows."""
        self.starts = self.around[1][self.around[0][kept]]
        """A triangle of the fine skin at every coarse vertex."""
        self.hands = np.zeros(len(kept), np.int64)
        """Coarse vertices of a hand by its number, 0 for others: what fingers of one hand do to
        each other is left to poses."""
        for number, hand in enumerate(HANDS, start=1):
            if hand in template.part_names:
                self.hands[np.isin(kept, template.part(hand))] = number

    def candidates(self, found: Int[NumpyArray, "n 2"]) -> Int[NumpyArray, "m 2"]:
        """Fine vertices, and a triangle to walk from, of pairs of coarse vertices."""
        starts, members = self.members
        counts = np.diff(starts)[found[:, 0]]
        rows = np.repeat(np.arange(len(found)), counts)
        place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        vertices = members[starts[found[rows, 0]] + place]
        return np.stack([vertices, self.starts[found[rows, 1]]], axis=1).astype(np.int32)


class ContactPass:
    """Presses the posed skins of one body apart. What overlaps at rest is left alone."""

    def __init__(self, surface: ContactSurface, identity: Identity) -> None:
        self._surface, skeleton = surface, surface.template.skeleton
        self._joints = np.asarray(identity.joints, np.float64)
        self._rest = np.ascontiguousarray(identity.rest_vertices, np.float64)
        bones = Skeleton(skeleton.names, skeleton.parents, self._joints)
        model = build_volumetric_model(surface.coarse.surface(self._rest), bones)
        self._detection = SkinDetection(model, self._joints)
        edge = mean_side(self._rest, surface.triangles)
        over_bone = np.linalg.norm(np.asarray(model.skin) - np.asarray(model.base_points), axis=1)
        self._thickness = np.maximum(over_bone[surface.owners], edge)
        self._hold = _HELD * (edge / self._thickness) ** 2
        inside = self._detection.inside(
            np.asarray(model.skin, np.float64), np.asarray(model.base_points, np.float64)
        )
        self._unheld = np.zeros(len(self._rest), bool)
        self._ignored = np.zeros(model.vertex_count, bool)
        self._ignored[inside[:, 0]] = True
        frames = np.tile(np.eye(4), (len(self._joints), 1, 1))
        frames[:, :3, 3] = self._joints
        self._ignored[surface.owners[self._pressed(self._rest, frames)[1]]] = True

    def apart(
        self, skin: Float[NumpyArray, "V 3"], world_from_joint: Float[NumpyArray, "J 4 4"]
    ) -> Float64[NumpyArray, "V 3"]:
        """How a posed skin (metres) must move to be out of itself; exactly 0 where nothing is
        near."""
        return self._pressed(np.ascontiguousarray(skin, np.float64), world_from_joint)[0]

    def _pressed(
        self, points: Float64[NumpyArray, "V 3"], world_from_joint: Float[NumpyArray, "J 4 4"]
    ) -> tuple[Float64[NumpyArray, "V 3"], Int[NumpyArray, "n"]]:
        """The displacement, and the vertices that had to be parted from what they had entered."""
        from corporeal.dynamics.contact_pass_cpu import pressed_apart

        surface = self._surface
        candidates = surface.candidates(self._found(points, world_from_joint))
        moved, vertices, parted = pressed_apart(
            points, candidates, self._rest, surface.triangles, self._unheld, *surface.near,
            *surface.around, *surface.beside, self._thickness, self._hold,
        )  # fmt: skip
        return moved, vertices[parted]

    def _found(
        self, points: Float64[NumpyArray, "V 3"], world_from_joint: Float[NumpyArray, "J 4 4"]
    ) -> Int[NumpyArray, "n 2"]:
        """Coarse vertices within twice the margin of what they are not part of, and the nearest
        vertices of that."""
        from corporeal.physics.contact.cpu.pairs import skin_normals

        detection = self._detection
        frames = np.asarray(world_from_joint, np.float64)
        coarse = np.ascontiguousarray(points[self._surface.coarse.vertex_indices])
        coarse += MARGIN * skin_normals(coarse, detection.triangles)
        moves = np.ascontiguousarray(rest_to_world(frames, self._joints))
        found = detection.inside(coarse, detection.base_points(frames), None, moves)
        hands = self._surface.hands
        one, other = hands[found[:, 0]], hands[detection.triangles[found[:, 1], 0]]
        found = found[~self._ignored[found[:, 0]] & ((one != other) | (one == 0))]
        corners = detection.triangles[found[:, 1]]
        apart = np.linalg.norm(coarse[corners] - coarse[found[:, 0], None], axis=-1)
        nearest = corners[np.arange(len(found)), apart.argmin(axis=1)]
        # a walk leads to the nearest triangle: one start a bone will do
        bones = detection.base.bones[nearest]
        order = np.lexsort((apart.min(axis=1), bones, found[:, 0]))
        sorted_bones, sorted_vertices = bones[order], found[order, 0]
        other = (np.diff(sorted_bones) != 0) | (np.diff(sorted_vertices) != 0)
        order = order[np.concatenate([[True], other])[: len(order)]]
        return np.stack([found[order, 0], nearest[order]], axis=1)


def _rows(
    keys: Int[NumpyArray, "n"], values: Int[NumpyArray, "n"], count: int
) -> tuple[Int[NumpyArray, "starts"], Int[NumpyArray, "n"]]:
    """Values by their keys (below `count`), as sparse rows."""
    order = np.argsort(keys, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=count))])
    return starts.astype(np.int64), np.asarray(values)[order].astype(np.int64)
