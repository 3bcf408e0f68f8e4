"""What everything with a memory offers: a state that is started, stepped and shown."""

from typing import Protocol, TypeVar, runtime_checkable

from corporeal._typing import Array, Float
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose

State = TypeVar("State")
"""Whatever a stepper keeps from one moment to the next; it never changes a state in place."""


@runtime_checkable
class Stepper(Protocol[State]):
    """Moves one body live: physics, and learned models whose frames depend on those before.

        state = stepper.start(identity, pose)
        state = stepper.step(state, next_pose, 1 / 60)
        vertices = stepper.skin(state)

    A state goes in and a new one comes out, so that it can be kept, compared and gone back to.
    """

    def start(self, identity: Identity, pose: Pose | None = None, /) -> State:
        """At rest in `pose`, or in the zero pose; nothing was before."""
        ...

    def step(self, state: State, pose: Pose, seconds: float, /) -> State:
        """The body `seconds` later, its skeleton moved on to `pose`."""
        ...

    def skin(self, state: State, /) -> Float[Array, "V 3"]:
        """Posed vertices, metres."""
        ...
