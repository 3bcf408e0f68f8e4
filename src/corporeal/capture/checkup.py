"""What a session asks of whoever judges its flesh; measures and limits are in `evaluation`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from corporeal._typing import Float64, NumpyArray
from corporeal.body.health_record import FrameFault, HealthRecord
from corporeal.physics.fast_projective_skinning.body import SimulatedBody


@runtime_checkable
class HealthRecorder(Protocol):
    """Looks at the frames of one take as they come."""

    def add(self, positions: Float64[NumpyArray, "n 3"], residual: float) -> None:
        """Measure the next frame: all simulated vertices, and the solver's residual, metres."""
        ...

    def record(self) -> HealthRecord:
        """What was measured of all frames so far."""
        ...


@dataclass(frozen=True)
class Checkup:
    """How takes are judged."""

    recorder: Callable[[SimulatedBody, int], HealthRecorder]
    """A recorder for one body; penetration is measured in each so many frames, never for 0."""
    faults: Callable[[HealthRecord], Sequence[FrameFault]]
    """What is beyond the limits, frame by frame."""


def in_words(faults: Sequence[FrameFault]) -> tuple[str, ...]:
    """One line a kind of fault: in how many frames, and the worst."""
    kinds = dict.fromkeys(fault.what for fault in faults)
    lines = []
    for kind in kinds:
        found = [fault for fault in faults if fault.what == kind]
        worst = max(found, key=lambda fault: abs(fault.worst))
        frames = len({fault.frame for fault in found})
        lines.append(
            f"{kind} in {frames} frames, worst in frame {worst.frame} ({worst.count} places, "
            f"{worst.worst:.3g})"
        )
    return tuple(lines)
