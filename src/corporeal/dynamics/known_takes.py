"""What trainers know of takes beside their frames: who moves, and how still skins stand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from corporeal._typing import Float32, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.registrations import Registrations, Take
from corporeal.dynamics.training import DynamicsTraining, Learned
from corporeal.errors import InputError


def require_twins(takes: Sequence[Take]) -> None:
    """Raise `InputError` unless every take was recorded with its quasi-static twin."""
    without = [f"{take.subject} {take.sequence}" for take in takes if take.twin is None]
    if without:
        raise InputError(
            f"{len(without)} takes have no quasi-static twin ({without[0]}, …). Record "
            f"them with one, or train with --against model."
        )


def personal_means(
    takes: Sequence[Take], rows: Callable[[Take, NumpyArray], Float32[NumpyArray, "n *row"]]
) -> dict[str, Float32[NumpyArray, "*row"]]:
    """Every person's mean row over each fifth frame of their takes, all takes alike."""
    means: dict[str, list[NumpyArray]] = {}
    for take in takes:
        frames = np.arange(0, take.frame_count, 5)
        means.setdefault(take.subject, []).append(rows(take, frames).mean(axis=0))
    return {name: np.mean(of_person, axis=0) for name, of_person in means.items()}


def known_people(takes: Registrations) -> dict[str, Identity]:
    """The bodies at rest of everybody in a set, single precision; refused where one is missing."""
    people: dict[str, Identity] = {}
    for name in dict.fromkeys(take.subject for take in takes.takes):
        subject = takes.subjects.get(name)
        if subject is None or subject.identity is None:
            raise InputError(
                f"the set does not hold the body of {name} at rest; expected it, to tell shape "
                f"from dynamics. Leave the person out."
            )
        who = subject.identity
        people[name] = Identity(
            np.asarray(who.rest_vertices, np.float32), np.asarray(who.joints, np.float32), {}
        )
    return people


def known_genders(takes: Registrations) -> dict[str, float] | None:
    """0 for women and 1 for men, by name; None unless everybody's sex is known."""
    numbers = {"female": 0.0, "male": 1.0}
    found: dict[str, float] = {}
    for name in dict.fromkeys(take.subject for take in takes.takes):
        sex = takes.subjects[name].facts.get("sex") if name in takes.subjects else None
        if sex not in numbers:
            return None
        found[name] = numbers[str(sex)]
    return found


def training_report(
    settings: DynamicsTraining, takes: Registrations, indices: Mapping[str, float], found: Learned
) -> dict[str, Any]:
    """What there is to tell of a training; JSON values."""
    return {
        "settings": asdict(settings),
        "data": {
            "takes": len(takes.takes),
            "frames": takes.frame_count,
            "subjects": list(indices),
            "body_mass_indices": [round(value, 2) for value in indices.values()],
            "sequences": sorted({take.sequence for take in takes.takes}),
        },
        "explained": found.explained,
        "deviations": [float(value) for value in found.components.deviations],
    }
