"""The pressures that keep volumes, compiled and on all cores."""

from collections.abc import Callable

import numpy as np

from corporeal._typing import Float32, Float64, Int, NumpyArray
from corporeal.physics.projective_dynamics.pressure import STEEPEST, KeptVolume
from corporeal.runtime.threads import over_slices, thread_count

_PRISMS_A_THREAD = 2000
"""Below this a second thread costs more than it brings."""


class CompiledPressure:
    """Corrects the pressures of a step while it iterates, and pushes with them."""

    pressures: Float64[NumpyArray, "K"]
    """Pa."""

    def __init__(
        self,
        kept: KeptVolume,
        order: Int[NumpyArray, "n"],
        free_count: int,
        solve: Callable[[NumpyArray, NumpyArray], None],
    ) -> None:
        """`order` puts the free vertices first; `solve(b, x)` is the factored matrix's, float32."""
        place = np.argsort(order)
        rows = kept.shares[order].tocsr()
        self._kept = kept
        self._prisms = np.ascontiguousarray(place[kept.prisms], np.int32)
        self._rows = (rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data)
        limit = np.where(kept.rest_slopes > 0, STEEPEST * kept.rest_slopes, np.inf)
        self._steepest = limit**2
        slots = min(thread_count(), max(1, len(self._prisms) // _PRISMS_A_THREAD))
        self._edges = [len(self._prisms) * slot // slots for slot in range(slots + 1)]
        self._around = np.zeros((slots, len(order)))
        self._forces = np.zeros((slots, free_count, 3), np.float32)
        self._at_vertices = np.zeros(len(order))
        self._volumes = np.zeros(kept.region_count)
        self._gain = kept.gain(order[:free_count], lambda b: _solved(solve, b))
        self.pressures = np.zeros(kept.region_count)

    def begin(self, pressures: Float64[NumpyArray, "k"] | None) -> None:
        """Start a step with those of the step before."""
        self.pressures = self._kept.begun(pressures)

    def push(
        self,
        z: Float64[NumpyArray, "n 3"],
        right: Float32[NumpyArray, "f 3"],
        iteration: int,
    ) -> None:
        """Add the force of the pressures to the `right` side, corrected in odd iterations."""
        from corporeal.physics.projective_dynamics.pressure_cpu import push

        if iteration % 2 == 1:
            self.pressures = self._kept.corrected(self.pressures, self._measure(z), self._gain)
        if iteration % 2 == 1 or iteration == 0:
            self._press(z)
        push(self._forces, right)

    def _measure(self, z: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "K"]:
        """The regions' volumes, m³."""
        from corporeal.physics.projective_dynamics.pressure_cpu import add_volumes, region_volumes

        def work(start: int, stop: int) -> None:
            for slot in range(start, stop):
                ends = (self._edges[slot], self._edges[slot + 1])
                add_volumes(self._prisms, z, self._around[slot], *ends)

        over_slices(work, len(self._around))
        region_volumes(*self._rows, self._around, self._volumes)
        return self._volumes

    def _press(self, z: Float64[NumpyArray, "n 3"]) -> None:
        """The pressures' forces at `z`, one array a thread."""
        from corporeal.physics.projective_dynamics.pressure_cpu import add_forces, vertex_pressures

        vertex_pressures(*self._rows, self.pressures, self._at_vertices)

        def work(start: int, stop: int) -> None:
            for slot in range(start, stop):
                ends = (self._edges[slot], self._edges[slot + 1])
                forces = self._forces[slot]
                forces[:] = 0.0
                add_forces(self._prisms, z, self._at_vertices, self._steepest, forces, *ends)

        over_slices(work, len(self._forces))


def _solved(
    solve: Callable[[NumpyArray, NumpyArray], None], forces: Float64[NumpyArray, "f 3"]
) -> Float64[NumpyArray, "f 3"]:
    """A⁻¹ b in single precision, scaled so that no digit is lost to small numbers."""
    scale = float(np.abs(forces).max()) or 1.0
    moved = np.empty(forces.shape, np.float32)
    solve((forces / scale).astype(np.float32), moved)
    return scale * moved.astype(np.float64)
