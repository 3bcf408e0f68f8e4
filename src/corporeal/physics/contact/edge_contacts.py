"""Edges of skin on edges of skin: where the two walls of a crease pass through each other although
every vertex is in front of its triangle.

Two edges pass each other where their lines are nearest, at the shares s and t, along the unit
vector n across both. Which side is right is asked of the skin's normals there, not of the present
side: n points out of the second edge's skin and into the first's, and edges that this is not plain
of are left alone, as are those beside vertices that are deep inside the body: first these come
out. The row

    n · ((1 − s) x_a + s x_b − (1 − t) x_c − t x_d) ≥ d

is one of the solver's like any other. Pairs are looked for among the edges around the vertices and
triangles that touch, between bones that are near each other: creases are at joints, and limbs that
bones carry right through each other would have their rims pressed about. They are kept on their
side while they are near, and sleep as vertices do (`contact.touching`).
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.geometry.surface import unique_edges
from corporeal.physics.contact.blending_reference import BlendingReference
from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.contact.rates import (
    Reference,
    Sides,
    aged_rates,
    doubt_of,
    first_rates,
    pressed_together,
)
from corporeal.physics.contact.rules import (
    ASLEEP,
    CLEARANCE,
    CLOSEST,
    EDGE_CLEARANCE,
    EDGE_FACING,
    EDGE_PUSH,
    FOLD,
    FRICTION,
    TORN,
    WEIGHT,
)
from corporeal.physics.contact.touching import (
    Movement,
    TouchingEdges,
    no_edges_touch,
    seen_apart,
)

_PAIRS = 4096
_BEYOND = 0.1
"""Share of its length by which the place where it passes another may leave an edge, before a pair
is dropped: its neighbour has been found by then."""


class PassingEdges(NamedTuple):
    """Pairs of edges that may become rows, as the world sees them."""

    pairs: Int[NumpyArray, "m 2"]
    """Edges of the skin, as `unique_edges` counts them."""
    shares: Float64[NumpyArray, "m 2"]
    """Where on each edge the other is nearest, from 0 at its first end to 1 at its second."""
    normals: Float64[NumpyArray, "m 3"]
    """Unit vectors from the second edge to the first."""
    gaps: Float64[NumpyArray, "m"]
    """Metres along the normals."""
    sources: Int[NumpyArray, "m"]
    """Which pairs of before they come from, −1 for none."""

    def chosen(self, rows: NumpyArray) -> "PassingEdges":
        """Some of them."""
        return PassingEdges(*(part[rows] for part in self))


class EdgeContacts:
    """Makes the rows between the skin edges of one body."""

    def __init__(
        self,
        rest: Float64[NumpyArray, "V 3"],
        triangles: Int[NumpyArray, "F 3"],
        fixed: Bool[NumpyArray, "V"],
        thickness: Float64[NumpyArray, "V"],
        blending: BlendingReference,
        push: float,
    ) -> None:
        """`fixed` are vertices that nothing moves, `thickness` their distances from their bones and
        `push` that within which pairs are kept, metres."""
        self.edges = unique_edges(triangles)
        self._rest, self._triangles, self._fixed = rest, triangles, fixed
        self._thickness = thickness
        self._blending, self._push = blending, push
        self.owners = blending.carriers[self.edges[:, 0], 0]
        """Joints of the bones that see the normals of pairs."""

    def passing(
        self,
        skin: Float64[NumpyArray, "V 3"],
        near: Bool[NumpyArray, "V"],
        tangled: Bool[NumpyArray, "V"],
        before: TouchingEdges,
    ) -> PassingEdges:
        """Pairs of before (vectors of the world) that go on, and those that are found among the
        edges of vertices that are `near` others; edges with an end in `tangled` folds wait until
        these are undone."""
        from corporeal.physics.contact.cpu.pairs import skin_normals

        kept = self._kept(skin, before)
        new = self._found(skin, skin_normals(skin, self._triangles), near & ~tangled, tangled)
        known = self._keys(before.pairs)
        new = new.chosen(np.flatnonzero(~np.isin(self._keys(new.pairs), known)))
        both = zip(kept, new, strict=True)
        return self._possible(PassingEdges(*(np.concatenate(parts) for parts in both)))

    def _keys(self, pairs: Int[NumpyArray, "m 2"]) -> Int[NumpyArray, "m"]:
        return np.sort(pairs, axis=1) @ np.array([len(self.edges), 1])

    def _kept(self, skin: Float64[NumpyArray, "V 3"], before: TouchingEdges) -> PassingEdges:
        """Pairs of before that still pass each other near by."""
        from corporeal.physics.contact.cpu.edges import pass_again

        count = len(before)
        shares, normals, gaps = np.zeros((count, 2)), np.zeros((count, 3)), np.zeros(count)
        sound = np.zeros(count, bool)
        pass_again(skin, self.edges, before.pairs, before.normals, shares, normals, gaps, sound)
        within = np.all((shares > -_BEYOND) & (shares < 1.0 + _BEYOND), axis=1)
        near = (gaps > -self._push) & (gaps < CLEARANCE * self._push)
        stays = np.flatnonzero(sound & within & near)
        shares = np.clip(shares, 0.0, 1.0)
        return PassingEdges(
            before.pairs[stays], shares[stays], normals[stays], gaps[stays], stays.astype(np.int64)
        )

    def _found(
        self,
        skin: Float64[NumpyArray, "V 3"],
        normals: Float64[NumpyArray, "V 3"],
        near: Bool[NumpyArray, "V"],
        tangled: Bool[NumpyArray, "V"],
    ) -> PassingEdges:
        """Pairs that are nearer than they may be, or through each other."""
        from corporeal.physics.contact.cpu.edges import passing_edges

        asked = near[self.edges].any(axis=1) & ~tangled[self.edges].any(axis=1)
        chosen = np.flatnonzero(asked)
        chosen = chosen[np.argsort(skin[self.edges[chosen], 0].min(axis=1), kind="stable")]
        size = _PAIRS
        while True:
            pairs, shares = np.empty((size, 2), np.int64), np.empty((size, 2))
            across, gaps = np.empty((size, 3)), np.empty(size)
            count = passing_edges(
                skin, normals, self.edges, chosen, EDGE_FACING, self._push,
                EDGE_CLEARANCE * self._push, pairs, shares, across, gaps,
            )  # fmt: skip
            if count <= size:
                break
            size = count
        nowhere = np.full(count, -1, np.int64)
        return PassingEdges(pairs[:count], shares[:count], across[:count], gaps[:count], nowhere)

    def _possible(self, passing: PassingEdges) -> PassingEdges:
        """Without those that nothing can move, and folds of one patch of skin."""
        fixed = self._fixed[self.sides(passing.pairs, passing.shares).corners].all(axis=1)
        fold = passing.gaps < -FOLD * self._apart_at_rest(passing.pairs, passing.shares)
        return passing.chosen(np.flatnonzero(~fixed & ~fold))

    def _apart_at_rest(
        self, pairs: Int[NumpyArray, "m 2"], shares: Float64[NumpyArray, "m 2"]
    ) -> Float64[NumpyArray, "m"]:
        return np.linalg.norm(seen_apart(self._rest, *self.sides(pairs, shares)), axis=1)

    def sides(self, pairs: Int[NumpyArray, "m 2"], shares: Float64[NumpyArray, "m 2"]) -> Sides:
        """The vertices of pairs, and their coefficients."""
        (s, t), corners = shares.T, self.edges[pairs].reshape(len(pairs), 4)
        return Sides(corners, np.stack([1.0 - s, s, t - 1.0, -t], axis=1))

    def rows(
        self,
        passing: PassingEdges,
        before: TouchingEdges,
        positions: Float64[NumpyArray, "n 3"],
        reference: Reference,
        movement: Movement | None,
    ) -> tuple[Contacts, TouchingEdges]:
        """Rows of the pairs, and what the next step goes on from; vectors are the world's."""
        rates = self._rates(before, positions, movement, reference)
        asleep = replace(before, rates=rates).chosen(np.flatnonzero(rates < ASLEEP))
        now = asleep.with_others(
            self._awake(passing, before, rates, positions, reference, movement)
        )
        sides = self.sides(now.pairs, now.shares)
        pressed = pressed_together(reference, sides, self._push)
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
        return rows, now

    def _rates(
        self,
        before: TouchingEdges,
        positions: Float64[NumpyArray, "n 3"],
        movement: Movement | None,
        reference: Reference,
    ) -> Float64[NumpyArray, "m"]:
        if movement is None or len(before) == 0:
            return np.ones(len(before))
        sides = self.sides(before.pairs, before.shares)
        pressed = pressed_together(reference, sides, self._push)
        return aged_rates(before, sides, positions, movement, self._blending, pressed, self._push)

    def _awake(
        self,
        anew: PassingEdges,
        before: TouchingEdges,
        rates: Float64[NumpyArray, "b"],
        positions: Float64[NumpyArray, "n 3"],
        reference: Reference,
        movement: Movement | None,
    ) -> TouchingEdges:
        """New rows, and those of before that go on changing."""
        furthest = self._furthest(anew, positions, reference)
        sides, fresh = self.sides(anew.pairs, anew.shares), anew.sources < 0
        first = coming = np.ones(len(fresh))
        if movement is not None:
            first, coming = first_rates(sides, positions, movement, self._blending, self._push)
        old = np.append(rates, 0.0)[anew.sources]
        lively = np.flatnonzero(
            (np.where(fresh, coming, old) >= ASLEEP) & (furthest >= anew.gaps - self._push)
        )
        anew, furthest, fresh = anew.chosen(lively), furthest[lively], fresh[lively]
        old, first = old[lively], first[lively]
        if len(lively) == 0:
            return no_edges_touch()
        offsets = np.minimum(
            np.minimum(anew.gaps + EDGE_PUSH * self._push, EDGE_CLEARANCE * self._push), furthest
        )
        now = TouchingEdges(
            anew.pairs,
            anew.shares,
            anew.normals,
            offsets,
            np.zeros((len(lively), 3)),
            np.where(fresh, first, old),
        )
        return self._gone_on(now, anew.sources, before, positions, furthest)

    def _gone_on(
        self,
        now: TouchingEdges,
        sources: Int[NumpyArray, "m"],
        before: TouchingEdges,
        positions: Float64[NumpyArray, "n 3"],
        furthest: Float64[NumpyArray, "m"],
    ) -> TouchingEdges:
        """Rows between what they were and what they would be anew, at their rates."""
        goes_on = sources >= 0
        rate = np.where(goes_on, now.rates, 1.0)[:, None]
        slips = np.zeros_like(now.places)
        shares, normals, offsets = now.shares, now.normals, now.offsets
        if goes_on.any():
            then = before.chosen(np.maximum(sources, 0))
            seen = seen_apart(positions, *self.sides(then.pairs, then.shares))
            slips = np.where(goes_on[:, None], (1.0 - rate) * (seen - then.places), 0.0)
            shares = then.shares + rate * (shares - then.shares)
            normals = then.normals + rate * (normals - then.normals)
            shares = np.where(goes_on[:, None], shares, now.shares)
            normals = np.where(goes_on[:, None], normals, now.normals)
            normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
            offsets = np.where(
                goes_on, then.offsets + rate[:, 0] * (offsets - then.offsets), offsets
            )
        places = seen_apart(positions, *self.sides(now.pairs, shares)) - slips
        return replace(
            now,
            shares=shares,
            normals=normals,
            offsets=np.minimum(offsets, furthest),
            places=places,
        )

    def _furthest(
        self, passing: PassingEdges, positions: Float64[NumpyArray, "n 3"], reference: Reference
    ) -> Float64[NumpyArray, "m"]:
        """Metres that pairs may be pushed apart to, as `contact.cpu.release` has it."""
        sides = self.sides(passing.pairs, passing.shares)
        there = seen_apart(reference.positions, *sides)
        missed = np.linalg.norm(there - seen_apart(positions, *sides), axis=1)
        doubt = doubt_of(reference, sides)
        thickness = self._thickness[sides.corners[:, 2:]].max(axis=1)
        most = np.sum(passing.normals * there, axis=1) + doubt
        most = np.where(missed <= TORN * thickness + doubt, most, -np.inf)
        overlapping = reference.overlapping[sides.corners].any(axis=1)
        apart = CLOSEST * self._apart_at_rest(passing.pairs, passing.shares)
        return np.minimum(apart, np.where(overlapping, np.inf, most))
