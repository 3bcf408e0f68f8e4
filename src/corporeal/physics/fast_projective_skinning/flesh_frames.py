"""All the flesh of a clip, frame by frame, whatever simulates it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from corporeal._typing import Float64, NumpyArray
from corporeal.physics.fast_projective_skinning.clip import Clip


@dataclass(frozen=True, eq=False)
class FleshFrame:
    """All simulated flesh at one moment."""

    positions: Float64[NumpyArray, "n 3"]
    """Of the simulated vertices, skin first, metres."""
    residual: float
    """Of the solver's last step, metres (`CpuSolver.residual`)."""


@runtime_checkable
class ClipEngine(Protocol):
    """Simulates clips."""

    def frames(self, clip: Clip) -> Iterator[FleshFrame]:
        """The flesh at every frame, the first included, one after the other."""
        ...


class CpuClips:
    """Clips on the CPU."""

    def frames(self, clip: Clip) -> Iterator[FleshFrame]:
        """The flesh at every frame, the first included, one after the other."""
        body = clip.body
        for number, state in enumerate(clip.states()):
            moving = number > 0 and body.settings.dynamics
            solver = body.solver(clip.step) if moving else body.solver(1.0, "static")
            yield FleshFrame(state.positions, solver.residual)
