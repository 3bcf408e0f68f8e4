"""What every protocol offers."""

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from corporeal.body.motion import Motion
from corporeal.body.template import Template
from corporeal.capture.person import Person


@dataclass(frozen=True, eq=False)
class Recording:
    """What one person does in one sequence, before any physics."""

    motion: Motion
    """Poses of the person, frame by frame."""
    moving: bool
    """Whether frames follow each other in time; else every one is in static balance."""
    notes: dict[str, Any] = field(default_factory=dict)
    """Worth keeping with the take; JSON values."""


@runtime_checkable
class CaptureProtocol(Protocol):
    """Names its sequences without computing anything, and directs one at a time."""

    @property
    def name(self) -> str:
        """Name on the command line and in stores."""
        ...

    def sequences(self) -> tuple[str, ...]:
        """What every person does, in order."""
        ...

    def direct(self, person: Person, template: Template, sequence: str, seed: int) -> Recording:
        """The recording of one sequence; all that is drawn comes from `seed`."""
        ...
