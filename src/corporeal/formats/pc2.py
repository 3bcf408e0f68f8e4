"""PC2 point caches (`.pc2`): every vertex at every frame, beside a mesh of the same order.

================== ========================================================================
survives           vertex positions of every frame (float32), their order, the frame rate as
                   frames a second of the reader's own clock
does not           everything else: write the surface beside it, as OBJ for example
================== ========================================================================

Metres; axes are this package's (y up) unless `z_up` is asked for, which Blender's own scenes are.
"""

import os
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corporeal._typing import Float, Float32, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.errors import FormatError
from corporeal.runtime.files import atomic_write
from corporeal.runtime.input_files import open_input

_HEAD = struct.Struct("<12siiffi")
_MAGIC = b"POINTCACHE2\x00"
_VERSION = 1


@dataclass(frozen=True)
class PointCache:
    """What a file holds."""

    vertices: Float32[NumpyArray, "N V 3"]
    """Metres, y up."""
    start_frame: float
    """Number of the first sample's frame on the host program's timeline."""
    frames_a_sample: float
    """Frames between two samples."""


def write_pc2(
    path: str | Path,
    vertices: Float[NumpyArray, "N V 3"],
    *,
    start_frame: float = 0.0,
    z_up: bool = False,
) -> None:
    """Write a moving surface (metres, y up), one sample a frame from `start_frame` on."""
    require_finite("point cache vertices", vertices)
    frame_count, vertex_count, _ = vertices.shape
    head = _HEAD.pack(_MAGIC, _VERSION, vertex_count, start_frame, 1.0, frame_count)
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        file.write(head)
        for frame in vertices:  # one at a time: a take can be larger than the memory left
            file.write(_turned(frame, z_up).astype("<f4").tobytes())


def read_pc2(path: str | Path, *, z_up: bool = False) -> PointCache:
    """Read a file; `z_up` says that it was written for a scene whose z axis points up."""
    path = Path(path)
    with open_input(path) as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(_HEAD.size)
        if len(head) < _HEAD.size or not head.startswith(_MAGIC):
            raise FormatError(f"{path} does not start as a PC2 file ({size} bytes).")
        _, version, vertex_count, start, rate, frame_count = _HEAD.unpack(head)
        _require_room(path, version, vertex_count, frame_count, size)
        data = np.fromfile(file, "<f4", 3 * vertex_count * frame_count)
    if not (np.isfinite(data).all() and np.isfinite([start, rate]).all()):
        raise FormatError(f"{path} holds numbers that are not finite. The file is damaged.")
    samples = data.astype(np.float32).reshape(frame_count, vertex_count, 3)
    return PointCache(_turned_back(samples, z_up), start, rate)


def _require_room(path: Path, version: int, vertices: int, frames: int, size: int) -> None:
    if version != _VERSION:
        raise FormatError(f"{path} is PC2 version {version}; expected {_VERSION}.")
    needed = _HEAD.size + 12 * vertices * frames
    if vertices < 0 or frames < 0 or needed != size:
        raise FormatError(
            f"{path} states {frames} frames of {vertices} vertices, {needed} bytes, and has "
            f"{size}. It is truncated or damaged."
        )


def _turned(vertices: NumpyArray, z_up: bool) -> NumpyArray:
    """(x, y, z) → (x, −z, y): the one conversion of axes."""
    return vertices[..., [0, 2, 1]] * [1, -1, 1] if z_up else vertices


def _turned_back(vertices: NumpyArray, z_up: bool) -> NumpyArray:
    """(x, y, z) → (x, z, −y), the way back."""
    return vertices[..., [0, 2, 1]] * np.array([1, 1, -1], np.float32) if z_up else vertices
