"""Held poses without flesh: skin carried by dual quaternions, for thousands of people who stand."""

from collections.abc import Iterator

import numpy as np

from corporeal.body.registrations import Split, Subject, Take, Truth
from corporeal.body.template import Template
from corporeal.capture.person import Person
from corporeal.capture.protocols.protocol import CaptureProtocol
from corporeal.capture.seeds import seed_of
from corporeal.errors import InputError
from corporeal.skinning.dual_quaternion import DualQuaternionSkinning

SKINNED = DualQuaternionSkinning.name
"""What stands for flesh in `SessionSettings.deformer` where there is none."""


def skinned_takes(
    person: Person,
    template: Template,
    protocol: CaptureProtocol,
    seed: int,
    split: Split,
    sequences: tuple[str, ...],
) -> Iterator[tuple[Subject, Take]]:
    """The takes of these sequences, one after the other; nothing is simulated, nothing judged."""
    facts: dict[str, float | str] = {"sex": person.sex, "age": person.age}
    facts |= {name: float(value) for name, value in person.measurements.values.items()}
    subject = Subject(person.name, person.identity, None, person.composition, facts)
    skinning = DualQuaternionSkinning(template)
    for sequence in sequences:
        drawn = seed_of(seed, split, person.name, protocol.name, sequence)
        recording = protocol.direct(person, template, sequence, drawn)
        if recording.moving:
            raise InputError(
                f"{sequence} is a movement, which {SKINNED} has no flesh for; choose the deformer "
                f"layered or projective."
            )
        poses = recording.motion.poses
        yield (
            subject,
            Take(
                subject=person.name,
                sequence=sequence,
                fps=0.0,
                vertices=np.asarray(skinning.vertices(person.identity, poses), np.float32),
                truth=Truth(
                    np.asarray(poses.joint_rotations, np.float32),
                    np.asarray(poses.root_translation, np.float32),
                ),
                split=split,
                notes={"seed": drawn, "deformer": SKINNED, "device": "cpu", **recording.notes},
            ),
        )
