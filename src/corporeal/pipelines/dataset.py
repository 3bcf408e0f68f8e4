"""Sets of registrations: what they hold, other formats in and out."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import corporeal
from corporeal.assets.default_body import load_default_body
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.motion import Motion
from corporeal.body.registrations import Registrations, Take
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.topology import topology_hash
from corporeal.body.weights import SkinWeights
from corporeal.errors import FormatError, InputError
from corporeal.formats.hdf5 import lost_in_hdf5, read_dfaust, write_dfaust
from corporeal.formats.npz import write_npz
from corporeal.formats.packed_registrations import is_packed
from corporeal.formats.ply_folder import read_ply_folder, write_ply_folder
from corporeal.formats.registrations import RegistrationsStore
from corporeal.pipelines.packed_dataset import read_packed_dataset
from corporeal.runtime.files import require_writable
from corporeal.runtime.names import repeated
from corporeal.runtime.progress import progress
from corporeal.skinning.kinematics import forward_kinematics

_HDF5 = (".hdf5", ".h5")
_PICTURES = (".png", ".mp4")
_MOST_FILMED = 6
"""Takes beside each other in a film."""


@dataclass(frozen=True)
class Choice:
    """Which takes; empty means all."""

    subjects: tuple[str, ...] = ()
    """Names of people."""
    sequences: tuple[str, ...] = ()
    """Names of sequences."""
    split: str = ""
    """`train` or `test`."""

    def of(self, registrations: Registrations) -> Registrations:
        """The chosen takes; refused if there are none."""
        chosen = registrations.where(
            lambda take: (
                (not self.subjects or take.subject in self.subjects)
                and (not self.sequences or take.sequence in self.sequences)
                and (not self.split or take.split == self.split)
            )
        )
        if not chosen.takes:
            asked = (*self.subjects, *self.sequences, *([self.split] if self.split else []))
            raise InputError(
                f"no take is of {' and '.join(asked) or 'anybody'}; the "
                f"set has subjects {_some({t.subject for t in registrations.takes})} and sequences "
                f"{_some({t.sequence for t in registrations.takes})}."
            )
        return chosen


@dataclass(frozen=True)
class DatasetFacts:
    """What a set holds."""

    template: str
    """Name of the topology."""
    topology_hash: str
    """SHA-256 of vertex count and triangles, in hexadecimal."""
    vertices: int
    """Vertices of every frame."""
    subjects: int
    """Number of people."""
    takes: int
    """Number of recordings."""
    frames: int
    """Number of frames of all recordings."""
    seconds: float
    """Of all movements together."""
    sequences: dict[str, int]
    """Frames by sequence."""
    splits: dict[str, int]
    """Frames by split."""
    finished: bool | None
    """Whether the run that wrote it came to its end; None for formats that cannot say."""
    provenance: dict[str, Any] = field(default_factory=dict)
    """What made the set; JSON values."""


def is_store(path: Path) -> bool:
    """Whether a set lies in a Zarr store."""
    return (path / "zarr.json").is_file()


def read_dataset(path: Path, template: str = "") -> Registrations:
    """A set in any format that holds one; vertices are read when they are asked for."""
    if path.suffix.lower() in _HDF5:
        return read_dfaust(path, template)
    if is_packed(path):
        return read_packed_dataset(path)
    if is_store(path):
        return RegistrationsStore.open(path).read()
    if path.is_dir():
        return read_ply_folder(path, template)
    raise InputError(
        f"{path} is no set of registrations; expected a Zarr store, a packed one "
        f"(.packed.npz), an .hdf5 file in DFAUST's layout, or a folder of .ply files."
    )


def dataset_facts(path: Path) -> DatasetFacts:
    """Tell about a set without reading its vertices."""
    held = read_dataset(path)
    sequences: dict[str, int] = {}
    splits: dict[str, int] = {}
    for take in held.takes:
        sequences[take.sequence] = sequences.get(take.sequence, 0) + take.frame_count
        splits[take.split or "none"] = splits.get(take.split or "none", 0) + take.frame_count
    return DatasetFacts(
        template=held.template,
        topology_hash=held.topology_hash,
        vertices=held.vertex_count,
        subjects=len({take.subject for take in held.takes}),
        takes=len(held.takes),
        frames=held.frame_count,
        seconds=sum(take.frame_count / take.fps for take in held.takes if take.fps),
        sequences=dict(sorted(sequences.items())),
        splits=dict(sorted(splits.items())),
        finished=RegistrationsStore.open(path).store.is_finished if is_store(path) else None,
        provenance=dict(held.provenance),
    )


@dataclass(frozen=True, kw_only=True)
class ImportConfig:
    """Files of other formats into one store."""

    inputs: tuple[Path, ...]
    """Files and folders to read."""
    out: Path
    """Store to write (.zarr)."""
    template: str = ""
    """Name of the topology; by default after its number of vertices."""
    like: Path | None = None
    """A set whose topology the inputs must have."""


def import_dataset(config: ImportConfig) -> int:
    """Write all takes of the inputs into one store; gives their number. May be taken up again."""
    sets = [read_dataset(path, config.template) for path in config.inputs]
    if not sets:
        raise InputError("nothing to import came; expected .hdf5 files or folders of .ply files.")
    first = sets[0]
    wanted = first if config.like is None else read_dataset(config.like)
    for path, found in zip(config.inputs, sets, strict=True):
        _require_same_topology(path, found, wanted)
    run = {"verb": "dataset import", "inputs": [path.name for path in config.inputs]}
    store = RegistrationsStore.create(
        config.out,
        config.template or wanted.template,
        first.triangles,
        first.vertex_count,
        run,
        {"corporeal": corporeal.__version__, "sources": [dict(s.provenance) for s in sets]},
    )
    count = _copy_into(store, sets)
    store.store.finish({"takes": count})
    return count


def export_dataset(path: Path, out: Path, choice: Choice) -> list[str]:
    """Write chosen takes in the format that `out`'s suffix names; gives what was lost, in words."""
    lost = write_dataset(out, choice.of(read_dataset(path)))
    scanned = is_store(path) and RegistrationsStore.open(path).has_scans()
    return [*lost, "raw scans"] if out.suffix.lower() == ".zarr" and scanned else lost


