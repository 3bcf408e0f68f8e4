"""Given clips of motion capture, retargeted to every person."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from corporeal.body.template import Template
from corporeal.capture.moving_clearance import cleared_motion
from corporeal.capture.person import Person
from corporeal.capture.protocols.protocol import Recording
from corporeal.capture.protocols.standing import a_pose
from corporeal.errors import InputError
from corporeal.motions.incoming import IncomingOptions, motion_for_body
from corporeal.motions.resample import resample
from corporeal.runtime.names import repeated


@dataclass(frozen=True)
class MocapProtocol:
    """Clips in the order in which they were given."""

    clips: tuple[Path, ...]
    """Motion files (.bvh, .npz)."""
    fps: float | None = None
    """Frames a second; None keeps each clip's own."""
    options: IncomingOptions = field(default_factory=IncomingOptions)
    """How the files are read and retargeted."""
    name = "mocap"

    def __post_init__(self) -> None:
        if not self.clips:
            raise InputError("protocol mocap came without clips; give --clips A.bvh B.bvh …")
        if self.fps is not None and not 1.0 <= self.fps <= 1000.0:
            raise InputError(f"clips asked at {self.fps} frames a second; expected 1 to 1000.")
        if twice := repeated(self.sequences()):
            raise InputError(
                f"clips {', '.join(twice)} stand twice; expected different file names: sequences "
                f"are called after them."
            )

    def sequences(self) -> tuple[str, ...]:
        """Stems of the clips, with letters that a store takes."""
        return tuple(re.sub(r"[^A-Za-z0-9_.\-]", "_", clip.stem)[:60] for clip in self.clips)

    def direct(self, person: Person, template: Template, sequence: str, seed: int) -> Recording:
        """The clip, retargeted to this person; arms are held clear of the trunk and legs of each
        other, unless it is taken raw."""
        clip = self.clips[self.sequences().index(sequence)]
        came = motion_for_body(clip, template, person.identity, self.options)
        motion = came.motion if self.fps is None else resample(came.motion, self.fps)
        told = {"clip": clip.name, **came.facts}
        if self.options.raw:
            return Recording(motion, moving=True, notes=told)
        clear = cleared_motion(motion, person, template, a_pose(person, template), legs=True)
        return Recording(clear.motion, moving=True, notes={**told, **clear.notes()})
