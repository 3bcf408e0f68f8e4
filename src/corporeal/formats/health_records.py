"""Health records among the arrays of a take, each under its own name behind a prefix.

======================= ============================================================================
`inverted`              N int32, elements inside out
`least_determinant`     N float32, J = det F
`largest_stretch`       N float32, ratio of lengths
`residual`              N float32, metres
`part_volumes`          N × P float32, relative changes; attribute `parts`: their names
`penetration_frames`    M int32
`penetration`           M float32, metres
`inverted_volume`       N float32, m³; older stores lack it
======================= ============================================================================
"""

import numpy as np

from corporeal.body.health_record import HealthRecord
from corporeal.errors import FormatError, InputError
from corporeal.formats.zarr_groups import GroupReader, GroupWriter

HEALTH, TWIN_HEALTH = "health", "twin_health"
"""Prefixes of the records of a take and of its twin."""
_COLUMNS = ("least_determinant", "largest_stretch", "residual")


def write_health(part: GroupWriter, prefix: str, record: HealthRecord) -> None:
    """Add a record to an unfinished take."""
    part.add(f"{prefix}_inverted", record.inverted.astype(np.int32))
    volume = () if record.inverted_volume is None else ("inverted_volume",)
    for name in (*_COLUMNS, "part_volumes", "penetration", *volume):
        values = np.asarray(getattr(record, name), np.float32)
        if not np.isfinite(values).all():
            raise InputError(f"{name} of a health record is not finite; nothing was written.")
        part.add(f"{prefix}_{name}", values)
    part.add(f"{prefix}_penetration_frames", record.penetration_frames.astype(np.int32))
    part.attributes[f"{prefix}_parts"] = list(record.parts)


def read_health(part: GroupReader, prefix: str, frames: int) -> HealthRecord | None:
    """The record of a take of so many frames; None where there is none."""
    if not part.has(f"{prefix}_inverted"):
        return None
    parts = part.attributes.get(f"{prefix}_parts")
    if not isinstance(parts, list) or not all(isinstance(name, str) for name in parts):
        raise FormatError(f"{part.path} does not name the parts of its health record.")
    volume = f"{prefix}_inverted_volume"
    try:
        return HealthRecord(
            inverted=part.array(f"{prefix}_inverted", "i", (frames,)),
            least_determinant=part.array(f"{prefix}_least_determinant", "f", (frames,)),
            largest_stretch=part.array(f"{prefix}_largest_stretch", "f", (frames,)),
            residual=part.array(f"{prefix}_residual", "f", (frames,)),
            parts=tuple(parts),
            part_volumes=part.array(f"{prefix}_part_volumes", "f", (frames, len(parts))),
            penetration_frames=part.array(f"{prefix}_penetration_frames", "i", (None,)),
            penetration=part.array(f"{prefix}_penetration", "f", (None,)),
            inverted_volume=part.array(volume, "f", (frames,)) if part.has(volume) else None,
        )
    except InputError as error:
        raise FormatError(f"{part.path}: {error}") from error
