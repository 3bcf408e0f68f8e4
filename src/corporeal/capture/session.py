"""A person's visit to the scanner: every sequence recorded, simulated and stored."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float32, NumpyArray
from corporeal.body.registrations import Split, Subject, Take, Truth
from corporeal.body.template import Template
from corporeal.capture.flesh import DeformerName, PersonFlesh, Touch, flesh_of
from corporeal.capture.person import Person
from corporeal.capture.protocols.protocol import CaptureProtocol, Recording
from corporeal.capture.seeds import seed_of
from corporeal.errors import SolverError


@dataclass(frozen=True)
class SessionSettings:
    """How people are recorded, whatever they do."""

    deformer: DeformerName = "layered"
    """What moves the flesh: `projective` or `layered`."""
    touch: Touch = "global"
    """Whether skin meets skin."""
    seed: int = 0
    """Of the whole set."""


def record(
    person: Person,
    template: Template,
    protocol: CaptureProtocol,
    settings: SessionSettings,
    split: Split,
    sequences: tuple[str, ...],
) -> Iterator[tuple[Subject, Take]]:
    """The takes of these sequences, one after the other; the person is prepared once."""
    if not sequences:
        return
    flesh = flesh_of(person, template, settings.deformer, settings.seed)
    subject = subject_of(flesh)
    for sequence in sequences:
        seed = seed_of(settings.seed, split, person.name, protocol.name, sequence)
        recording = protocol.direct(person, template, sequence, seed)
        vertices = flesh.perform(recording, settings.touch)
        yield subject, _take(flesh, vertices, recording, settings, split, sequence, seed)


def subject_of(flesh: PersonFlesh) -> Subject:
    """All that is known of the person."""
    person = flesh.person
    facts: dict[str, float | str] = {"sex": person.sex, "age": person.age}
    facts |= {name: float(value) for name, value in person.measurements.values.items()}
    facts |= {f"tissue_{name}": value for name, value in flesh.tissue.facts().items()}
    return Subject(person.name, person.identity, flesh.layers, person.composition, facts)


def _take(
    flesh: PersonFlesh,
    vertices: Float32[NumpyArray, "N V 3"],
    recording: Recording,
    settings: SessionSettings,
    split: Split,
    sequence: str,
    seed: int,
) -> Take:
    finite = np.isfinite(vertices).all(axis=(1, 2))
    if not finite.all():
        raise SolverError(
            f"{flesh.person.name} {sequence}: physics gave no shape from frame "
            f"{int(np.argmin(finite))} on (seed {seed}). Nothing of it was stored."
        )
    motion = recording.motion
    return Take(
        subject=flesh.person.name,
        sequence=sequence,
        fps=motion.fps if recording.moving else 0.0,
        vertices=vertices,
        truth=Truth(
            np.asarray(motion.joint_rotations, np.float32),
            np.asarray(motion.root_translation, np.float32),
            flesh.materials(recording.moving, settings.touch),
        ),
        split=split,
        notes={"seed": seed, "deformer": settings.deformer, **recording.notes},
    )
