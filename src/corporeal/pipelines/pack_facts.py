"""What a packed set says of its takes and people beside their numbers."""

from typing import Any

import numpy as np

from corporeal.body.identity import Identity
from corporeal.body.registrations import Registrations, Take
from corporeal.formats.registrations import RegistrationsStore
from corporeal.pipelines.pack_config import PackConfig


def packed_facts(held: Registrations, config: PackConfig) -> dict[str, Any]:
    """Template, takes, people and what was left out; JSON values."""
    subjects = []
    for name in held.subjects:
        subject = held.subjects[name]
        made_of, identity = subject.composition, require_identity(held, name)
        subjects.append(
            {
                "name": name,
                "facts": dict(subject.facts),
                "composition": None
                if made_of is None
                else {"fat_mass": made_of.fat_mass, "muscle_mass": made_of.muscle_mass},
                "parameters": {k: np.asarray(v).tolist() for k, v in identity.parameters.items()},
            }
        )
    takes = [
        {
            "subject": take.subject,
            "sequence": take.sequence,
            "fps": take.fps,
            "split": take.split,
            "frames": take.frame_count,
            "twin": take.twin is not None,
            "materials": {} if take.truth is None else dict(take.truth.materials),
            "notes": {**take.notes, **_worst(take)},
        }
        for take in held.takes
    ]
    left_out = [
        {"subject": t.subject, "sequence": t.sequence, "reasons": list(t.reasons)}
        for t in RegistrationsStore.open(config.data).left_out()
    ]
    return {
        "template": held.template,
        "topology_hash": held.topology_hash,
        "skinning": "dqs",
        "asked": {"error": config.error, "largest": config.largest},
        "provenance": dict(held.provenance),
        "takes": takes,
        "subjects": subjects,
        "left_out": left_out,
    }


def _worst(take: Take) -> dict[str, Any]:
    """The worst that was measured on the flesh of a take, which is all that is kept of it."""
    record = take.health
    if record is None:
        return {}
    turned = record.inverted_volume
    return {
        "health_worst": {
            "inverted": int(record.inverted.max()),
            **({} if turned is None else {"inverted_volume": float(turned.max())}),
            "stretch": round(float(record.largest_stretch.max()), 3),
            "volume": round(float(np.abs(record.part_volumes).max()), 3),
            "penetration": round(float(record.penetration.max(initial=0.0)), 5),
            "residual": round(float(record.residual.max()), 6),
        }
    }


def require_identity(held: Registrations, name: str) -> Identity:
    """The body of a subject at rest; packing has refused sets without it."""
    identity = held.subjects[name].identity
    assert identity is not None
    return identity
