"""Raw scans in a store of registrations: parts of some frames each, beside the truth.

============== =====================================================================
`starts`       N + 1: where each frame's points begin in the arrays below
`points`       P × 3 float32, metres, all frames one after the other
`confidence`   P float32, from 0 to 1
`cameras`      P uint8: which camera pair
`landmarks`    N × L × 3 float32, metres; their names are in the attributes
`frames`       N: which frames of the take were scanned
============== =====================================================================

One scan alone is an `.npz` file of the format `corporeal-scan` with `points`, `confidence`,
`cameras`, `landmarks` and `landmark_names`, as above. Everything survives the round trip.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.body.scan import Scan
from corporeal.errors import FormatError, InputError
from corporeal.formats.native import head_arrays, require_format
from corporeal.formats.npz import open_npz, write_npz
from corporeal.formats.registrations import SCANS, RegistrationsStore, take_name
from corporeal.formats.zarr_groups import GroupReader

GROUP = 32
"""Frames in a part."""
SCAN = "corporeal-scan"
"""Format of a file that holds one scan."""


def write_scans(
    store: RegistrationsStore,
    subject: str,
    sequence: str,
    frames: Sequence[int],
    scans: Sequence[Scan],
    settings: Mapping[str, Any],
) -> None:
    """Write the scans of up to `GROUP` frames of a take, wholly or not at all."""
    if not 0 < len(frames) == len(scans) <= GROUP:
        raise InputError(
            f"{len(scans)} scans of {len(frames)} frames came for one part; expected 1 to {GROUP}, "
            f"as many of each."
        )
    names = scans[0].landmark_names
    with store.store.writing(SCANS, _part_name(subject, sequence, frames[0])) as part:
        part.attributes = {"settings": dict(settings), "landmark_names": list(names)}
        part.add("frames", np.asarray(frames, np.int64))
        part.add("starts", np.cumsum([0, *(len(scan.points) for scan in scans)]))
        part.add("points", np.concatenate([scan.points for scan in scans]).astype(np.float32))
        part.add("confidence", np.concatenate([s.confidence for s in scans]).astype(np.float32))
        part.add("cameras", np.concatenate([scan.cameras for scan in scans]).astype(np.uint8))
        part.add("landmarks", np.stack([scan.landmarks for scan in scans]).astype(np.float32))


def read_scans(
    store: RegistrationsStore, subject: str, sequence: str
) -> Iterator[tuple[int, Scan]]:
    """Frame numbers of a take and their scans, one at a time."""
    prefix = f"{take_name(subject, sequence)}__"
    for name in store.store.parts(SCANS):
        if name.startswith(prefix) and name[len(prefix) :].isdigit():
            yield from _scans_of(store.store.part(SCANS, name))


def write_scan(path: str | Path, scan: Scan) -> None:
    """Write one scan as an `.npz` file."""
    arrays = head_arrays(SCAN) | {
        "points": np.asarray(scan.points),
        "confidence": np.asarray(scan.confidence),
        "cameras": np.asarray(scan.cameras),
        "landmarks": np.asarray(scan.landmarks),
        "landmark_names": np.asarray(scan.landmark_names, np.str_),
    }
    write_npz(path, arrays)


def read_scan(path: str | Path) -> Scan:
    """Read one scan from an `.npz` file."""
    with open_npz(path) as file:
        require_format(file, SCAN)
        return Scan(
            file.array("points", "f", ("P", 3)),
            file.array("confidence", "f", ("P",)),
            file.array("cameras", "i", ("P",)),
            file.array("landmarks", "f", ("L", 3)),
            tuple(str(name) for name in file.array("landmark_names", "U", ("L",))),
        )


def _scans_of(part: GroupReader) -> Iterator[tuple[int, Scan]]:
    frames = part.array("frames", "i", (None,))
    starts = part.array("starts", "i", (len(frames) + 1,))
    names = part.attributes.get("landmark_names", [])
    if np.any(np.diff(starts) < 0) or starts[0] != 0 or not isinstance(names, list):
        raise FormatError(f"{part.path} has frames that do not follow each other; it is damaged.")
    total = int(starts[-1])
    points = part.rows("points", "f", (total, 3))
    confidence = part.rows("confidence", "f", (total,))
    cameras = part.rows("cameras", "i", (total,))
    landmarks = part.rows("landmarks", "f", (len(frames), len(names), 3))
    for number, frame in enumerate(frames):
        rows = slice(int(starts[number]), int(starts[number + 1]))
        yield (
            int(frame),
            Scan(
                points[rows],
                confidence[rows],
                cameras[rows].astype(np.int64),
                landmarks[number : number + 1][0],
                tuple(str(name) for name in names),
            ),
        )


def _part_name(subject: str, sequence: str, first_frame: int) -> str:
    return f"{take_name(subject, sequence)}__{first_frame:06d}"
