"""The fourteen motions of the Dyna protocol (Pons-Moll et al. 2015, section 3.2)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corporeal.body.template import Template
from corporeal.capture.moving_clearance import cleared_motion
from corporeal.capture.person import Person
from corporeal.capture.protocols.protocol import Recording
from corporeal.capture.protocols.turned import drawn_turn, turned
from corporeal.errors import InputError
from corporeal.motions.library import MOTIONS, make_motion, require_timing
from corporeal.motions.posture import stoop_at


@dataclass(frozen=True)
class DynaProtocol:
    """Fast movements that set flesh in motion, each from an A-pose."""

    fps: float = 60.0
    """Frames a second."""
    duration: float = 5.0
    """Seconds a motion."""
    motions: tuple[str, ...] = tuple(MOTIONS)
    """Names of authored motions."""
    turned: float = 0.0
    """Share of takes in which the body lies or is upside down, drawn for each."""
    name = "dyna"

    def __post_init__(self) -> None:
        require_timing(self.fps, self.duration)
        if not 0.0 <= self.turned <= 1.0:
            raise InputError(f"a share of {self.turned} takes was to be turned; expected 0 to 1.")
        unknown = [motion for motion in self.motions if motion not in MOTIONS]
        if unknown or not self.motions or len(set(self.motions)) != len(self.motions):
            raise InputError(
                f"motions {', '.join(unknown or self.motions) or '(none)'} were asked for; "
                f"expected some of {', '.join(MOTIONS)}, each once."
            )

    def sequences(self) -> tuple[str, ...]:
        """The names of the motions."""
        return self.motions

    def direct(self, person: Person, template: Template, sequence: str, seed: int) -> Recording:
        """The authored motion for this person, arms held clear of the trunk."""
        motion = make_motion(
            sequence,
            person.identity,
            template,
            seed=seed,
            fps=self.fps,
            duration=self.duration,
            a_pose=True,
            stoop=stoop_at(person.age),
        )
        stand = np.asarray(motion.joint_rotations[0], np.float64)
        clear = cleared_motion(motion, person, template, stand)
        recorded = clear.motion
        notes: dict[str, Any] = dict(clear.notes())
        how = drawn_turn(seed, self.turned)
        if how is not None:
            recorded, notes = turned(recorded, how), {**notes, "turned": how}
        return Recording(recorded, moving=True, notes=notes)
