"""What the reference and the fast solver are from outside."""

from typing import Protocol, runtime_checkable

from corporeal._typing import Float64, NumpyArray
from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.solver.integration import State, StepRule
from corporeal.physics.solver.system import System


@runtime_checkable
class Solver(Protocol):
    """Takes steps of one system by one rule; its matrix is factored when it is made."""

    system: System
    """Masses, constraints and anchors."""
    rule: StepRule
    """Length of a step, iterations, damping."""

    def step(
        self,
        state: State,
        anchors: Float64[NumpyArray, "b 3"],
        forces: Float64[NumpyArray, "V 3"] | None = None,
        carried: Float64[NumpyArray, "V 3"] | None = None,
        contacts: Contacts | None = None,
        targets: Float64[NumpyArray, "V 3"] | None = None,
    ) -> State:
        """The state one step later.

        `anchors` are the new places of the anchored vertices, metres, in their order; `forces` the
        external forces, newtons; `carried` the velocities that drag draws towards, m/s;
        `contacts` what must not be entered in this step; `targets` the places that attachments
        draw to, metres, which a system with attachments needs.
        """
        ...
