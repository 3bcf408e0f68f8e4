"""Skin on skin: the contacts of a pose, and those that rest from one step to the next.

Komaritzan 2022, section 3.2.5, "GPU-Based Global Collision Handling", run on the CPU here.
The response acts on x − Σ b_k x_k, the vertex seen from its foot on the triangle, along the normal:
it does not see translations, and does not hold what slides.
"""

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.geometry.surface import vertex_adjacency
from corporeal.physics.contact.blending_reference import BlendingReference
from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.contact.detection import SkinDetection
from corporeal.physics.contact.rules import CLEARANCE, FRICTION, RESTING, WEIGHT
from corporeal.physics.volumetric_mesh.model import VolumetricModel

LONGEST_CHAIN = 2
"""Bones that may lie between those of a pair at a joint: collar and spine from arm to chest."""
_OWN_RINGS = 3
"""Triangles within so many edges of a vertex, facing the same way, are not what it entered."""


class SkinContacts:
    """Makes the contacts of one body with itself. Overlaps that it has at rest are left alone."""

    def __init__(self, model: VolumetricModel, joints: Float64[NumpyArray, "J 3"]) -> None:
        self.detection = SkinDetection(model, joints)
        self.push = RESTING * self.detection.mean_edge
        """Metres within which pairs are kept, and by which they come apart in one step at most."""
        self._triangles = self.detection.triangles
        self._count = model.vertex_count
        self._rest = np.ascontiguousarray(model.skin, np.float64)
        self._fixed = np.ascontiguousarray(model.rigid)
        near = vertex_adjacency(self._triangles, self._count).astype(np.int64)
        reach = near.copy()
        for _ in range(_OWN_RINGS - 1):
            reach = reach @ near + reach
        reach.sort_indices()
        self.near = (reach.indptr.astype(np.int64), reach.indices.astype(np.int64))
        self._around = _triangles_of_vertices(self._triangles, self._count)
        to_bone = np.linalg.norm(self._rest - model.base_points, axis=1)
        self._thickness = to_bone[self._triangles].max(axis=1)
        owners = model.bones.bone_joints[self.detection.base.bones]
        thickness = float(to_bone.mean()) / self.detection.mean_edge
        self.blending_reference = BlendingReference(
            self._rest, self._triangles, joints, owners, thickness
        )
        self._near_bones = _near_bones(model.bones.bones)
        self.ignored = self._at_rest(model)

    def _at_rest(self, model: VolumetricModel) -> Int[NumpyArray, "m"]:
        """Keys of the pairs that overlap at rest, with the triangles around them, sorted."""
        skin, base = np.asarray(model.skin, np.float64), np.asarray(model.base_points, np.float64)
        starts, around = self._around
        keys = [np.zeros(0, np.int64)]
        for v, triangle in self.detection.inside(skin, base):
            corners = self._triangles[triangle]
            beside = np.concatenate([around[starts[u] : starts[u + 1]] for u in corners])
            keys.append(self._keys(np.stack([np.full(len(beside), v), beside], axis=1)))
        return np.unique(np.concatenate(keys))

    def _keys(self, pairs: Int[NumpyArray, "n 2"]) -> Int[NumpyArray, "n"]:
        return pairs[:, 0].astype(np.int64) * len(self._triangles) + pairs[:, 1]

    def contacts(
        self,
        positions: Float64[NumpyArray, "n 3"],
        world_from_joint: Float64[NumpyArray, "J 4 4"],
        resting: Int[NumpyArray, "m 2"] | None = None,
        chosen: Int[NumpyArray, "k"] | None = None,
    ) -> tuple[Contacts, Int[NumpyArray, "C 2"]]:
        """Contacts of the vertices at `positions` (metres), and the pairs (vertex, triangle) that
        they are between.

        `resting` are the pairs of before: they stay until they part, or are released
        (`contact.cpu.release`). What is deeper inside than `push` metres comes out by so much.
        Where vertices are `chosen`, new pairs are those of them at joints alone.
        """
        from corporeal.physics.contact.cpu.pairs import attach
        from corporeal.physics.contact.cpu.release import release_contacts

        skin = np.ascontiguousarray(positions[: self._count])
        base_points = self.detection.base_points(world_from_joint)
        found = self._entered(skin, base_points, chosen)
        if chosen is not None:
            found = found[self.at_joints(found)]
        inside = np.zeros(self._count, bool)
        inside[found[:, 0]] = True
        kept = np.zeros((0, 2), np.int32) if resting is None else resting.astype(np.int32)
        most = len(kept) + len(found)
        pairs, shares = np.empty((most, 2), np.int64), np.empty((most, 3))
        normals, gaps = np.empty((most, 3)), np.empty(most)
        old_count, count = attach(
            kept, found, inside, skin, self._rest, self._triangles, self._fixed, *self.near,
            *self._around, self.push, pairs, shares, normals, gaps,
        )  # fmt: skip
        furthest = np.empty(count)
        if count:
            blending_reference, doubts = self.blending_reference.at(world_from_joint)
            overlapping = self._overlapping(blending_reference, base_points, pairs[:count])
            count = release_contacts(
                old_count, inside, skin, blending_reference, doubts, overlapping, self._thickness,
                self._triangles, self.push, pairs, shares, normals, gaps[:count], furthest,
            )  # fmt: skip
        pairs = pairs[:count].copy()
        apart = np.minimum(gaps[:count] + self.push, CLEARANCE * self.push)
        rows = Contacts(
            np.concatenate([pairs[:, :1], self._triangles[pairs[:, 1]]], axis=1),
            np.concatenate([np.ones((count, 1)), -shares[:count]], axis=1),
            normals[:count].copy(),
            np.minimum(apart, furthest[:count]),
            np.full(count, WEIGHT),
            np.zeros(count, bool),
            np.full(count, FRICTION),
        )
        return rows, pairs

    def _overlapping(
        self,
        blending_reference: Float64[NumpyArray, "V 3"],
        base_points: Float64[NumpyArray, "V 3"],
        pairs: Int[NumpyArray, "n 2"],
    ) -> Bool[NumpyArray, "V"]:
        """Which vertices of pairs have reference positions inside the body at its reference."""
        asked = np.zeros(self._count, bool)
        asked[pairs[:, 0]] = True
        asked[self._triangles[pairs[:, 1]]] = True
        found = self._entered(blending_reference, base_points, np.flatnonzero(asked))
        overlapping = np.zeros(self._count, bool)
        overlapping[found[:, 0]] = True
        return overlapping

    def at_joints(self, pairs: Int[NumpyArray, "n 2"]) -> Bool[NumpyArray, "n"]:
        """Which pairs (vertex, triangle) lie on bones with few others between them."""
        owners = self.detection.base.bones
        return self._near_bones[owners[pairs[:, 0]], owners[self._triangles[pairs[:, 1], 0]]]

    def detect(
        self,
        skin: Float64[NumpyArray, "V 3"],
        world_from_joint: Float64[NumpyArray, "J 4 4"],
    ) -> Int[NumpyArray, "n 2"]:
        """What is inside now and was not at rest."""
        return self._entered(skin, self.detection.base_points(world_from_joint))

    def _entered(
        self,
        skin: Float64[NumpyArray, "V 3"],
        base_points: Float64[NumpyArray, "V 3"],
        chosen: Int[NumpyArray, "k"] | None = None,
    ) -> Int[NumpyArray, "n 2"]:
        """What is inside and was not at rest: of all vertices, or of the chosen ones."""
        found = self.detection.inside(skin, base_points, chosen)
        if len(self.ignored) == 0:
            return found
        keys = self._keys(found)
        place = np.minimum(np.searchsorted(self.ignored, keys), len(self.ignored) - 1)
        return found[self.ignored[place] != keys]


def _triangles_of_vertices(
    triangles: Int[NumpyArray, "F 3"], count: int
) -> tuple[Int[NumpyArray, "starts"], Int[NumpyArray, "n"]]:
    """The triangles around every vertex, as sparse rows."""
    order = np.argsort(triangles.ravel(), kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(triangles.ravel(), minlength=count))])
    return starts.astype(np.int64), (order // 3).astype(np.int64)


def _near_bones(bones: Int[NumpyArray, "b 2"]) -> Bool[NumpyArray, "b b"]:
    """Pairs of different bones with at most `LONGEST_CHAIN` others between them."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    count = int(bones.max()) + 1
    graph = csr_array((np.ones(len(bones)), (bones[:, 0], bones[:, 1])), shape=(count, count))
    steps = shortest_path(graph, directed=False, unweighted=True)
    between = np.min([steps[np.ix_(bones[:, a], bones[:, b])] for a in (0, 1) for b in (0, 1)], 0)
    return (between <= LONGEST_CHAIN) & ~np.eye(len(bones), dtype=bool)
