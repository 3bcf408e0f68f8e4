"""The pressures that keep volumes, compiled and on all cores."""

from collections.abc import Callable

import numpy as np

from corporeal._typing import Float32, Float64, Int, NumpyArray
from corporeal.physics.projective_dynamics.blocks import LANES
from corporeal.physics.projective_dynamics.pressure import STEEPEST, KeptVolume
from corporeal.runtime.threads import over_slices, thread_count

_BLOCKS_A_THREAD = 128
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
        moving: bool,
    ) -> None:
        """`order` puts the free vertices first; `solve(b, x)` is the factored matrix's, float32;
        steps are `moving` or static."""
        place = np.argsort(order)
        rows = kept.shares[order].tocsr()
        self._kept, self._moving = kept, moving
        self._rows = (rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data)
        self._packed = _packed(kept, place)
        self._inner_free = bool((place[kept.prisms[:, 3:]] < free_count).any())
        blocks = len(self._packed[0])
        slots = min(thread_count(), max(1, blocks // _BLOCKS_A_THREAD))
        self._edges = [blocks * slot // slots for slot in range(slots + 1)]
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
    ) -> bool:
        """Add the force of the pressures to the `right` side; whether they changed, as they do in
        odd iterations."""
        from corporeal.physics.projective_dynamics.pressure_cpu import push

        before = self.pressures
        if iteration % 2 == 1:
            volumes = self._measure(z)
            self.pressures = self._kept.corrected(before, volumes, self._gain, self._moving)
        if iteration % 2 == 1 or iteration == 0:
            self._press(z)
        push(self._forces, right)
        return bool((self.pressures != before).any())

    def _measure(self, z: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "K"]:
        """The regions' volumes, m³."""
        from corporeal.physics.projective_dynamics.pressure_cpu import add_volumes, region_volumes

        def work(start: int, stop: int) -> None:
            for slot in range(start, stop):
                ends = (self._edges[slot], self._edges[slot + 1])
                add_volumes(*self._packed[:2], z, self._around[slot], *ends)

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
                add_forces(*self._packed, z, self._at_vertices, self._inner_free, forces, *ends)

        over_slices(work, len(self._forces))


def _packed(
    kept: KeptVolume, place: Int[NumpyArray, "n"]
) -> tuple[
    Int[NumpyArray, "blocks 6 16"],
    Float32[NumpyArray, "blocks 16"],
    Float32[NumpyArray, "blocks 16"],
]:
    """Corners of 16 prisms a block, weights that are 0 in lanes left over, and the squares of the
    largest slopes that count."""
    count = len(kept.prisms)
    blocks = -(-count // LANES)
    lanes = np.minimum(np.arange(blocks * LANES), count - 1)
    steepest = np.where(kept.rest_slopes > 0, STEEPEST * kept.rest_slopes, np.inf) ** 2
    corners = place[kept.prisms[lanes]].reshape(blocks, LANES, 6).transpose(0, 2, 1)
    weights = np.arange(blocks * LANES) < count
    return (
        np.ascontiguousarray(corners, np.int32),
        weights.reshape(blocks, LANES).astype(np.float32),
        steepest[lanes].reshape(blocks, LANES).astype(np.float32),
    )


def _solved(
    solve: Callable[[NumpyArray, NumpyArray], None], forces: Float64[NumpyArray, "f 3"]
) -> Float64[NumpyArray, "f 3"]:
    """A⁻¹ b in single precision, scaled so that no digit is lost to small numbers."""
    scale = float(np.abs(forces).max()) or 1.0
    moved = np.empty(forces.shape, np.float32)
    solve((forces / scale).astype(np.float32), moved)
    return scale * moved.astype(np.float64)
