"""Untangling in the compiled solver: its elements over the solver's own order of vertices."""

from typing import TypeAlias

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.physics.untangling.reference import (
    LAST_SWEEPS,
    MOST_PUSHES,
    ROUNDS,
    SWEEPS,
    Untangling,
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
        self._lengths = untangling.lengths
        self._long = np.empty(len(self._edges), np.int32)
        elements = len(self._tetrahedra)
        self._small, self._listed = np.empty(elements, np.int32), np.zeros(elements, bool)
        self._moves, self._moved = np.zeros((free, 4)), np.empty(4 * elements, np.int32)

    def untangle(
        self,
        z: Float64[NumpyArray, "V 3"],
        last: bool = True,
        budget: int = MOST_PUSHES,
        rows: Rows | None = None,
    ) -> int:
        """Push elements open, in place, without violating contacts (`rows`); how much of the
        `budget` of pushes is left. `last`: it ends a step, and pulls long edges in."""
        left = self._open(z, last, budget, rows)
        if last and len(self._edges) > 0:
            self._pull_in(z, rows)
        return left

    def _pull_in(self, z: Float64[NumpyArray, "V 3"], rows: Rows | None) -> None:
        """Pull long edges in and open what that made small, by turns."""
        from corporeal.physics.untangling.cpu_kernels import find_long, lowered, pull_in

        vertices, coefficients, normals, offsets = rows or _NO_ROWS
        for number in range(ROUNDS):
            count = find_long(z, self._edges, self._lengths, self._long)
            if count == 0:
                break
            if number == 0:
                offsets = lowered(z, vertices, coefficients, normals, offsets)
            kept = (vertices, coefficients, normals, offsets)
            pull_in(
                z, self._edges, self._lengths, self._free, self._long[:count], *kept, self._moves,
                self._room(rows),
            )  # fmt: skip
            self._open(z, False, MOST_PUSHES, kept)

    def _open(
        self, z: Float64[NumpyArray, "V 3"], last: bool, budget: int, rows: Rows | None
    ) -> int:
        """Push elements open; how much of the `budget` is left."""
        from corporeal.physics.untangling.cpu_kernels import untangle

        count = self._find_small(z)
        if count == 0:
            return budget
        return untangle(
            z, self._tetrahedra, self._volumes, self._free, self._starts, self._around,
            *(rows or _NO_ROWS), count, self._small, self._listed, self._moves, self._room(rows),
            LAST_SWEEPS if last else SWEEPS, budget,
        )  # fmt: skip

    def _room(self, rows: Rows | None) -> Int[NumpyArray, "m"]:
        """For the vertices that a sweep may move."""
        most = max(len(self._tetrahedra), len(self._edges))
        needed = 4 * (most + (0 if rows is None else len(rows[0])))
        if len(self._moved) < needed:
            self._moved = np.empty(needed, np.int32)
        return self._moved

    def _find_small(self, z: Float64[NumpyArray, "V 3"]) -> int:
        """Put elements that are too small into the list, in ascending order; how many."""
        from corporeal.physics.untangling.cpu_kernels import find_small

        elements = len(self._tetrahedra)
        slots = max(1, min(thread_count(), elements // _ELEMENTS_A_SLICE))
        edges = [elements * slot // slots for slot in range(slots + 1)]
        counts = [0] * slots

        def work(start: int, stop: int) -> None:
            for slot in range(start, stop):
                first, last = edges[slot], edges[slot + 1]
                counts[slot] = find_small(
                    z, self._tetrahedra, self._volumes, first, last, self._small[first:last]
                )

        over_slices(work, slots)
        total = counts[0]
        for slot in range(1, slots):
            found = self._small[edges[slot] : edges[slot] + counts[slot]]
            self._small[total : total + counts[slot]] = found.copy()
            total += counts[slot]
        return total
