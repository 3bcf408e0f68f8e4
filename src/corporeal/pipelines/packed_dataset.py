"""Captures in one small file with a stated error, and back.

A frame is its pose and offsets in the rest pose, carried back by dual quaternions, which move every
vertex rigidly: an error there is as large as on the posed skin. Offsets are told by cause, those of
the static twin (`pose`) and what dynamics added (`dynamic`), each by transform coding
(`numerics.transform_coding`) of a sample of frames. Poses are rounded first, so that offsets make
up for that. Vertices that a code misses by more than the largest error are told one by one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from corporeal._typing import Float32, Int, NumpyArray
from corporeal.body.composition import Composition
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.pose import Pose
from corporeal.body.registrations import Registrations, Subject, Take, Truth, Twin
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.topology import topology_hash
from corporeal.body.weights import SkinWeights
from corporeal.errors import FormatError
from corporeal.formats.packed_registrations import (
    CODES,
    PackedCode,
    PackedRegistrations,
    read_packed,
)
from corporeal.numerics.transform_coding import Code, sums
from corporeal.skinning.dual_quaternion import DualQuaternionSkinning
from corporeal.skinning.geometric import move_points
from corporeal.skinning.unposing import unpose

POSE_STEP: Final = 1e-5
"""Radians and metres: accelerations at 60 frames a second are then off by 0.04 rad/s²."""
_FRAMES_AT_ONCE: Final = 64
_ABOUT_CODES = ("basis_step", "step", "far_step")


@dataclass(frozen=True)
class PackedError:
    """What packing lost, of the frames or shapes of one kind."""

    rms: float
    """Root mean square distance of vertices, metres."""
    percentile99: float
    """Mean over takes of the distance that one vertex in a hundred exceeds, metres."""
    largest: float
    """Of any vertex, metres."""


def rounded_poses(take: Take) -> Int[NumpyArray, "N q"]:
    """Root translation and joint rotations of every frame, in steps."""
    assert take.truth is not None
    count = take.frame_count
    way = np.asarray(take.truth.root_translation[0:count], np.float64)
    turns = np.asarray(take.truth.joint_rotations[0:count], np.float64).reshape(count, -1)
    return np.round(np.concatenate([way, turns], axis=1) / POSE_STEP).astype(np.int32)


def pose_of(steps: Int[NumpyArray, "N q"]) -> Pose:
    """The poses that steps stand for."""
    values = POSE_STEP * steps.astype(np.float64)
    turns = values[:, 3:].reshape(len(values), values.shape[1] // 3 - 1, 3)
    return Pose(turns.astype(np.float32), values[:, :3].astype(np.float32))


class Carrier:
    """Moves skin with its bones and back, by dual quaternions."""

    def __init__(self, template: Template) -> None:
        self._skinning = DualQuaternionSkinning(template)

    def to_rest(
        self, identity: Identity, pose: Pose, vertices: Float32[NumpyArray, "N V 3"]
    ) -> Float32[NumpyArray, "N d"]:
        """Offsets in the rest pose of posed vertices, one row a frame, metres."""
        found = unpose(self._skinning, identity, pose, vertices).rest_vertices
        return (np.asarray(found) - identity.rest_vertices).reshape(
            len(vertices), identity.rest_vertices.size
        )

    def posed(
        self, identity: Identity, pose: Pose, offsets: Float32[NumpyArray, "N d"]
    ) -> Float32[NumpyArray, "N V 3"]:
        """The way back."""
        rest = np.asarray(identity.rest_vertices)
        shapes = rest + offsets.reshape(len(offsets), *rest.shape)
        skins = np.empty(shapes.shape, np.float32)
        for first in range(0, len(offsets), _FRAMES_AT_ONCE):
            some = slice(first, first + _FRAMES_AT_ONCE)
            part = Pose(pose.joint_rotations[some], pose.root_translation[some])
            skins[some] = move_points(self._skinning.vertex_motions(identity, part), shapes[some])
        return skins


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows of one code: whole steps, and the vertices that are told one by one."""

    code: Code
    """Turns them into metres."""
    steps: Int[NumpyArray, "n c"]
    """Of every row."""
    far_rows: Int[NumpyArray, "m"]
    """Rows of single vertices, ascending."""
    far_vertices: Int[NumpyArray, "m"]
    """Which vertices."""
    far_steps: Int[NumpyArray, "m 3"]
    """What is added to them."""
    far_step: float
    """Metres."""

    def rows(self, chosen: slice) -> Float32[NumpyArray, "n d"]:
        """Some neighbouring rows, metres."""
        first, end, _ = chosen.indices(len(self.steps))
        found = self.code.decoded(self.steps[first:end])
        begin, stop = np.searchsorted(self.far_rows, (first, end))
        places = self.far_rows[begin:stop] - first, self.far_vertices[begin:stop]
        found.reshape(len(found), found.shape[1] // 3, 3)[places] += (
            self.far_step * self.far_steps[begin:stop]
        )
        return found


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Frames of a take that are unpacked when they are asked for."""

    carrier: Carrier
    """Poses them."""
    identity: Identity
    """Whose they are."""
    poses: Int[NumpyArray, "N q"]
    """In steps."""
    parts: tuple[tuple[CodedRows, int], ...]
    """What is added up, and where each begins in its code."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Frames × vertices × 3."""
        return (len(self.poses), *np.shape(self.identity.rest_vertices))

    def __getitem__(self, rows: slice, /) -> Float32[NumpyArray, "N V 3"]:
        chosen = range(len(self.poses))[rows]
        whole = slice(min(chosen, default=0), max(chosen, default=-1) + 1)
        offsets = sum(
            coded.rows(slice(first + whole.start, first + whole.stop))
            for coded, first in self.parts
        )
        skins = self.carrier.posed(self.identity, pose_of(self.poses[whole]), offsets)  # type: ignore[arg-type]
        return skins[:: rows.step or 1] if (rows.step or 1) > 0 else skins[:: rows.step]


