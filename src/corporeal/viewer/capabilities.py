"""What a stepper may offer the studio beyond `start`, `step` and `skin`, each a small protocol.

The studio asks for what a stepper has, and does without the rest: a stepper that cannot be held is
not grabbed, one that cannot be relocated or resumed is started anew.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from corporeal.body.grab import Grab
from corporeal.body.pose import Pose


@runtime_checkable
class Holdable(Protocol):
    """Its skin can be grabbed."""

    def can_hold(self, state: Any, grab: Grab, /) -> bool:
        """Whether there is something at the grabbed point that gives way."""
        ...

    def step_held(self, state: Any, pose: Pose, seconds: float, grabs: Sequence[Grab], /) -> Any:
        """`step`, while hands pull."""
        ...


@runtime_checkable
class Relocatable(Protocol):
    """Its body can be put elsewhere as it moves."""

    def relocate(self, state: Any, pose: Pose, /) -> Any:
        """The same moving body with its root where `pose` has it."""
        ...


@runtime_checkable
class Resumable(Protocol):
    """It can go on from a state of another stepper of its kind, made with other controls."""

    def resume(self, state: Any, /) -> Any | None:
        """The state as this stepper has it; None where the two do not fit each other."""
        ...
