"""Skin on skin: the contacts of a pose, and those that rest from one step to the next.

Komaritzan 2022, section 3.2.5, "GPU-Based Global Collision Handling", run on the CPU here.
The response acts on x − Σ b_k x_k, the vertex seen from its foot on the triangle, along the normal:
it does not see translations, and does not hold what slides.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.errors import InputError
from corporeal.geometry.surface import vertex_adjacency
from corporeal.physics.contact.blending_reference import BlendingReference
from corporeal.physics.contact.contacts import Contacts, joined
from corporeal.physics.contact.detection import SkinDetection
from corporeal.physics.contact.edge_contacts import EdgeContacts
from corporeal.physics.contact.folds import Folds
from corporeal.physics.contact.rates import (
    Reference,
    Sides,
    aged_rates,
    first_rates,
    pressed_together,
)
from corporeal.physics.contact.rules import (
    ASLEEP,
    CLEARANCE,
    EDGE_DEEP,
    EDGE_DEEP_AT_JOINTS,
    FRICTION,
    RESTING,
    WEIGHT,
)
from corporeal.physics.contact.touching import (
    Movement,
    Touching,
    TouchingEdges,
    no_edges_touch,
    nothing_touches,
    seen_apart,
)
from corporeal.physics.volumetric_mesh.model import VolumetricModel
from corporeal.runtime.pytree_dataclass import unchecked, with_unchecked

LONGEST_CHAIN = 2
"""Bones that may lie between those of a pair at a joint: collar and spine from arm to chest."""
_OWN_RINGS = 3
"""Triangles within so many edges of a vertex, facing the same way, are not what it entered."""


class _Candidates(NamedTuple):
    """Pairs that may become rows, as the world sees them."""

    pairs: Int[NumpyArray, "m 2"]
    shares: Float64[NumpyArray, "m 3"]
    normals: Float64[NumpyArray, "m 3"]
    gaps: Float64[NumpyArray, "m"]
    """Heights over the feet, metres."""
    furthest: Float64[NumpyArray, "m"]
    """Metres that they may be pushed apart to."""
    sources: Int[NumpyArray, "m"]
    """Which pairs of before they come from, −1 for none."""
    inside: Bool[NumpyArray, "V"]
    """Skin vertices that are inside the body."""
    old_count: int
    """How many, the first, are pairs of before."""

    def first(self, count: int) -> "_Candidates":
        """The first ones."""
        parts = (self.pairs, self.shares, self.normals, self.gaps, self.furthest, self.sources)
        pairs, shares, normals, gaps, furthest, sources = (part[:count] for part in parts)
        return self._replace(
            pairs=pairs,
            shares=shares,
            normals=normals,
            gaps=gaps,
            furthest=furthest,
            sources=sources,
        )


class SkinContacts:
    """Makes the contacts of one body with itself. Overlaps that it has at rest are left alone."""

    def __init__(self, model: VolumetricModel, joints: Float64[NumpyArray, "J 3"]) -> None:
        self.detection = SkinDetection(model, joints)
        self.push = RESTING * self.detection.mean_edge
        """Metres within which pairs are kept, and by which they come apart in one step at most."""
        self._triangles = self.detection.triangles
        self._count = model.vertex_count
        self._rest = np.ascontiguousarray(model.skin, np.float64)
        self._fixed = np.ascontiguousarray(model.carried)
        near = vertex_adjacency(self._triangles, self._count).astype(np.int64)
        reach = near.copy()
        for _ in range(_OWN_RINGS - 1):
            reach = reach @ near + reach
        reach.sort_indices()
        self.near = (reach.indptr.astype(np.int64), reach.indices.astype(np.int64))
        self._around = _triangles_of_vertices(self._triangles, self._count)
        self.folds = Folds(csr_array(near))
        """Tells patches of skin that touch from each other."""
        to_bone = np.linalg.norm(self._rest - model.base_points, axis=1)
        self.thickness = to_bone[self._triangles].max(axis=1)
        """From triangles to their bones, metres."""
        owners = model.bones.bone_joints[self.detection.base.bones]
        self.owners = owners[self._triangles[:, 0]]
        """Joints of the bones that see the normals of triangles."""
        thickness = float(to_bone.mean()) / self.detection.mean_edge
        self.blending_reference = BlendingReference(
            self._rest, self._triangles, joints, owners, thickness
        )
        self.edged = False
        """Whether edges are kept from passing through edges, too."""
        self.near_bones = _near_bones(model.bones.bones)
        """Pairs of bones with few others between them."""
        self.edges = EdgeContacts(
            self._rest,
            self._triangles,
            self._fixed,
            to_bone,
            self.blending_reference,
            self.push,
        )
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
        touching: Touching | None = None,
        chosen: Int[NumpyArray, "k"] | None = None,
        movement: Movement | None = None,
    ) -> tuple[Contacts, Touching]:
        """Contacts of the vertices at `positions` (metres), and what the next step goes on from.

        `touching` are the pairs of before: they stay until they part, or are released
        (`contact.cpu.release`). What is deeper inside than `push` metres comes out by so much.
        Where vertices are `chosen`, new pairs are those of them at joints alone. Rows change as
        fast as a `movement` says (`contact.touching`); without one they are made anew.
        """
        skin = np.ascontiguousarray(positions[: self._count])
        touching = self._own(touching)
        before = self._turned(touching, world_from_joint, into_world=True)
        base_points = self.detection.base_points(world_from_joint)
        moves = self.blending_reference.moves(world_from_joint)
        anew = self._attached(skin, base_points, moves, before, chosen)
        asked = self._vertices(np.concatenate([before.pairs, anew.pairs]))
        # edges cost as much as the rest: nothing is asked of them where there are none
        edged = self.edged or (touching.edges is not None and len(touching.edges) > 0)
        edges = passing = None
        if edged:
            edges = self._turned_edges(touching.edges, world_from_joint, into_world=True)
            near = asked if self.edged else np.zeros_like(asked)
            asleep = (before.rates < ASLEEP) & (movement is not None)
            tangled = self._tangled(before, anew, edges, asleep)
            buried = tangled[self.edges.edges[edges.pairs]].any(axis=(1, 2))
            edges = edges.chosen(np.flatnonzero(~buried))
            passing = self.edges.passing(skin, near, tangled, edges)
            asked[self.edges.edges[passing.pairs]] = True
            asked[self.edges.edges[edges.pairs]] = True
        reference = self._reference(moves, base_points, asked)
        rates = self._rates(before, positions, movement, reference)
        anew = self._released(anew, skin, reference)
        asleep = with_unchecked(before, rates=rates).chosen(np.flatnonzero(rates < ASLEEP))
        now = asleep.with_others(self._awake(anew, skin, before, rates, movement))
        sides = self._sides(now.pairs, now.shares)
        pressed = pressed_together(reference, sides, self.push)
        rows = Contacts(
            *sides,
            now.normals,
            now.offsets,
            np.full(len(now), WEIGHT),
            np.zeros(len(now), bool),
            np.where(pressed, FRICTION, 0.0),
            now.places,
            now.rates,
        )
        after = self._turned(now, world_from_joint, into_world=False)
        if edges is None or passing is None:
            return rows, after
        edge_rows, edges = self.edges.rows(passing, edges, positions, reference, movement)
        edges = self._turned_edges(edges, world_from_joint, into_world=False)
        return joined([rows, edge_rows]), with_unchecked(after, edges=edges)

    def deepest(
        self,
        positions: Float64[NumpyArray, "n 3"],
        world_from_joint: Float64[NumpyArray, "J 4 4"],
        touching: Touching | None,
    ) -> float:
        """Metres that a vertex is behind the triangle that it should be in front of, at most; 0
        where none is."""
        now = self._turned(self._own(touching), world_from_joint, into_world=True)
        seen = seen_apart(positions, *self._sides(now.pairs, now.shares))
        return float(np.max(-np.sum(now.normals * seen, axis=1), initial=0.0))

    def _tangled(
        self,
        before: Touching,
        anew: _Candidates,
        edges: TouchingEdges,
        asleep: Bool[NumpyArray, "m"],
    ) -> Bool[NumpyArray, "V"]:
        """Vertices of folds that have no rows of edges (`Folds.barred`): where one is so deep
        behind its triangle that bones may have carried skin through skin, normals do not tell on
        which side of each other edges belong."""
        pairs = np.concatenate([before.pairs, anew.pairs])
        limits = np.where(self.at_joints(anew.pairs), EDGE_DEEP_AT_JOINTS, EDGE_DEEP) * self.push
        deep = anew.pairs[anew.gaps < -limits, 0]
        edged = self.edges.edges[edges.pairs].ravel()
        return self.folds.barred(self._corners(pairs), deep, asleep, edged)

    def _own(self, touching: Touching | None) -> Touching:
        """Pairs of before; refused if they are of another skin."""
        if touching is None:
            return nothing_touches()
        sizes = np.array([self._count, len(self._triangles)])
        if (touching.pairs < 0).any() or (touching.pairs >= sizes).any():
            raise InputError(
                f"touching has vertex {touching.pairs[:, 0].max()} and triangle "
                f"{touching.pairs[:, 1].max()}; the simulated skin has {sizes[0]} vertices and "
                f"{sizes[1]} triangles. Give the state of this body under these controls."
            )
        return touching

    def _attached(
        self,
        skin: Float64[NumpyArray, "V 3"],
        base_points: Float64[NumpyArray, "V 3"],
        moves: Float64[NumpyArray, "J 4 4"],
        before: Touching,
        chosen: Int[NumpyArray, "k"] | None,
    ) -> _Candidates:
        """Pairs of before that have not parted, with the feet that they have now, and those that
        are found."""
        from corporeal.physics.contact.cpu.pairs import attach

        found = self._entered(skin, base_points, moves, chosen)
        if chosen is not None:
            found = found[self.at_joints(found)]
        inside = np.zeros(self._count, bool)
        inside[found[:, 0]] = True
        most = len(before) + len(found)
        pairs, sources = np.empty((most, 2), np.int64), np.empty(most, np.int64)
        (shares, normals), (gaps, furthest) = np.empty((2, most, 3)), np.empty((2, most))
        old_count, count = attach(
            before.pairs.astype(np.int32), found, inside, skin, self._rest, self._triangles,
            self._fixed, *self.near, *self._around, self.push, pairs, shares, normals, gaps,
            furthest, sources,
        )  # fmt: skip
        candidates = _Candidates(pairs, shares, normals, gaps, furthest, sources, inside, old_count)
        return candidates.first(count)

    def _released(
        self, candidates: _Candidates, skin: Float64[NumpyArray, "V 3"], reference: Reference
    ) -> _Candidates:
        """Without those that nothing but themselves keeps together."""
        from corporeal.physics.contact.cpu.release import release_contacts

        c = candidates
        count = release_contacts(
            c.old_count, c.inside, skin, *reference, self.thickness, self._triangles, self.push,
            c.pairs, c.shares, c.normals, c.gaps, c.sources, c.furthest,
        )  # fmt: skip
        return candidates.first(count)

    def _awake(
        self,
        anew: _Candidates,
        skin: Float64[NumpyArray, "V 3"],
        before: Touching,
        rates: Float64[NumpyArray, "m"],
        movement: Movement | None,
    ) -> Touching:
        """New rows, and those of before that go on changing; vectors are the world's."""
        from corporeal.physics.contact.cpu.touching import go_on

        old_rates = np.append(rates, 0.0)[anew.sources]
        remembered, coming = self._first_rates(anew, skin, movement)
        fresh = anew.sources < 0
        lively = np.flatnonzero(np.where(fresh, coming, old_rates) >= ASLEEP)
        sources, blends = anew.sources[lively], np.where(fresh, 1.0, old_rates)[lively]
        offsets = np.minimum(
            anew.gaps + self.push, np.minimum(CLEARANCE * self.push, anew.furthest)
        )
        now = unchecked(
            Touching,
            anew.pairs[lively],
            anew.shares[lively],
            anew.normals[lively],
            offsets[lively],
            np.zeros((len(lively), 3)),
            np.where(fresh, remembered, old_rates)[lively],
        )
        go_on(
            sources, blends, now.pairs, now.shares, now.normals, now.offsets, before.pairs,
            before.shares, before.normals, before.offsets, before.places, skin, self._triangles,
            now.places,
        )  # fmt: skip
        return with_unchecked(now, offsets=np.minimum(now.offsets, anew.furthest[lively]))

    def _rates(
        self,
        before: Touching,
        positions: Float64[NumpyArray, "n 3"],
        movement: Movement | None,
        reference: Reference,
    ) -> Float64[NumpyArray, "m"]:
        """How much of what is new pairs of before take on; all without a movement."""
        if movement is None:
            return np.ones(len(before))
        sides = self._sides(before.pairs, before.shares)
        pressed, blending = pressed_together(reference, sides, self.push), self.blending_reference
        return aged_rates(before, sides, positions, movement, blending, pressed, self.push)

    def _first_rates(
        self, anew: _Candidates, skin: Float64[NumpyArray, "V 3"], movement: Movement | None
    ) -> tuple[Float64[NumpyArray, "m"], Float64[NumpyArray, "m"]]:
        """Of new pairs, and those at which they come together; 1 without a movement."""
        if movement is None:
            return np.ones(len(anew.gaps)), np.ones(len(anew.gaps))
        sides = self._sides(anew.pairs, anew.shares)
        return first_rates(sides, skin, movement, self.blending_reference, self.push)

    def _corners(self, pairs: Int[NumpyArray, "m 2"]) -> Int[NumpyArray, "m 4"]:
        return np.concatenate([pairs[:, :1], self._triangles[pairs[:, 1]]], axis=1)

    def _sides(self, pairs: Int[NumpyArray, "m 2"], shares: Float64[NumpyArray, "m 3"]) -> Sides:
        ones = np.ones((len(pairs), 1))
        return Sides(self._corners(pairs), np.concatenate([ones, -shares], axis=1))

    def _vertices(self, pairs: Int[NumpyArray, "m 2"]) -> Bool[NumpyArray, "V"]:
        """Those of some pairs."""
        asked = np.zeros(self._count, bool)
        asked[self._corners(pairs)] = True
        return asked

    def _turned_edges(
        self,
        touching: TouchingEdges | None,
        world_from_joint: Float64[NumpyArray, "J 4 4"],
        *,
        into_world: bool,
    ) -> TouchingEdges:
        """As `_turned`, by the bones of the second edges."""
        if touching is None:
            return no_edges_touch()
        frames = world_from_joint[self.edges.owners[touching.pairs[:, 1]], :3, :3]
        along = "cij,cj->ci" if into_world else "cij,ci->cj"
        normals, places = (
            np.einsum(along, frames, part) for part in (touching.normals, touching.places)
        )
        return with_unchecked(touching, normals=normals, places=places)

    def _turned(
        self,
        touching: Touching,
        world_from_joint: Float64[NumpyArray, "J 4 4"],
        *,
        into_world: bool,
    ) -> Touching:
        """With vectors as the world sees them, or as the bones of the triangles do."""
        owners = self.owners[touching.pairs[:, 1]]
        along = "cij,cj->ci" if into_world else "cij,ci->cj"
        normals, places = (
            np.einsum(along, world_from_joint[owners, :3, :3], part)
            for part in (touching.normals, touching.places)
        )
        return with_unchecked(touching, normals=normals, places=places)

    def _reference(
        self,
        moves: Float64[NumpyArray, "J 4 4"],
        base_points: Float64[NumpyArray, "V 3"],
        asked: Bool[NumpyArray, "V"],
    ) -> Reference:
        """Where bones alone would put the skin, and which of the vertices `asked` for would be
        inside the body there."""
        overlapping = np.zeros(self._count, bool)
        positions, doubts = self.blending_reference.moved(moves)
        found = self._entered(positions, base_points, moves, np.flatnonzero(asked))
        overlapping[found[:, 0]] = True
        return Reference(positions, doubts, overlapping)

    def at_joints(self, pairs: Int[NumpyArray, "n 2"]) -> Bool[NumpyArray, "n"]:
        """Which pairs (vertex, triangle) lie on bones with few others between them."""
        owners = self.detection.base.bones
        return self.near_bones[owners[pairs[:, 0]], owners[self._triangles[pairs[:, 1], 0]]]

    def detect(
        self,
        skin: Float64[NumpyArray, "V 3"],
        world_from_joint: Float64[NumpyArray, "J 4 4"],
    ) -> Int[NumpyArray, "n 2"]:
        """What is inside now and was not at rest."""
        moves = self.blending_reference.moves(world_from_joint)
        return self._entered(skin, self.detection.base_points(world_from_joint), moves)

    def _entered(
        self,
        skin: Float64[NumpyArray, "V 3"],
        base_points: Float64[NumpyArray, "V 3"],
        moves: Float64[NumpyArray, "J 4 4"],
        chosen: Int[NumpyArray, "k"] | None = None,
    ) -> Int[NumpyArray, "n 2"]:
        """What is inside and was not at rest: of all vertices, or of the chosen ones."""
        found = self.detection.inside(skin, base_points, chosen, moves)
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
    from scipy.sparse.csgraph import shortest_path

    count = int(bones.max()) + 1
    graph = csr_array((np.ones(len(bones)), (bones[:, 0], bones[:, 1])), shape=(count, count))
    steps = shortest_path(graph, directed=False, unweighted=True)
    between = np.min([steps[np.ix_(bones[:, a], bones[:, b])] for a in (0, 1) for b in (0, 1)], 0)
    return (between <= LONGEST_CHAIN) & ~np.eye(len(bones), dtype=bool)
