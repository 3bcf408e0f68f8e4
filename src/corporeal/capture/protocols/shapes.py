"""One standing scan a person, never quite in the same pose: the multi-shape set."""

from dataclasses import dataclass

import numpy as np

from corporeal.body.template import Template
from corporeal.capture.person import Person
from corporeal.capture.protocols.protocol import Recording
from corporeal.capture.protocols.standing import a_pose, on_the_ground
from corporeal.capture.seeds import generator
from corporeal.errors import InputError

_BODY_JOINTS = 22


@dataclass(frozen=True)
class ShapesProtocol:
    """People stand in an A-pose as well as they can."""

    wobble: float = 0.05
    """Standard deviation of every joint's turn about each axis, radians; people hold a pose to a
    few degrees."""
    name = "shapes"

    def __post_init__(self) -> None:
        if not 0.0 <= self.wobble <= 0.3:
            raise InputError(f"poses vary by {self.wobble} rad; expected 0 to 0.3.")

    def sequences(self) -> tuple[str, ...]:
        """One sequence, `stand`."""
        return ("stand",)

    def direct(self, person: Person, template: Template, sequence: str, seed: int) -> Recording:
        """One frame of an A-pose with small random rotations of the body's joints."""
        stand = a_pose(person, template)
        rotation_vectors = generator("shapes", seed).normal(
            scale=self.wobble, size=(_BODY_JOINTS, 3)
        )
        rotation_vectors[0, 1] *= 3.0  # nobody faces the cameras exactly
        rotations = stand.copy()
        rotations[:_BODY_JOINTS] += np.clip(rotation_vectors, -3 * self.wobble, 3 * self.wobble)
        return Recording(on_the_ground(sequence, rotations[None], person, template), moving=False)
