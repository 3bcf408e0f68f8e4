"""Untangling in the compiled solver: its elements over the solver's own order of vertices."""

from typing import TypeAlias

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.physics.untangling.reference import (
    LAST_SWEEPS,
    MOST_PUSHES,
    PULLED_TO,
    ROUNDS,
    SWEEPS,
    TOGETHER,
    Untangling,
    share_of_way,
)
from corporeal.runtime.threads import over_slices, thread_count

_ELEMENTS_A_SLICE = 4096
"""Below this a second thread costs more than it brings."""


Rows: TypeAlias = tuple[
    Int[NumpyArray, "C 4"],
    Float64[NumpyArray, "C 4"],
    Float64[NumpyArray, "C 3"],
    Float64[NumpyArray, "C"],
]
"""Contacts over the solver's order of vertices: vertices, coefficients, normals, offsets."""
_NO_ROWS: Rows = (np.zeros((0, 4), np.int32), np.zeros((0, 4)), np.zeros((0, 3)), np.zeros(0))


class CompiledUntangling:
    """Pushes elements open in arrays whose free vertices come first."""

    def __init__(self, untangling: Untangling, place: Int[NumpyArray, "V"], free: int) -> None:
        """`place` is where the solver has each vertex; the first `free` of them move."""
        self._tetrahedra = np.ascontiguousarray(place[untangling.tetrahedra], np.int32)
        self._volumes, self._free = untangling.volumes, free
        corners = self._tetrahedra.ravel()
        order = np.argsort(corners, kind="stable")
        counts = np.bincount(corners, minlength=len(place))
        self._starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        self._around = (order // 4).astype(np.int32)
        self._edges = np.ascontiguousarray(place[untangling.edges], np.int32)
        self._lengths, self._held = untangling.lengths, PULLED_TO * untangling.lengths
        self.limits = self._held
        self._long = np.empty(len(self._edges), np.int32)
        elements = len(self._tetrahedra)
        self._small, self._listed = np.empty(elements, np.int32), np.zeros(elements, bool)
        self._watched, self._watched_count = np.empty(elements, np.int32), elements
        self._together = TOGETHER
        self._moves, self._moved = np.zeros((free, 4)), np.empty(4 * elements, np.int32)

    def begin(self, before: Float64[NumpyArray, "V 3"] | None, seconds: float) -> None:
        """Start a step of so many `seconds` from where vertices are `before` it, in the solver's
        order: how long edges may be when it ends; None of skin that is held."""
        from corporeal.physics.untangling.cpu_kernels import limit_edges

        self.limits = self._held
        if before is not None and len(self._edges) > 0:
            self.limits = np.empty(len(self._edges))
            share = share_of_way(seconds)
            limit_edges(before, self._edges, self._lengths, share, self.limits)

    def untangle(
        self,
        z: Float64[NumpyArray, "V 3"],
        last: bool = True,
        budget: int = MOST_PUSHES,
        rows: Rows | None = None,
        everywhere: bool = True,
        in_turn: bool = True,
    ) -> int:
        """Push elements open, in place, without violating contacts (`rows`); how much of the
        `budget` of pushes is left. `last`: it ends a step, and pulls long edges in. Elements are
        looked for `everywhere`, or among those that had little volume when that was done last.
        `in_turn`: those that are not opened at once are opened one after the other, and what
        contacts keep from being opened is, in the end, opened through them."""
        count = self._find_small(z) if everywhere else self._find_small_among(z)
        self._together = TOGETHER if in_turn else LAST_SWEEPS
        left = self._open(z, count, last, budget, rows)
        if last and len(self._edges) > 0:
            self._pull_in(z, rows)
        if last and in_turn and rows is not None and len(rows[0]) > 0:
            self._open(z, self._find_small(z), True, MOST_PUSHES, None)
        return left

    def _pull_in(self, z: Float64[NumpyArray, "V 3"], rows: Rows | None) -> None:
        """Pull long edges in and open what that made small, by turns."""
        from corporeal.physics.untangling.cpu_kernels import find_long, list_small, lowered, pull_in

        vertices, coefficients, normals, offsets = rows or _NO_ROWS
        for number in range(ROUNDS):
            count = find_long(z, self._edges, self.limits, self._long)
            if count == 0:
                break
            if number == 0:
                offsets = lowered(z, vertices, coefficients, normals, offsets)
            kept, moved = (vertices, coefficients, normals, offsets), self._room(rows)
            went = pull_in(
                z, self._edges, self.limits, self._free, self._long[:count], *kept, self._moves,
                moved,
            )  # fmt: skip
            small = list_small(
                z, self._tetrahedra, self._volumes, self._starts, self._around, moved, went,
                self._listed, self._small,
            )  # fmt: skip
            self._open(z, small, self._together == TOGETHER, MOST_PUSHES, kept)

    def _open(
        self, z: Float64[NumpyArray, "V 3"], count: int, last: bool, budget: int, rows: Rows | None
    ) -> int:
        """Push elements open, beginning with the first `count` of the list; how much of the
        `budget` is left."""
        from corporeal.physics.untangling.cpu_kernels import untangle

        if count == 0:
            return budget
        return untangle(
            z, self._tetrahedra, self._volumes, self._free, self._starts, self._around,
            *(rows or _NO_ROWS), count, self._small, self._listed, self._moves, self._room(rows),
            LAST_SWEEPS if last else SWEEPS, budget, self._together,
        )  # fmt: skip

    def _room(self, rows: Rows | None) -> Int[NumpyArray, "m"]:
        """For the vertices that a sweep may move."""
        most = max(len(self._tetrahedra), len(self._edges))
        needed = 4 * (most + (0 if rows is None else len(rows[0])))
        if len(self._moved) < needed:
            self._moved = np.empty(needed, np.int32)
        return self._moved

    def _find_small_among(self, z: Float64[NumpyArray, "V 3"]) -> int:
        """Put watched elements that are too small into the list; how many."""
        from corporeal.physics.untangling.cpu_kernels import find_small_among

        among = self._watched[: self._watched_count]
        return find_small_among(z, self._tetrahedra, self._volumes, among, self._small)

    def _find_small(self, z: Float64[NumpyArray, "V 3"]) -> int:
        """Put elements that are too small into the list, in ascending order, and those that are to
        be watched into theirs; how many are too small."""
        from corporeal.physics.untangling.cpu_kernels import find_small

        elements = len(self._tetrahedra)
        slots = max(1, min(thread_count(), elements // _ELEMENTS_A_SLICE))
        edges = [elements * slot // slots for slot in range(slots + 1)]
        counts = [(0, 0)] * slots

        def work(start: int, stop: int) -> None:
            for slot in range(start, stop):
                own = slice(edges[slot], edges[slot + 1])
                counts[slot] = find_small(
                    z, self._tetrahedra, self._volumes, own.start, own.stop, self._small[own],
                    self._watched[own],
                )  # fmt: skip

        over_slices(work, slots)
        small, self._watched_count = counts[0]
        for first, (found, watched) in zip(edges[1:], counts[1:], strict=False):
            small = _appended(self._small, small, first, found)
            self._watched_count = _appended(self._watched, self._watched_count, first, watched)
        return small


def _appended(listed: Int[NumpyArray, "T"], count: int, first: int, more: int) -> int:
    """Move entries that begin at `first` behind the first `count` of a list; its new count."""
    listed[count : count + more] = listed[first : first + more].copy()
    return count + more
