"""Registrations in a Zarr store: a part a take, a part a subject.

===================== ============================================================================
`triangles`           F × 3 int32, common to all takes; attributes: template, its hash, provenance
`sequences/A__b`      `vertices` N × V × 3 float32, in groups of frames; where known also
                      `joint_rotations` N × J × 3 and `root_translation` N × 3 float32, `twin`
                      N × V × 3 float32 (the same poses in static balance), and how sound the flesh
                      was: `health_…`, `twin_health_…` (see `formats.health_records`);
                      attributes: subject, sequence, fps, split, materials, notes
`left_out/A__b`       takes that were found unsound and not kept; attributes: subject, sequence,
                      reasons, attempts
`subjects/A`          where known `rest_vertices`, `joints`, and `muscle`, `bone`, `layered` of its
                      layers; attributes: parameters, composition, facts
`scans/A__b__000000`  raw scans, if they were asked for (see `formats.scans`)
===================== ============================================================================

Everything survives the round trip. Metres, radians, y up.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from corporeal._typing import Int, NumpyArray
from corporeal.body.composition import Composition
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.registrations import (
    LeftOut,
    Registrations,
    Subject,
    Subjects,
    Take,
    Truth,
    Twin,
    require_topology,
)
from corporeal.body.topology import topology_hash
from corporeal.errors import FormatError, InputError
from corporeal.formats.health_records import HEALTH, TWIN_HEALTH, read_health, write_health
from corporeal.formats.zarr_groups import GroupReader, GroupWriter
from corporeal.formats.zarr_store import ZarrStore

KIND = "corporeal-registrations"
SEQUENCES, SUBJECTS, SCANS, LEFT_OUT = "sequences", "subjects", "scans", "left_out"
_LAYERS = ("muscle", "bone")
_BLOCK = 64
"""Frames held in memory while a take is copied."""


def take_name(subject: str, sequence: str) -> str:
    """What the part of a take is called."""
    return f"{subject}__{sequence}"


class RegistrationsStore:
    """A set of registrations on the disk, written take by take, by many processes at once."""

    def __init__(self, store: ZarrStore) -> None:
        self.store = store

    @staticmethod
    def create(
        path: str | Path,
        template: str,
        triangles: Int[NumpyArray, "F 3"],
        vertex_count: int,
        run: Mapping[str, Any],
        provenance: Mapping[str, Any] | None = None,
    ) -> "RegistrationsStore":
        """Make a store, or take up the one that the same `run` began.

        `run` is what decides the content: a store of another run is refused by name.
        """
        stamp = {
            "template": template,
            "topology_hash": topology_hash(triangles, vertex_count),
            "vertex_count": vertex_count,
        }
        store = ZarrStore.create(
            path,
            KIND,
            {**run, **stamp},
            (SEQUENCES, SUBJECTS, SCANS, LEFT_OUT),
            {"triangles": triangles.astype(np.int32)},
            {"provenance": dict(provenance or {})},
        )
        return RegistrationsStore(store)

    @staticmethod
    def open(path: str | Path) -> "RegistrationsStore":
        """A store that is there."""
        return RegistrationsStore(ZarrStore.open(path, KIND))

    @property
    def vertex_count(self) -> int:
        """Number V of vertices of every frame, as the store declares it."""
        count = self.store.run.get("vertex_count")
        if type(count) is not int or not 0 < count < 2**31:
            raise FormatError(f"{self.store.path} does not say how many vertices a frame has.")
        return count

    @cached_property
    def triangles(self) -> Int[NumpyArray, "F 3"]:
        """Common to all takes."""
        return self.store.common.array("triangles", "i", (None, 3)).astype(np.int64)

    def has_take(self, subject: str, sequence: str) -> bool:
        """Whether a take is there; then it is whole."""
        return self.store.has(SEQUENCES, take_name(subject, sequence))

    def takes(self) -> list[str]:
        """Names of the takes that are there."""
        return self.store.parts(SEQUENCES)

    def is_left_out(self, subject: str, sequence: str) -> bool:
        """Whether a take was recorded, found unsound and not kept."""
        return self._keeps_left_out and self.store.has(LEFT_OUT, take_name(subject, sequence))

    def left_out(self) -> list[LeftOut]:
        """All takes that were found unsound and not kept."""
        names = self.store.parts(LEFT_OUT) if self._keeps_left_out else []
        return [_left_out(self.store.part(LEFT_OUT, name)) for name in names]

    @property
    def _keeps_left_out(self) -> bool:
        """Stores of before takes were judged have no place for them."""
        return (self.store.path / LEFT_OUT).is_dir()

    def write_left_out(self, take: LeftOut) -> None:
        """Note that a take is not kept; a note that is there stays."""
        with self.store.writing(LEFT_OUT, take_name(take.subject, take.sequence)) as part:
            part.attributes = {
                "subject": take.subject,
                "sequence": take.sequence,
                "reasons": list(take.reasons),
                "attempts": take.attempts,
            }

    def has_scans(self) -> bool:
        """Whether any take was scanned."""
        return bool(self.store.parts(SCANS))

    def write_take(self, take: Take) -> None:
        """Write a take, wholly or not at all; one that is there is kept."""
        name = take_name(take.subject, take.sequence)
        require_topology(f"take {take.subject} {take.sequence}", take, self.vertex_count)
        with self.store.writing(SEQUENCES, name) as part:
            _copy(part.stream("vertices", take.vertices.shape, np.float32), take.vertices, name)
            part.attributes = {
                "subject": take.subject,
                "sequence": take.sequence,
                "fps": float(take.fps),
                "split": take.split,
                "notes": dict(take.notes),
            }
            if take.truth is not None:
                for key in ("joint_rotations", "root_translation"):
                    rows = getattr(take.truth, key)
                    _copy(part.stream(key, rows.shape, np.float32), rows, name)
                part.attributes["materials"] = dict(take.truth.materials)
            _write_beside(part, take, name)

    def write_subject(self, subject: Subject) -> None:
        """Write what is known of a person; one that is there is kept."""
        with self.store.writing(SUBJECTS, subject.name) as part:
            part.attributes = {"facts": dict(subject.facts)}
            if subject.composition is not None:
                part.attributes["composition"] = {
                    "fat_mass": subject.composition.fat_mass,
                    "muscle_mass": subject.composition.muscle_mass,
                }
            if subject.identity is not None:
                part.add("rest_vertices", np.asarray(subject.identity.rest_vertices, np.float32))
                part.add("joints", np.asarray(subject.identity.joints, np.float32))
                part.attributes["parameters"] = {
                    name: np.asarray(value).tolist()
                    for name, value in subject.identity.parameters.items()
                }
            if subject.layers is not None:
                for name in _LAYERS:
                    part.add(name, np.asarray(getattr(subject.layers, name), np.float32))
                part.add("layered", subject.layers.layered)

    def read(self) -> Registrations:
        """The set; vertices stay on the disk until rows are asked for."""
        store, count = self.store, self.vertex_count
        triangles = self.triangles
        provenance = store.common.attributes.get("provenance", {})
        try:
            read = Registrations(
                template=str(store.run.get("template", ""))[:200],
                triangles=triangles,
                vertex_count=count,
                takes=tuple(self._take(name) for name in store.parts(SEQUENCES)),
                subjects=Subjects(tuple(store.parts(SUBJECTS)), self.subject),
                provenance=provenance if isinstance(provenance, dict) else {},
            )
        except InputError as error:
            raise FormatError(f"{store.path}: {error}") from error
        if read.topology_hash != store.run.get("topology_hash"):
            raise FormatError(
                f"{store.path} has triangles that do not belong to its topology's hash. It is "
                f"damaged; make it again."
            )
        return read

    def take(self, subject: str, sequence: str) -> Take:
        """One take; its vertices stay on the disk until rows are asked for."""
        return self._take(take_name(subject, sequence))

    def _take(self, name: str) -> Take:
        part = self.store.part(SEQUENCES, name)
        subject, sequence = _text(part, "subject"), _text(part, "sequence")
        if name != take_name(subject, sequence):
            raise FormatError(f"{part.path} says that it is {subject!r}, {sequence!r}.")
        vertices = part.rows("vertices", "f", (None, self.vertex_count, 3))
        truth = None
        if part.has("joint_rotations"):
            frames = len(vertices)
            truth = Truth(
                part.rows("joint_rotations", "f", (frames, None, 3)),
                part.rows("root_translation", "f", (frames, 3)),
                _numbers(part, "materials"),
            )
        fps, notes = part.attributes.get("fps"), part.attributes.get("notes", {})
        if not isinstance(fps, int | float) or not isinstance(notes, dict):
            raise FormatError(f"{part.path} does not say its frame rate and notes.")
        twin, health = self._twin(part, len(vertices)), read_health(part, HEALTH, len(vertices))
        split = _split(part)
        return Take(subject, sequence, float(fps), vertices, truth, split, notes, twin, health)

    def _twin(self, part: GroupReader, frames: int) -> Twin | None:
        if not part.has("twin"):
            return None
        vertices = part.rows("twin", "f", (frames, self.vertex_count, 3))
        return Twin(vertices, read_health(part, TWIN_HEALTH, frames))

    def has_subject(self, name: str) -> bool:
        """Whether anything is known of a person."""
        return self.store.has(SUBJECTS, name)

    def subject(self, name: str) -> Subject:
        """What is known of a person."""
        part, count = self.store.part(SUBJECTS, name), self.vertex_count
        identity = layers = composition = None
        if part.has("rest_vertices"):
            parameters = part.attributes.get("parameters", {})
            identity = Identity(
                part.array("rest_vertices", "f", (count, 3)),
                part.array("joints", "f", (None, 3)),
                {str(key): np.asarray(value, np.float64) for key, value in parameters.items()},
            )
            if part.has("layered"):
                layers = Layers(
                    skin=np.asarray(identity.rest_vertices),
                    muscle=part.array("muscle", "f", (count, 3)),
                    bone=part.array("bone", "f", (count, 3)),
                    triangles=self.triangles,
                    layered=part.array("layered", "b", (count,)),
                )
        masses = _numbers(part, "composition")
        if {"fat_mass", "muscle_mass"} <= set(masses):
            composition = Composition(masses["fat_mass"], masses["muscle_mass"])
        facts = part.attributes.get("facts", {})
        plain = {str(k): v for k, v in facts.items() if isinstance(v, int | float | str)}
        return Subject(name, identity, layers, composition, plain)


def _write_beside(part: GroupWriter, take: Take, name: str) -> None:
    """The twin of a take, and how sound both are."""
    if take.health is not None:
        write_health(part, HEALTH, take.health)
    if take.twin is None:
        return
    _copy(part.stream("twin", take.twin.vertices.shape, np.float32), take.twin.vertices, name)
    if take.twin.health is not None:
        write_health(part, TWIN_HEALTH, take.twin.health)


def _left_out(part: GroupReader) -> LeftOut:
    reasons, attempts = part.attributes.get("reasons"), part.attributes.get("attempts")
    if not isinstance(reasons, list) or type(attempts) is not int:
        raise FormatError(f"{part.path} does not say why its take is left out.")
    subject, sequence = _text(part, "subject"), _text(part, "sequence")
    return LeftOut(subject, sequence, tuple(map(str, reasons)), attempts)


def _copy(append: Any, rows: Any, name: str) -> None:
    """Copy rows a few at a time; refuse what is not finite."""
    for start in range(0, rows.shape[0], _BLOCK):
        block = np.asarray(rows[start : start + _BLOCK], np.float32)
        if not np.isfinite(block).all():
            bad = start + int(np.argmin(np.isfinite(block).all(axis=tuple(range(1, block.ndim)))))
            raise InputError(f"take {name} is not finite in frame {bad}; nothing was written.")
        append(block)


def _text(part: GroupReader, key: str) -> str:
    value = part.attributes.get(key)
    if not isinstance(value, str):
        raise FormatError(f"{part.path} does not say its {key}.")
    return value


def _split(part: GroupReader) -> Literal["train", "test", ""]:
    value = part.attributes.get("split", "")
    if value == "train" or value == "test" or value == "":
        return value
    raise FormatError(f"{part.path} has the split {str(value)[:40]!r}; expected train or test.")


def _numbers(part: GroupReader, key: str) -> dict[str, float]:
    values = part.attributes.get(key, {})
    if not isinstance(values, dict) or not all(
        isinstance(value, int | float) for value in values.values()
    ):
        raise FormatError(f"{part.path} has {key} that are not numbers by name.")
    return {str(name): float(value) for name, value in values.items()}
