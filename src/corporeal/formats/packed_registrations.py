"""Registrations in one small file with a stated error (`.packed.npz`).

Plain arrays by name, packed by LZMA; `pipelines.packed_dataset` says what they mean. Whole numbers
are kept as planes of bytes: zigzag (0, −1, 1, −2 … as 0, 1, 2, 3 …), columns one after the other,
all lowest bytes first. So numbers that are small take little, whatever their type.

=================== ==============================================================================
`format`, `about`   kind and version of the file; JSON (UTF-8) of takes, subjects, errors
`triangles`         F × 3 int32
`parents`           J int32 of the skeleton that poses
`skin_joints`       V × K int32, `skin_weights` V × K float32: dual quaternions carry the skin
`joints`            S × J × 3 float32 of the subjects, metres
`poses`             planes of N × (3 + 3 J): root translation and joint rotations, in steps
`…_mean`, `…_basis` of the codes `shape`, `pose`, `dynamic`; mean d float32, basis planes of d × c
`…_deviations`      c float32
`…_steps`           planes of n × c, differences along a take where that is smaller (`…_orders` c)
`…_far_rows`        m int32, `…_far_vertices` m int32, `…_far_steps` planes of m × 3: single
                    vertices that the code misses by more than the largest error
=================== ==============================================================================
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Int, NumpyArray, UInt8
from corporeal.errors import FormatError
from corporeal.formats.npz import NpzReader, open_npz, write_npz

SUFFIX = ".packed.npz"
KIND = "corporeal-packed-registrations 1"
_MOST_BYTES = 8 * 1024**3
_PLANES = 4
CODES = ("shape", "pose", "dynamic")


@dataclass(frozen=True, eq=False)
class PackedCode:
    """One code with what it coded."""

    mean: NumpyArray
    """d float32, metres."""
    basis: NumpyArray
    """c × d int16."""
    deviations: NumpyArray
    """c float32, metres."""
    steps: NumpyArray
    """n × c int32, differences where `orders` says so."""
    orders: NumpyArray
    """c: how often the differences of a column were taken along a take."""
    far_rows: NumpyArray
    """m: rows of single vertices that are told apart."""
    far_vertices: NumpyArray
    """m: which vertices."""
    far_steps: NumpyArray
    """m × 3: what is added to them, in steps."""


@dataclass(frozen=True, eq=False)
class PackedRegistrations:
    """All arrays of a file."""

    about: Mapping[str, Any]
    """Takes, subjects, errors, provenance; JSON values."""
    triangles: NumpyArray
    """F × 3."""
    parents: NumpyArray
    """J."""
    skin_joints: NumpyArray
    """V × K."""
    skin_weights: NumpyArray
    """V × K."""
    joints: NumpyArray
    """S × J × 3, metres."""
    poses: NumpyArray
    """N × (3 + 3 J) int32, steps; differences along takes."""
    codes: Mapping[str, PackedCode]
    """By the names of `CODES`."""


def is_packed(path: Path) -> bool:
    """Whether a file is called as packed registrations are."""
    return path.name.lower().endswith(SUFFIX)


def write_packed(path: Path, held: PackedRegistrations) -> None:
    """Write a file, wholly or not at all."""
    about = np.frombuffer(json.dumps(held.about).encode(), np.uint8)
    arrays: dict[str, NumpyArray] = {"format": np.array(KIND), "about": about}
    arrays |= {
        "triangles": held.triangles.astype(np.int32),
        "parents": held.parents.astype(np.int32),
        "skin_joints": held.skin_joints.astype(np.int32),
        "skin_weights": held.skin_weights.astype(np.float32),
        "joints": held.joints.astype(np.float32),
        "poses": planes_of(held.poses),
    }
    for name, code in held.codes.items():
        arrays |= {
            f"{name}_mean": code.mean.astype(np.float32),
            f"{name}_basis": planes_of(code.basis.T),
            f"{name}_deviations": code.deviations.astype(np.float32),
            f"{name}_orders": code.orders.astype(np.int32),
            f"{name}_steps": planes_of(code.steps),
            f"{name}_far_rows": np.diff(code.far_rows, prepend=0).astype(np.int32),
            f"{name}_far_vertices": code.far_vertices.astype(np.int32),
            f"{name}_far_steps": planes_of(code.far_steps),
        }
    write_npz(path, arrays, tight=True)


def read_packed(path: Path) -> PackedRegistrations:
    """Read a file; its arrays are checked against each other."""
    with open_npz(path, tight=True, max_bytes=_MOST_BYTES) as file:
        if "format" not in file.headers or file.text("format") != KIND:
            raise FormatError(f"{path} holds no packed registrations ({KIND}).")
        try:
            about = json.loads(file.array("about", "i", ("b",)).astype(np.uint8).tobytes())
        except ValueError as error:
            raise FormatError(f"{path} does not say what it holds ({error}).") from error
        if not isinstance(about, dict):
            raise FormatError(f"{path} does not say what it holds.")
        weights = file.array("skin_weights", "f", ("V", "K"))
        triangles = file.array("triangles", "i", ("F", 3)).astype(np.int64)
        parents = file.array("parents", "i", ("J",)).astype(np.int64)
        skin_joints = file.array("skin_joints", "i", ("V", "K")).astype(np.int64)
        for what, indices, count in (
            ("triangles", triangles, len(weights)),
            ("skin_joints", skin_joints, len(parents)),
        ):
            if indices.size and not 0 <= indices.min() <= indices.max() < count:
                raise FormatError(f"{path}: {what} point outside of 0 to {count - 1}.")
        joints = file.array("joints", "f", ("S", "J", 3))
        poses = _numbers(file, "poses", 3 + 3 * len(parents))
        names = [name for name in CODES if f"{name}_mean" in file.headers]
        codes = {name: _code(file, name, len(weights)) for name in names}
        return PackedRegistrations(
            about, triangles, parents, skin_joints, weights, joints, poses, codes
        )


def planes_of(numbers: Int[NumpyArray, "n c"]) -> UInt8[NumpyArray, "b c n"]:
    """Whole numbers of 32 bits as planes of bytes, as many as are used."""
    whole = np.asarray(numbers, np.int32)
    zigzag = ((whole << 1) ^ (whole >> 31)).astype(np.uint32).T
    planes = [(zigzag >> (8 * k)).astype(np.uint8) for k in range(_PLANES)]
    while len(planes) > 1 and not planes[-1].any():
        planes.pop()
    return np.stack(planes)


def numbers_of(planes: UInt8[NumpyArray, "b c n"]) -> Int[NumpyArray, "n c"]:
    """The way back from `planes_of`."""
    zigzag = np.zeros(planes.shape[1:], np.uint32)
    for k, plane in enumerate(planes):
        zigzag |= plane.astype(np.uint32) << np.uint32(8 * k)
    whole = (zigzag >> np.uint32(1)).astype(np.int32) ^ -(zigzag & np.uint32(1)).astype(np.int32)
    return np.ascontiguousarray(whole.T)


def _numbers(file: NpzReader, name: str, columns: int | str) -> Int[NumpyArray, "n c"]:
    planes = file.array(name, "i", (f"planes of {name}", columns, f"rows of {name}"))
    if planes.dtype != np.uint8 or not 1 <= len(planes) <= _PLANES:
        raise FormatError(f"{file.path}: {name} has {len(planes)} planes of {planes.dtype}.")
    return numbers_of(planes)


def _code(file: NpzReader, name: str, vertex_count: int) -> PackedCode:
    mean = file.array(f"{name}_mean", "f", (3 * vertex_count,))
    deviations = file.array(f"{name}_deviations", "f", (f"c of {name}",))
    count = len(deviations)
    rows = np.cumsum(file.array(f"{name}_far_rows", "i", (f"m of {name}",)).astype(np.int64))
    code = PackedCode(
        mean,
        np.ascontiguousarray(_basis(file, name, count, vertex_count)),
        deviations,
        _numbers(file, f"{name}_steps", count),
        file.array(f"{name}_orders", "i", (f"c of {name}",)),
        rows,
        file.array(f"{name}_far_vertices", "i", (f"m of {name}",)).astype(np.int64),
        _numbers(file, f"{name}_far_steps", 3),
    )
    inside = len(code.far_steps) == len(rows)
    for indices, most in ((rows, len(code.steps)), (code.far_vertices, vertex_count)):
        inside &= not indices.size or bool(0 <= indices.min() <= indices.max() < most)
    if not inside or (count and not 0 <= code.orders.min() <= code.orders.max() <= 2):
        raise FormatError(f"{file.path}: single vertices of {name} point outside of the set.")
    if (deviations <= 0).any():
        raise FormatError(f"{file.path}: deviations of {name} are not above 0.")
    return code


def _basis(file: NpzReader, name: str, count: int, vertex_count: int) -> NumpyArray:
    planes = file.array(f"{name}_basis", "i", (f"planes of {name}_basis", count, 3 * vertex_count))
    if planes.dtype != np.uint8 or not 1 <= len(planes) <= _PLANES:
        raise FormatError(f"{file.path}: {name}_basis is no stack of planes of bytes.")
    return numbers_of(planes).T.astype(np.int16)