def write_dataset(out: Path, chosen: Registrations) -> list[str]:
    """Write a set in the format that `out`'s suffix names; gives what was lost, in words."""
    suffix = out.suffix.lower()
    if suffix in _HDF5:
        require_writable(out)
        write_dfaust(out, chosen)
        return lost_in_hdf5(chosen)
    if suffix == ".zarr":
        run = {
            "verb": "dataset export",
            "takes": [f"{t.subject} {t.sequence}" for t in chosen.takes],
        }
        store = RegistrationsStore.create(
            out, chosen.template, chosen.triangles, chosen.vertex_count, run, chosen.provenance
        )
        _copy_into(store, [chosen])
        store.store.finish()
        return []
    if suffix == ".npz":
        require_writable(out)
        _write_npz(out, chosen)
        return ["what is known of the subjects"] if chosen.subjects else []
    if suffix in _PICTURES:
        require_writable(out)
        _show(out, chosen)
        return ["everything but the look"]
    if suffix == "":
        write_ply_folder(out, chosen)
        return ["frame rates, truth and subjects"]
    raise InputError(
        f"cannot export a set as {out}; expected .hdf5, .npz, .zarr, .png, .mp4, or a folder."
    )


def animation_of(registrations: Registrations, take: Take) -> Animation:
    """A take as an animation, for pictures: with its pose where that is known."""
    frames = take.frame_count
    vertices = np.concatenate(
        [np.asarray(take.vertices[k : k + 64], np.float32) for k in range(0, frames, 64)]
    )
    template = _template_of(registrations, vertices[0])
    subject = registrations.subjects.get(take.subject)
    known = take.truth is not None and subject is not None and subject.identity is not None
    fps = take.fps or 1.0
    if known and take.truth is not None and subject is not None and subject.identity is not None:
        identity = subject.identity
        rotations = np.asarray(take.truth.joint_rotations[0:frames], np.float64)
        way = np.asarray(take.truth.root_translation[0:frames], np.float64)
    else:
        identity = Identity(vertices[0], np.asarray(template.skeleton.joints), {})
        rotations = np.zeros((frames, template.skeleton.joint_count, 3))
        way = vertices.mean(axis=1).astype(np.float64) * [1.0, 0.0, 1.0]
    motion = Motion(take.sequence, fps, rotations, way, template.skeleton)
    world = forward_kinematics(
        rotations, np.asarray(identity.joints, np.float64), template.skeleton.parents, way
    )
    return Animation("registered", template, identity, motion, vertices, world)


