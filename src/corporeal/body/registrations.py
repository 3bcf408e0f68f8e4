"""Registered recordings: many frames of one topology, with who, what and when.

A set may be larger than the memory: a take's vertices are anything that gives rows when asked, an
array or an open file, and `Registrations.blocks` walks through all frames a few at a time.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from corporeal._typing import Float, Float32, Int, NumpyArray
from corporeal.body.checks import require_indices
from corporeal.body.composition import Composition
from corporeal.body.health_record import HealthRecord
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.topology import topology_hash
from corporeal.errors import InputError

Split = Literal["train", "test", ""]
"""Which half of an experiment a take belongs to; empty where nobody has said."""


@runtime_checkable
class Rows(Protocol):
    """An array, or one on the disk: `rows[10:20]` gives the rows themselves."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of every axis; the first counts the rows."""
        ...

    def __getitem__(self, rows: slice, /) -> Any: ...


@dataclass(frozen=True, eq=False)
class Truth:
    """What made a take, where that is known."""

    joint_rotations: Rows
    """N × J × 3: parent-relative axis-angle vectors, radians."""
    root_translation: Rows
    """N × 3, metres; see `Pose`."""
    materials: Mapping[str, float] = field(default_factory=dict)
    """What the deformer was told, by the names of its controls; SI units."""


@dataclass(frozen=True, eq=False)
class Subject:
    """Whose body it is; fields are None where the truth is not known."""

    name: str
    """Unique within a set."""
    identity: Identity | None = None
    """The body in the zero pose."""
    layers: Layers | None = None
    """Skin, muscle and bone surfaces in the zero pose."""
    composition: Composition | None = None
    """Fat and muscle mass, kg."""
    facts: Mapping[str, float | str] = field(default_factory=dict)
    """Sex, age (years), and measurements by name, SI units."""


@dataclass(frozen=True, eq=False)
class Subjects(Mapping[str, Subject]):
    """Subjects by name, read when they are asked for: thousands need no memory."""

    names: tuple[str, ...]
    """Unique names, in order."""
    read: Callable[[str], Subject]
    """Gives the subject of a name, from the disk or from memory."""

    def __getitem__(self, name: str) -> Subject:
        if name not in self.names:
            raise KeyError(name)
        return self.read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, eq=False)
class Twin:
    """The same poses in static balance: what a take would be if its flesh had no momentum.

    Take less twin, vertex by vertex, is what dynamics did.
    """

    vertices: Rows
    """N × V × 3 float32, metres."""
    health: HealthRecord | None = None
    """Of the twin's flesh; None where it was not measured."""


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A take that was recorded, found unsound and not kept."""

    subject: str
    """Name of the subject."""
    sequence: str
    """Name of what the subject did."""
    reasons: tuple[str, ...]
    """What was wrong with the last attempt, in words."""
    attempts: int
    """How often it was recorded, each time in smaller steps."""


@dataclass(frozen=True, eq=False)
class Take:
    """One recording of one subject."""

    subject: str
    """Name of the subject."""
    sequence: str
    """Name of what the subject does, unique for each subject."""
    fps: float
    """Frames a second; 0 for poses that are not a movement."""
    vertices: Rows
    """N × V × 3 float32, metres."""
    truth: Truth | None = None
    """Pose, shape and tissue of every frame where they are known; None for real scans."""
    split: Split = ""
    """`train` or `test`; empty where the set is not split."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Seeds, what was found wrong; JSON values."""
    twin: Twin | None = None
    """The quasi-static twin of a movement; None for poses, and where none was made."""
    health: HealthRecord | None = None
    """How sound the flesh was in every frame; None where it is not known."""

    def __post_init__(self) -> None:
        shape = tuple(self.vertices.shape)
        if len(shape) != 3 or shape[2] != 3 or shape[0] == 0:
            raise InputError(
                f"take {self.subject} {self.sequence} has vertices of shape {shape}; expected "
                f"frames × vertices × 3, and at least one frame."
            )
        if not (np.isfinite(self.fps) and self.fps >= 0):
            raise InputError(
                f"take {self.subject} {self.sequence} has {self.fps} frames a second; expected a "
                f"number of at least 0."
            )

        self._require_beside()

    def _require_beside(self) -> None:
        """Refuse a twin or a health record of other frames."""
        shape, name = tuple(self.vertices.shape), f"{self.subject} {self.sequence}"
        if self.twin is not None and tuple(self.twin.vertices.shape) != shape:
            raise InputError(
                f"take {name} has vertices of shape {shape} and a twin of shape "
                f"{tuple(self.twin.vertices.shape)}; expected the same."
            )
        for record in (self.health, None if self.twin is None else self.twin.health):
            if record is not None and record.frame_count != shape[0]:
                raise InputError(
                    f"take {name} has {shape[0]} frames and a health record of "
                    f"{record.frame_count}; expected one row a frame."
                )

    @property
    def frame_count(self) -> int:
        """Number N of frames."""
        return self.vertices.shape[0]


