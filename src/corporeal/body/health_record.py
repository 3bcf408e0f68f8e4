"""How sound the simulated flesh of a recording was, frame by frame."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float32, Int, NumpyArray
from corporeal.errors import InputError


@dataclass(frozen=True)
class FrameFault:
    """Something worth looking at in one frame."""

    frame: int
    """Number of the frame in its take."""
    what: str
    """Kind of fault, in words."""
    count: int
    """Vertices, edges, triangles or elements concerned."""
    worst: float
    """Metres for depths and residuals, m/s for speeds, ratios for edges and volumes; or a count."""


@dataclass(frozen=True, eq=False)
class HealthRecord:
    """What was measured on the flesh of every frame while it was recorded."""

    inverted: Int[NumpyArray, "N"]
    """Elements with a free vertex that are inside out, J = det F ≤ 0."""
    least_determinant: Float32[NumpyArray, "N"]
    """Least J of the elements with a free vertex: 1 at rest, 0 flat."""
    largest_stretch: Float32[NumpyArray, "N"]
    """Of a simulated skin edge, over its length at rest."""
    residual: Float32[NumpyArray, "N"]
    """Fixed-point residual of the solver: how far its last iteration moved vertices, root mean
    square, metres."""
    parts: tuple[str, ...]
    """Names of the body parts that have flesh."""
    part_volumes: Float32[NumpyArray, "N P"]
    """Relative change of the volume of every part's elements: 0 at rest, −1 gone."""
    penetration_frames: Int[NumpyArray, "M"]
    """Frames whose penetration was measured, ascending."""
    penetration: Float32[NumpyArray, "M"]
    """How deep skin is in the body in those frames, metres."""
    inverted_volume: Float32[NumpyArray, "N"] | None = None
    """Volume that lies inside out, m³: −J times the rest volume, over the elements with J < 0. None
    in records that were made before it was measured."""

    def __post_init__(self) -> None:
        if self.part_volumes.shape[1] != len(self.parts):
            raise InputError(
                f"a health record names {len(self.parts)} parts and has volumes of "
                f"{self.part_volumes.shape[1]}; expected one column a part."
            )
        asked, count = self.penetration_frames, len(self.inverted)
        if len(asked) != len(self.penetration) or not np.isin(asked, np.arange(count)).all():
            raise InputError(
                f"a health record has {len(self.penetration)} depths for {len(asked)} frames of "
                f"{count}; expected one depth a frame that is there."
            )

    @property
    def frame_count(self) -> int:
        """Number N of frames."""
        return len(self.inverted)

    @staticmethod
    def joined(records: Sequence["HealthRecord"]) -> "HealthRecord":
        """One record of the frames of all, in their order; they share their parts."""
        firsts = np.cumsum([0, *(record.frame_count for record in records[:-1])])
        asked = [r.penetration_frames + n for r, n in zip(records, firsts, strict=True)]
        turned = [r.inverted_volume for r in records if r.inverted_volume is not None]
        return HealthRecord(
            np.concatenate([record.inverted for record in records]),
            np.concatenate([record.least_determinant for record in records]),
            np.concatenate([record.largest_stretch for record in records]),
            np.concatenate([record.residual for record in records]),
            records[0].parts,
            np.concatenate([record.part_volumes for record in records]),
            np.concatenate(asked),
            np.concatenate([record.penetration for record in records]),
            np.concatenate(turned) if len(turned) == len(records) else None,
        )
