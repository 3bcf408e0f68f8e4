"""The pressures that keep volumes, compiled and on all cores."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csc_array

from corporeal._typing import Float32, Float64, Int, NumpyArray
from corporeal.physics.solver.cpu.strip_blocks import LANES
from corporeal.physics.volume_preservation.reference import STEEPEST, VolumePreservation

_ANY_SLOPE = 1e15
"""m²: no limit. Its square is a float32; ∞ over ∞ would not be a number."""


class CompiledPressure:
    """Corrects the pressures of a step while it iterates, and pushes with them.

    Prisms are surveyed together with an iteration's local step, by the same threads: slopes and
    volumes once for both the correction and the push.
    """

    pressures: Float64[NumpyArray, "K"]
    """Pa."""

    def __init__(
        self,
        preservation: VolumePreservation,
        order: Int[NumpyArray, "n"],
        free_count: int,
        solve: Callable[[NumpyArray, NumpyArray], None],
        moving: bool,
        parts: int,
    ) -> None:
        """`order` puts the free vertices first; `solve(b, x)` is the factored matrix's, float32;
        steps are `moving` or static; prisms are surveyed in `parts`."""
        from corporeal.physics.volume_preservation.cpu_kernels import SIDE

        place = np.argsort(order)
        columns = csc_array(preservation.shares[order])
        self._preservation, self._moving = preservation, moving
        self._columns = (
            columns.indptr.astype(np.int32),
            columns.indices.astype(np.int32),
            columns.data.astype(np.float32),
        )
        self._packed = _packed(preservation, place)
        sides = 2 if (place[preservation.prisms[:, 3:]] < free_count).any() else 1
        blocks = len(self._packed[0])
        self._slopes = np.zeros((blocks, sides * SIDE), np.float32)
        self._edges = [blocks * part // parts for part in range(parts + 1)]
        self._around = np.zeros((parts, len(order)))
        self._forces = np.zeros((free_count, 3), np.float32)
        self._at_vertices = np.zeros(len(order), np.float32)
        self._spread = np.zeros(preservation.region_count)  # the pressures that vertices have
        self._volumes = np.zeros(preservation.region_count)
        self._gain = preservation.gain(order[:free_count], lambda b: _solved(solve, b))
        self.pressures = np.zeros(preservation.region_count)

    def begin(self, pressures: Float64[NumpyArray, "k"] | None) -> None:
        """Start a step with those of the step before."""
        self.pressures = self._preservation.begun(pressures)

    @staticmethod
    def surveys(iteration: int) -> bool:
        """Whether forces are taken anew in an iteration: in the first, and where pressures are
        corrected."""
        return iteration == 0 or iteration % 2 == 1

    def survey(self, z: Float64[NumpyArray, "n 3"], part: int) -> None:
        """One part of the prisms at `z`."""
        from corporeal.physics.volume_preservation.cpu_kernels import survey

        ends = (self._edges[part], self._edges[part + 1])
        survey(*self._packed, z, self._slopes, self._around[part], *ends)

    def push(self, right: Float32[NumpyArray, "f 3"], iteration: int) -> bool:
        """Add the force of the pressures to the `right` side, after a survey in the iterations that
        have one; whether pressures changed, as they do in odd iterations."""
        from corporeal.physics.volume_preservation import cpu_kernels as pressure_cpu

        before = self.pressures
        if self.surveys(iteration):
            if iteration % 2 == 1:
                pressure_cpu.region_volumes(*self._columns, self._around, self._volumes)
                known = (before, self._volumes, self._gain, self._moving)
                self.pressures = self._preservation.corrected(*known)
            else:
                self._around.fill(0.0)
            if not np.array_equal(self.pressures, self._spread):
                pressure_cpu.vertex_pressures(*self._columns, self.pressures, self._at_vertices)
                self._spread = self.pressures.copy()
            pressure_cpu.press(self._packed[0], self._slopes, self._at_vertices, self._forces)
        pressure_cpu.push(self._forces, right)
        return bool((self.pressures != before).any())


def _packed(
    preservation: VolumePreservation, place: Int[NumpyArray, "n"]
) -> tuple[
    Int[NumpyArray, "blocks 6 16"],
    Float32[NumpyArray, "blocks 16"],
    Float32[NumpyArray, "blocks 16"],
]:
    """Corners of 16 prisms a block, weights that are 0 in lanes left over, and the squares of the
    largest slopes that count."""
    count = len(preservation.prisms)
    blocks = -(-count // LANES)
    lanes = np.minimum(np.arange(blocks * LANES), count - 1)
    steepest = (
        np.where(preservation.rest_slopes > 0, STEEPEST * preservation.rest_slopes, _ANY_SLOPE) ** 2
    )
    corners = place[preservation.prisms[lanes]].reshape(blocks, LANES, 6).transpose(0, 2, 1)
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
