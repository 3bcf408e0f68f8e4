"""A person's visit to the scanner: every sequence recorded, simulated, judged and handed on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from corporeal._typing import Float32, NumpyArray
from corporeal.body.health_record import FrameFault, HealthRecord
from corporeal.body.registrations import LeftOut, Split, Subject, Take, Truth, Twin
from corporeal.body.template import Template
from corporeal.capture.checkup import Checkup, in_words
from corporeal.capture.flesh import DeformerName, PersonFlesh, Touch, flesh_of
from corporeal.capture.person import Person
from corporeal.capture.protocols.protocol import CaptureProtocol, Recording
from corporeal.capture.seeds import seed_of
from corporeal.capture.skinned import SKINNED, skinned_takes
from corporeal.capture.tissue import SPREAD
from corporeal.errors import CapacityError, SolverError
from corporeal.physics.fast_projective_skinning.flesh_frames import FleshFrame

FINER: Final = (1, 2)
"""How many times smaller than usual the steps of an attempt are, one attempt after the other."""
PENETRATION_EVERY: Final = 6
"""Frames of a movement from one whose penetration is measured to the next."""


@dataclass(frozen=True)
class SessionSettings:
    """How people are recorded, whatever they do."""

    deformer: DeformerName = "layered"
    """What moves the flesh: `projective` or `layered`; `dqs` for held poses without any."""
    touch: Touch = "global"
    """Whether skin meets skin."""
    seed: int = 0
    """Of the whole set."""
    twin: bool = True
    """Also record the quasi-static twin of every movement."""
    device: str = "cpu"
    """What simulates movements and their twins: `cpu`, `gpu` or `gpu:N`."""
    tissue_spread: float = SPREAD
    """Standard deviation of ln(modulus) between people of one composition."""


@dataclass(frozen=True, eq=False)
class Played:
    """One attempt at a sequence."""

    vertices: Float32[NumpyArray, "N V 3"]
    """The full skin, metres."""
    health: HealthRecord | None
    """None where nobody judges."""
    faults: Sequence[FrameFault]
    """What is beyond the limits."""


def record(
    person: Person,
    template: Template,
    protocol: CaptureProtocol,
    settings: SessionSettings,
    split: Split,
    sequences: tuple[str, ...],
    checkup: Checkup | None = None,
    is_done: Callable[[str], bool] | None = None,
) -> Iterator[tuple[Subject, Take | LeftOut]]:
    """The takes of these sequences, one after the other; the person is prepared once.

    With a `checkup`, a take beyond its limits is tried again in smaller steps (`FINER`), and left
    out if it stays unsound; of poses that are no movement, those alone are left out. `is_done` is
    asked before each sequence whether somebody else has recorded it meanwhile.
    """
    if not sequences:
        return
    if settings.deformer == SKINNED:
        yield from skinned_takes(person, template, protocol, settings.seed, split, sequences)
        return
    flesh = flesh_of(
        person,
        template,
        settings.deformer,
        settings.seed,
        settings.device,
        settings.tissue_spread,
    )
    studio = _Studio(flesh, settings, checkup)
    subject = subject_of(flesh)
    for sequence in sequences:
        if is_done is not None and is_done(sequence):
            continue
        seed = seed_of(settings.seed, split, person.name, protocol.name, sequence)
        recording = protocol.direct(person, template, sequence, seed)
        device = settings.device if recording.moving else "cpu"
        notes = {"seed": seed, "deformer": settings.deformer, "device": device, **recording.notes}
        about = _About(sequence, split, notes)
        shoot = studio.movement if recording.moving else studio.poses
        yield subject, shoot(recording, about)


def subject_of(flesh: PersonFlesh) -> Subject:
    """All that is known of the person."""
    person = flesh.person
    facts: dict[str, float | str] = {"sex": person.sex, "age": person.age}
    facts |= {name: float(value) for name, value in person.measurements.values.items()}
    facts |= {f"tissue_{name}": value for name, value in flesh.tissue.facts().items()}
    return Subject(person.name, person.identity, flesh.layers, person.composition, facts)


@dataclass(frozen=True)
class _About:
    """What a take carries besides what was recorded."""

    sequence: str
    split: Split
    notes: dict[str, Any]


class _Studio:
    """Records one person, again where it must be."""

    def __init__(
        self, flesh: PersonFlesh, settings: SessionSettings, checkup: Checkup | None
    ) -> None:
        self._flesh, self._settings, self._checkup = flesh, settings, checkup
        self._body = flesh.body(True, settings.touch)

    def movement(self, recording: Recording, about: _About) -> Take | LeftOut:
        """A movement with its twin; all of it sound, or left out."""
        flesh, touch = self._flesh, self._settings.touch
        reasons: tuple[str, ...] = ()
        for finer in self._attempts:
            take = self._played(flesh.frames(recording, touch, finer), about, PENETRATION_EVERY)
            if take.faults:
                reasons = in_words(take.faults)
                continue
            twin = self._twin(recording, about, finer)
            if twin is not None and twin.faults:
                reasons = tuple(f"twin: {line}" for line in in_words(twin.faults))
                continue
            beside = None if twin is None else Twin(twin.vertices, twin.health)
            about.notes["steps_finer"] = finer
            return self._take(recording, about, take, beside)
        return LeftOut(flesh.person.name, about.sequence, reasons, len(self._attempts))

    def poses(self, recording: Recording, about: _About) -> Take | LeftOut:
        """Poses, each for itself; those that no attempt makes sound are left out."""
        kept: dict[int, Played] = {}
        reasons: dict[str, list[str]] = {}
        for number in range(recording.motion.frame_count):
            pose = self._pose(_only(recording, [number]), about)
            if pose.faults:
                reasons[str(number)] = list(in_words(pose.faults))
            else:
                kept[number] = pose
        if not kept:
            lines = tuple(f"pose {n}: {line}" for n, why in reasons.items() for line in why)
            name, attempts = self._flesh.person.name, len(self._attempts)
            return LeftOut(name, about.sequence, lines, attempts)
        if reasons:
            about.notes.update(frames_kept=list(kept), frames_left_out=reasons)
        records = [pose.health for pose in kept.values() if pose.health is not None]
        vertices = np.concatenate([pose.vertices for pose in kept.values()])
        played = Played(vertices, HealthRecord.joined(records) if records else None, ())
        return self._take(_only(recording, list(kept)), about, played, None)

    def _pose(self, recording: Recording, about: _About) -> Played:
        """One pose, in ever smaller turns until it is sound, or as the last attempt left it."""
        flesh, touch = self._flesh, self._settings.touch
        attempts = (
            self._played(flesh.frames(recording, touch, finer), about, 1)
            for finer in self._attempts
        )
        played = next(attempts)
        while played.faults and (again := next(attempts, None)) is not None:
            played = again
        return played

    @property
    def _attempts(self) -> tuple[int, ...]:
        return FINER if self._checkup is not None else FINER[:1]

    def _twin(self, recording: Recording, about: _About, finer: int) -> Played | None:
        if not self._settings.twin:
            return None
        frames = self._flesh.twin_frames(recording, self._settings.touch, finer)
        return self._played(frames, about, 0)

    def _played(
        self, frames: Iterator[FleshFrame], about: _About, penetration_every: int
    ) -> Played:
        """All frames, measured as they come, up to one that has no shape."""
        body, checkup, skins = self._body, self._checkup, []
        recorder = None if checkup is None else checkup.recorder(body, penetration_every)
        try:
            for number, frame in enumerate(frames):
                skin = body.skin(frame.positions).astype(np.float32)
                if not (np.isfinite(skin).all() and np.isfinite(frame.positions).all()):
                    return self._shapeless(about, number)
                skins.append(skin)
                if recorder is not None:
                    recorder.add(frame.positions, frame.residual)
        except CapacityError:
            if checkup is None:
                raise
            return self._nothing(FrameFault(len(skins), "more contacts than fit", 1, 0.0))
        vertices = np.stack(skins)
        if checkup is None or recorder is None:
            return Played(vertices, None, ())
        health = recorder.record()
        return Played(vertices, health, checkup.faults(health))

    def _shapeless(self, about: _About, frame: int) -> Played:
        """An attempt that physics gave no shape to; an error where nobody judges."""
        if self._checkup is None:
            raise SolverError(
                f"{self._flesh.person.name} {about.sequence}: physics gave no shape from frame "
                f"{frame} on (seed {about.notes['seed']}). Nothing of it was stored."
            )
        return self._nothing(FrameFault(frame, "not finite", 1, 0.0))

    def _nothing(self, fault: FrameFault) -> Played:
        """An attempt without frames."""
        count = self._flesh.person.identity.rest_vertices.shape[0]
        return Played(np.zeros((0, count, 3), np.float32), None, (fault,))

    def _take(self, recording: Recording, about: _About, played: Played, twin: Twin | None) -> Take:
        motion = recording.motion
        return Take(
            subject=self._flesh.person.name,
            sequence=about.sequence,
            fps=motion.fps if recording.moving else 0.0,
            vertices=played.vertices,
            truth=Truth(
                np.asarray(motion.joint_rotations, np.float32),
                np.asarray(motion.root_translation, np.float32),
                self._flesh.materials(recording.moving, self._settings.touch),
            ),
            split=about.split,
            notes=about.notes,
            twin=twin,
            health=played.health,
        )


def _only(recording: Recording, frames: list[int]) -> Recording:
    """Some frames of a recording."""
    motion = recording.motion
    chosen = replace(
        motion,
        joint_rotations=np.asarray(motion.joint_rotations)[frames],
        root_translation=np.asarray(motion.root_translation)[frames],
    )
    return replace(recording, motion=chosen)
