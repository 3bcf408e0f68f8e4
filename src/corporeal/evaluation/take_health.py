"""Whether a recorded movement can be true: finite, of a person's size, no jumps, no folded skin."""

from typing import Final

import numpy as np

from corporeal._typing import Float, Float32, Float64, Int, NumpyArray
from corporeal.body.health_record import FrameFault
from corporeal.evaluation.penetration import PenetrationMeter
from corporeal.evaluation.skin_parts import PartLabels, SkinParts

FASTEST: Final = 30.0
"""m/s: a fist reaches 15; more is an explosion."""
SIZES: Final = (0.3, 3.0)
"""Longest side of a person's box, metres."""
DEEP: Final = 2e-3
"""Metres: skin deeper in the body than this is listed."""
_STRETCHED: Final = 4.0
"""Times its length at rest: an edge that is longer is listed."""
INSIDE_OUT: Final = 0.25
"""Volume of a part of the skin over that at rest (`skin_parts`): below this it has collapsed, below
0 it is inside out. Sound takes have 0.6 and more, a mirrored part has −1."""


class TakeDoctor:
    """Looks at frames of one person."""

    def __init__(
        self,
        rest: Float[NumpyArray, "V 3"],
        triangles: Int[NumpyArray, "F 3"],
        fps: float,
        parts: PartLabels | None = None,
    ) -> None:
        """`parts` are those of the topology, where it is known; without them no part's volume is
        asked."""
        self._rest, self.triangles, self.fps = np.asarray(rest, np.float64), triangles, fps
        self._edges = np.unique(
            np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0
        )
        self._lengths = self._edge_lengths(self._rest)
        self._meter: PenetrationMeter | None = None
        self._parts = None if parts is None else SkinParts(self._rest, triangles, parts)

    def quick(self, first: int, block: Float32[NumpyArray, "N V 3"]) -> list[FrameFault]:
        """What every frame is asked; `first` is the number of the block's first frame."""
        faults = []
        for number, frame in enumerate(block, first):
            bad = ~np.isfinite(frame).all(axis=1)
            if bad.any():
                faults.append(FrameFault(number, "not finite", int(bad.sum()), 0.0))
                continue
            size = float(np.ptp(frame, axis=0).max())
            if not SIZES[0] <= size <= SIZES[1]:
                faults.append(FrameFault(number, "size", len(frame), size))
            ratio = self._edge_lengths(frame.astype(np.float64)) / np.maximum(self._lengths, 1e-6)
            long = (ratio > _STRETCHED) & (self._lengths > 1e-3)
            if long.any():
                faults.append(
                    FrameFault(number, "stretched edges", int(long.sum()), float(ratio[long].max()))
                )
            if self._parts is not None:
                faults += self._collapsed(number, frame)
        if self.fps > 0 and len(block) > 1 and np.isfinite(block).all():
            speeds = np.linalg.norm(np.diff(block, axis=0), axis=2) * self.fps
            for number, row in enumerate(speeds, first + 1):
                if row.max() > FASTEST:
                    fast = int((row > FASTEST).sum())
                    faults.append(FrameFault(number, "speed", fast, float(row.max())))
        return faults

    def penetration(self, number: int, frame: Float32[NumpyArray, "V 3"]) -> list[FrameFault]:
        """Skin inside the body, deeper than `DEEP`; about half a second a frame."""
        if self._meter is None:
            self._meter = PenetrationMeter(self._rest, self.triangles)
        depths = self._meter.depths(frame.astype(np.float64))
        deep = depths > DEEP
        if not deep.any():
            return []
        return [FrameFault(number, "penetration", int(deep.sum()), float(depths.max()))]

    def _collapsed(self, number: int, frame: Float32[NumpyArray, "V 3"]) -> list[FrameFault]:
        """Parts of the skin that stand in instead of out."""
        if self._parts is None:
            return []
        ratios = self._parts.volumes(frame.astype(np.float64)) / self._parts.rest_volumes
        return [
            FrameFault(number, f"collapsed {self._parts.names[part]}", 1, float(ratios[part]))
            for part in np.flatnonzero(ratios < INSIDE_OUT)
        ]

    def _edge_lengths(self, vertices: Float64[NumpyArray, "V 3"]) -> Float64[NumpyArray, "e"]:
        start, end = self._edges.T
        return np.linalg.norm(vertices[start] - vertices[end], axis=1)
