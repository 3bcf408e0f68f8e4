"""C3D: places of optical markers over time, read by the package `ezc3d` (MIT).

================== ========================================================================
survives           labels, places of all markers in all frames, gaps, frame rate, unit
does not           force plates and other analogue channels, events
================== ========================================================================

Axes are the file's own; places come in metres. The header is looked at first: a file that declares
more frames than it has room for is refused before anything is read, and the package reads in a
process of its own (`apart`).
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.errors import FormatError
from corporeal.formats.apart import read_apart
from corporeal.runtime.extras import import_extra, require_extra
from corporeal.runtime.input_files import open_input, reading

MOST_BYTES = 500_000_000
"""Largest file that is read."""
_UNITS = {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "in": 0.0254}


@dataclass(frozen=True, eq=False)
class MarkerClip:
    """Labelled markers over time."""

    labels: tuple[str, ...]
    """One a marker, without the subject's name."""
    places: Float64[NumpyArray, "N M 3"]
    """Metres, in the file's axes; not a number where a marker was not seen."""
    fps: float
    """Frames a second."""


def read_c3d(path: str | Path) -> MarkerClip:
    """Read the markers of a C3D file."""
    path = Path(path)
    _check_header(path)
    require_extra("ezc3d", "markers", "reading C3D files")
    file = read_apart(path, "C3D", "corporeal.formats.c3d_points:read_points")
    points, labels = file["points"], [str(label) for label in file["labels"]]
    unit, fps = str(file["unit"]).strip().lower(), float(file["rate"])
    if unit not in _UNITS:
        raise FormatError(f"{path} has markers in {unit!r}; expected {', '.join(_UNITS)}.")
    places = np.moveaxis(points[:3], 0, 2).transpose(1, 0, 2) * _UNITS[unit]
    count = min(len(labels), places.shape[1])
    if count == 0 or len(places) == 0 or not (np.isfinite(fps) and fps > 0):
        raise FormatError(f"{path} holds no labelled markers over time.")
    places = places[:, :count].copy()
    places[np.all(places == 0.0, axis=2)] = np.nan  # what many programs write for a gap
    names = tuple(label.rpartition(":")[2].strip() for label in labels[:count])
    return MarkerClip(names, places, fps)


def write_c3d(path: str | Path, clip: MarkerClip) -> None:
    """Write markers, in millimetres; gaps stay gaps."""
    ezc3d = import_extra("ezc3d", "markers", "writing C3D files")
    content = ezc3d.c3d()
    content["parameters"]["POINT"]["RATE"]["value"] = [clip.fps]
    content["parameters"]["POINT"]["LABELS"]["value"] = list(clip.labels)
    content["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    points = np.ones((4, len(clip.labels), len(clip.places)))
    points[:3] = 1e3 * np.moveaxis(clip.places, 2, 0).transpose(0, 2, 1)
    content["data"]["points"] = points
    content.write(str(path))


def _check_header(path: Path) -> None:
    """Raise `FormatError` for what is no C3D file, or is cut short."""
    with open_input(path, at_most=MOST_BYTES) as file, reading(path):
        head = file.read(512)
        size = os.fstat(file.fileno()).st_size
    if len(head) < 512 or head[1] != 0x50:
        raise FormatError(f"{path} is no C3D file: its header is missing.")
    words = np.frombuffer(head, "<u2")
    markers, frames = int(words[1]), int(words[4]) - int(words[3]) + 1
    if markers * max(frames, 0) * 4 * 2 > size:
        raise FormatError(
            f"{path} declares {frames} frames of {markers} markers and has {size} bytes; it is "
            f"truncated."
        )