def read_packed_dataset(path: Path) -> Registrations:
    """A packed set; frames are unpacked when they are asked for."""
    held = read_packed(path)
    try:
        return _registrations(held)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise FormatError(
            f"{path} does not say of its takes and subjects what it should ({error!r}). It is "
            f"damaged; make it again."
        ) from error


def _registrations(held: PackedRegistrations) -> Registrations:
    about, counts = held.about, [int(take["frames"]) for take in held.about["takes"]]
    coded = {name: _coded(held.codes[name], about, name, _lengths(about, name)) for name in CODES
             if name in held.codes}  # fmt: skip
    subjects = _subjects(held, coded["shape"].rows(slice(None)))
    carrier = Carrier(template_of(held))
    poses = _summed(held.poses, np.full(held.poses.shape[1], 2), counts)
    takes, frame, moving = [], 0, 0
    for take, count in zip(about["takes"], counts, strict=True):
        identity = subjects[take["subject"]].identity
        assert identity is not None
        some = poses[frame : frame + count]
        still = (coded["pose"], frame)
        twin = PackedRows(carrier, identity, some, (still,))
        rows = twin
        if take["twin"]:
            rows = PackedRows(carrier, identity, some, (still, (coded["dynamic"], moving)))
            moving += count
        pose = pose_of(some)
        truth = Truth(pose.joint_rotations, pose.root_translation, take["materials"])
        takes.append(
            Take(
                take["subject"], take["sequence"], float(take["fps"]), rows, truth, take["split"],
                take["notes"], Twin(twin) if take["twin"] else None,
            )
        )  # fmt: skip
        frame += count
    return Registrations(
        about["template"],
        held.triangles,
        len(held.skin_weights),
        tuple(takes),
        subjects,
        {**about["provenance"], "packed": about["errors"]},
    )


def template_of(held: PackedRegistrations) -> Template:
    """What carries the skin of a packed set: its own weights and tree."""
    count, joints = len(held.skin_weights), len(held.parents)
    weights = SkinWeights(held.skin_joints, held.skin_weights, joints)
    skeleton = Skeleton(
        tuple(f"joint {k}" for k in range(joints)),
        tuple(int(parent) for parent in held.parents),
        np.asarray(held.joints[0], np.float64),
    )
    mesh = Mesh(np.zeros((count, 3), np.float32), held.triangles)
    return Template(mesh, skeleton, weights, ("body",), np.zeros(count, np.int64))


def _subjects(held: PackedRegistrations, rest: Float32[NumpyArray, "S d"]) -> dict[str, Subject]:
    found = {}
    for n, subject in enumerate(held.about["subjects"]):
        given = {str(k): np.asarray(v, np.float64) for k, v in subject["parameters"].items()}
        identity = Identity(rest[n].reshape(-1, 3), held.joints[n].astype(np.float32), given)
        made_of = subject["composition"]
        composition = None if made_of is None else Composition(**made_of)
        found[subject["name"]] = Subject(
            subject["name"], identity, None, composition, subject["facts"]
        )
    return found


def _lengths(about: Mapping[str, Any], name: str) -> list[int]:
    """Rows of a code that belong together, one number a take."""
    if name == "shape":
        return [1] * len(about["subjects"])
    return [int(t["frames"]) for t in about["takes"] if name == "pose" or t["twin"]]


def _coded(
    packed: PackedCode, about: Mapping[str, Any], name: str, lengths: list[int]
) -> CodedRows:
    basis_step, step, far_step = (float(about["codes"][name][key]) for key in _ABOUT_CODES)
    if sum(lengths) != len(packed.steps):
        raise FormatError(f"{len(packed.steps)} rows of {name} came; takes have {sum(lengths)}.")
    code = Code(packed.mean.astype(np.float32), packed.basis, basis_step, packed.deviations, step)
    return CodedRows(
        code,
        _summed(packed.steps, packed.orders, lengths),
        packed.far_rows,
        packed.far_vertices,
        packed.far_steps,
        far_step,
    )


def _summed(
    steps: Int[NumpyArray, "n c"], orders: Int[NumpyArray, "c"], lengths: list[int]
) -> Int[NumpyArray, "n c"]:
    """Undo the differences of every take."""
    found = steps.copy()
    for some in _slices(lengths):
        for order in (1, 2):
            columns = np.flatnonzero(orders == order)
            found[some, columns] = sums(found[some, columns], order)
    return found


def _slices(lengths: list[int]) -> Iterator[slice]:
    first = 0
    for length in lengths:
        yield slice(first, first + length)
        first += length


def error_of(exact: Float32[NumpyArray, "n d"], packed: Float32[NumpyArray, "n d"]) -> PackedError:
    """How far packed rows are from exact ones."""
    off = np.linalg.norm((exact - packed).reshape(len(exact), -1, 3), axis=-1)
    rms = float(np.sqrt(np.mean(off**2)))
    return PackedError(rms, float(np.percentile(off, 99.0)), float(off.max(initial=0.0)))


def about_error(error: PackedError) -> dict[str, float]:
    """As JSON values, metres."""
    return {name: float(f"{value:.3g}") for name, value in asdict(error).items()}


__all__ = [
    "Carrier",
    "CodedRows",
    "PackedError",
    "PackedRows",
    "about_error",
    "error_of",
    "pose_of",
    "read_packed_dataset",
    "rounded_poses",
    "template_of",
    "topology_hash",
]
