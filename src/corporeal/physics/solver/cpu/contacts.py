"""Contacts in the compiled solver: what `reference_contacts` says, without columns of A⁻¹ a step.

A⁻¹ is made once, kept where it is above a hundredth of its diagonal: skin hangs on bones, so about
120 of 4 500 entries a row are. The forces λ enter the right side of the next solve, which is exact,
so that what was left out of A⁻¹ slows convergence a little and does not change what it goes to.
"""

from functools import cached_property

import numpy as np

from corporeal._typing import Float32, Float64, Int, NumpyArray
from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.solver.calming import Calm
from corporeal.physics.untangling.cpu import Rows
from corporeal.runtime.threads import over_slices, thread_count

KEPT = 1e-2
"""Entries of A⁻¹ are kept above this share of the diagonal's geometric mean."""
_COLUMNS = 128
"""Columns solved for at a time."""
_NEIGHBOURS = 128
"""Rows that a row shares flesh with, at first guess: about 70 in crossed legs."""


class LocalInverse:
    """The large entries of the inverse of a constant matrix, as sparse rows."""

    def __init__(self, solve, size: int) -> None:
        """`solve(b, x)` writes A⁻¹ b into x; both are float32 columns."""
        blocks = [_columns(solve, size, first) for first in range(0, size, _COLUMNS)]
        diagonal = np.sqrt(
            np.concatenate([block.diagonal(-k * _COLUMNS) for k, block in enumerate(blocks)])
        )
        columns, values, counts = [], [], []
        for number, block in enumerate(blocks):
            # A⁻¹ is symmetric: columns are rows
            first = number * _COLUMNS
            scale = np.outer(diagonal[first : first + block.shape[1]], diagonal)
            kept = np.abs(block.T) > KEPT * scale
            columns.append(np.nonzero(kept)[1].astype(np.int32))
            values.append(block.T[kept])
            counts.append(kept.sum(axis=1))
        self.starts = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int32)
        self.columns = np.concatenate(columns)
        self.values = np.concatenate(values)


def _columns(solve, size: int, first: int) -> Float32[NumpyArray, "f k"]:
    """Columns `first` … of A⁻¹."""
    width = min(_COLUMNS, size - first)
    right, answer = np.zeros((size, width), np.float32), np.empty((size, width), np.float32)
    right[first + np.arange(width), np.arange(width)] = 1.0
    solve(right, answer)
    return answer


class CompiledContacts:
    """Some contacts, ready for the iterations of one or more steps."""

    def __init__(
        self,
        contacts: Contacts,
        place: Int[NumpyArray, "V"],
        inverse: LocalInverse,
        calm: Calm,
    ) -> None:
        """`place` is where the solver has each vertex: free ones first. `calm` are vertices that
        these contacts slow down."""
        self._inverse, self.calm = inverse, calm
        self._rows = (
            np.ascontiguousarray(place[contacts.vertices], np.int32),
            np.ascontiguousarray(contacts.coefficients),
        )
        self._limits = (
            np.ascontiguousarray(contacts.normals),
            np.ascontiguousarray(contacts.offsets),
            1.0 / contacts.weights,
            np.ascontiguousarray(contacts.two_sided),
            contacts.slip_limits(),
        )
        self._held = contacts.held_places()
        self._compliance = self._assemble(len(contacts))
        self._begun, self.forces = np.empty((len(contacts), 3)), np.zeros((len(contacts), 3))

    def _assemble(self, count: int) -> tuple[NumpyArray, ...]:
        """Sparse rows of S = Q A⁻¹ Qᵀ, and its diagonal, m/N."""
        from corporeal.physics.solver.cpu.contact_kernels import drop_slight, rows_of_vertices

        free, slots = len(self._inverse.starts) - 1, min(thread_count(), max(count, 1))
        rows, diagonal = rows_of_vertices(*self._rows, free), np.empty(count)
        edges = [count * slot // slots for slot in range(slots + 1)]
        parts: list[tuple[NumpyArray, NumpyArray, NumpyArray]] = [
            (diagonal, diagonal, diagonal)
        ] * slots

        def work(start: int, stop: int) -> None:
            for slot in range(start, stop):
                parts[slot] = self._compliance_of(rows, edges[slot], edges[slot + 1], diagonal)

        over_slices(work, slots)
        starts, others, entries = [np.zeros(1, np.int32)], [], []
        for edge, (row_starts, near, values) in zip(edges, parts, strict=False):
            kept = drop_slight(edge, row_starts, near, values, diagonal)
            starts.append(row_starts[1:] + starts[-1][-1])
            others.append(near[:kept])
            entries.append(values[:kept])
        return (*(np.concatenate(part) for part in (starts, others, entries)), diagonal)

    def _compliance_of(
        self, rows: tuple[NumpyArray, ...], first: int, last: int, diagonal: NumpyArray
    ) -> tuple[NumpyArray, NumpyArray, NumpyArray]:
        """The rows `first` … `last` − 1 of S: where each starts, columns and entries."""
        from corporeal.physics.solver.cpu.contact_kernels import assemble_compliance

        inverse, size = self._inverse, _NEIGHBOURS * (last - first)
        row_starts = np.empty(last - first + 1, np.int32)
        while True:
            others, entries = np.empty(size, np.int32), np.empty(size, np.float32)
            needed = assemble_compliance(
                *self._rows, *rows, inverse.starts, inverse.columns, inverse.values, first, last,
                row_starts, others, entries, diagonal,
            )  # fmt: skip
            if needed <= size:
                return row_starts, others, entries
            size = needed

    @cached_property
    def one_sided(self) -> Rows:
        """The rows that are no equations, for what else moves vertices."""
        normals, offsets, _, two_sided, _ = self._limits
        chosen = np.flatnonzero(~two_sided)
        return self._rows[0][chosen], self._rows[1][chosen], normals[chosen], offsets[chosen]

    def begin(self, z: Float64[NumpyArray, "V 3"]) -> None:
        """Start a step whose vertices are at `z` now: nothing has slipped but what is held from
        before; what pushed before pushes on."""
        from corporeal.physics.solver.cpu.contact_kernels import row_places

        row_places(*self._rows, self._held, z, self._begun)

    def push(self, right_side: Float32[NumpyArray, "f 3"]) -> None:
        """Add the forces so far to the right side of a solve."""
        from corporeal.physics.solver.cpu.contact_kernels import add_forces

        add_forces(*self._rows, self.forces, right_side)

    def resolve(self, z: Float64[NumpyArray, "V 3"], delta: Float32[NumpyArray, "f 3"]) -> None:
        """Find the forces that keep `z` + `delta` apart, and move `delta` by what they changed."""
        from corporeal.physics.solver.cpu.contact_kernels import resolve

        inverse = self._inverse
        resolve(
            *self._rows, *self._limits, *self._compliance, inverse.starts, inverse.columns,
            inverse.values, self._begun, z, delta, self.forces,
        )  # fmt: skip