@dataclass(frozen=True, eq=False)
class FrameBlock:
    """Neighbouring frames of one take."""

    take: Take
    """The take they belong to."""
    first: int
    """Number of the first frame in its take."""
    vertices: Float32[NumpyArray, "N V 3"]
    """Metres."""


@dataclass(frozen=True, eq=False)
class Registrations:
    """Many meshes of one topology."""

    template: str
    """Name of the topology, such as `corporeal-13380`."""
    triangles: Int[NumpyArray, "F 3"]
    """Corner indices, common to all frames."""
    vertex_count: int
    """Number V of vertices of every frame."""
    takes: tuple[Take, ...]
    """All recordings, each once."""
    subjects: Mapping[str, Subject] = field(default_factory=dict)
    """Who is recorded, by name."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """What made the set; JSON values."""

    def __post_init__(self) -> None:
        require_indices("registration triangles", self.triangles, self.vertex_count)
        for take in self.takes:
            require_topology(f"take {take.subject} {take.sequence}", take, self.vertex_count)

    @property
    def topology_hash(self) -> str:
        """SHA-256 of triangles and vertex count, in hexadecimal."""
        return topology_hash(self.triangles, self.vertex_count)

    @property
    def frame_count(self) -> int:
        """Number of frames of all takes together."""
        return sum(take.frame_count for take in self.takes)

    def where(self, wanted: Callable[[Take], bool]) -> "Registrations":
        """The takes that are wanted, with their subjects."""
        takes = tuple(take for take in self.takes if wanted(take))
        names = {take.subject for take in takes}
        known = tuple(name for name in self.subjects if name in names)
        return replace(self, takes=takes, subjects=Subjects(known, self.subjects.__getitem__))

    def blocks(self, most_frames: int = 64) -> Iterator[FrameBlock]:
        """All frames, at most so many at a time: memory is bounded by one block."""
        if most_frames < 1:
            raise InputError(f"blocks of {most_frames} frames were asked for; expected at least 1.")
        for take in self.takes:
            for first in range(0, take.frame_count, most_frames):
                rows = take.vertices[first : first + most_frames]
                yield FrameBlock(take, first, np.asarray(rows, np.float32))

    def vertices(self, most_bytes: int = 2 * 1024**3) -> Float[NumpyArray, "N V 3"]:
        """All frames in one array, metres; refused if it would take more than `most_bytes`."""
        needed = self.frame_count * self.vertex_count * 12
        if needed > most_bytes:
            raise InputError(
                f"{self.frame_count} frames take {needed} bytes; expected at most {most_bytes}. "
                f"Walk through them with blocks(), or choose fewer with where()."
            )
        return np.concatenate([block.vertices for block in self.blocks()])


def require_topology(what: str, take: Take, vertex_count: int) -> None:
    """Raise `InputError` for a take whose frames have another number of vertices."""
    if take.vertices.shape[1] != vertex_count:
        raise InputError(
            f"{what} has {take.vertices.shape[1]} vertices a frame; the set's topology has "
            f"{vertex_count}. Registrations of one set share one topology: keep the others in a "
            f"set of their own."
        )