def _template_of(registrations: Registrations, vertices: Any) -> Template:
    """The default body's template where the topology is its own, else one with a single joint."""
    own = load_default_body().template
    if registrations.topology_hash == topology_hash(own.mesh.triangles, own.mesh.vertex_count):
        return own
    count = registrations.vertex_count
    weights = SkinWeights.from_dense(np.ones((count, 1)), 1)
    skeleton = Skeleton(("root",), (-1,), np.zeros((1, 3)))
    mesh = Mesh(vertices, registrations.triangles)
    return Template(mesh, skeleton, weights, ("body",), np.zeros(count, np.int64))


def _show(out: Path, chosen: Registrations) -> None:
    """A contact sheet or a film of the first takes, as many as it has room for."""
    from corporeal.scene.film import film
    from corporeal.scene.sheet import MOST_ROWS, contact_sheet

    sheet = out.suffix.lower() == ".png"
    takes = chosen.takes[: MOST_ROWS if sheet else _MOST_FILMED]
    animations = [animation_of(chosen, take) for take in takes]
    labels = [f"{take.subject} {take.sequence}" for take in takes]
    if sheet:
        longest = max(take.frame_count for take in takes)
        contact_sheet(animations, out, frames=min(9, longest), labels=labels)
    else:
        film(animations, out, labels=labels, width=1280, height=480)


def _write_npz(out: Path, chosen: Registrations) -> None:
    arrays = {"triangles": chosen.triangles.astype(np.int32)}
    held = chosen.frame_count * chosen.vertex_count * 12
    if held > 4 * 1024**3:
        raise InputError(
            f"{chosen.frame_count} frames take {held} bytes in one .npz; expected at most 4 GiB. "
            f"Choose fewer, or export .hdf5 or .zarr."
        )
    for take in chosen.takes:
        one = replace(chosen, takes=(take,))
        arrays[f"{take.subject}__{take.sequence}"] = one.vertices(4 * 1024**3)
    write_npz(out, arrays)


def _copy_into(store: RegistrationsStore, sets: list[Registrations]) -> int:
    takes = [(held, take) for held in sets for take in held.takes]
    names = [(take.subject, take.sequence) for _, take in takes]
    if twice := repeated(names):
        raise InputError(f"take {' '.join(twice[0])} came twice; import the files separately.")
    with progress("copying", len(takes), "take") as step:
        for held, take in takes:
            subject = held.subjects.get(take.subject)
            if subject is not None:
                store.write_subject(subject)
            plain = replace(take, subject=_plain(take.subject), sequence=_plain(take.sequence))
            if not store.has_take(plain.subject, plain.sequence):
                store.write_take(plain)
            step(1)
    return len(takes)


def _plain(name: str) -> str:
    """A name that a part of a store may have."""
    return re.sub(r"[^A-Za-z0-9_.\-]", "_", name)[:45]


def _require_same_topology(path: Path, found: Registrations, wanted: Registrations) -> None:
    if found.topology_hash == wanted.topology_hash:
        return
    counts = f"{found.vertex_count} vertices and {len(found.triangles)} triangles"
    if found.triangles.shape == wanted.triangles.shape:
        other = int((found.triangles != wanted.triangles).any(axis=1).sum())
        counts = f"{counts}, {other} of them other ones" if other else counts
    raise FormatError(
        f"{path} has the wrong topology: {counts} ({found.template}); expected "
        f"{wanted.vertex_count} and {len(wanted.triangles)}, joined as in {wanted.template}. "
        f"Register its frames to that template first."
    )


def _some(names: set[str]) -> str:
    shown = sorted(names)[:8]
    return ", ".join(shown) + (", …" if len(names) > len(shown) else "")
