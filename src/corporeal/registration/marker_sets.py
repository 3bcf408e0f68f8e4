"""Where labelled markers sit on the skin: Plug-in Gait, Helen Hayes, tables of one's own.

A marker is described from the skeleton at rest: a place on a bone (a joint, or a share of the way
to the next), a shift in metres and the direction in which the skin is met. Left-hand markers are
listed; right-hand ones are their mirror images. The described place need only be near: offsets
from it are solved for.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError, InputError
from corporeal.runtime.input_files import read_input


class Spot(NamedTuple):
    """Where a marker is looked for."""

    joint: str
    """Joint that the bone begins at."""
    towards: str
    """Joint that it goes to; the same for the joint itself."""
    share: float
    """How far along."""
    direction: tuple[float, float, float]
    """Where the skin is met from there; x left, y up, z forwards."""
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Added to the place on the bone, metres."""


_SIDED = {
    "FHD": Spot("head", "head", 0.0, (0.6, 0.0, 0.8), (0.0, 0.1, 0.0)),
    "BHD": Spot("head", "head", 0.0, (0.6, 0.0, -0.8), (0.0, 0.1, 0.0)),
    "SHO": Spot("left_shoulder", "left_shoulder", 0.0, (0.0, 1.0, 0.0), (-0.035, 0.0, 0.0)),
    "UPA": Spot("left_shoulder", "left_elbow", 0.5, (0.0, 0.7, -0.7)),
    "ELB": Spot("left_elbow", "left_elbow", 0.0, (0.0, 0.2, -1.0)),
    "FRM": Spot("left_elbow", "left_wrist", 0.5, (0.0, 0.7, -0.7)),
    "WRA": Spot("left_wrist", "left_wrist", 0.0, (0.0, 0.0, 1.0)),
    "WRB": Spot("left_wrist", "left_wrist", 0.0, (0.0, 0.0, -1.0)),
    "FIN": Spot("left_wrist", "left_middle1", 0.85, (0.0, 1.0, 0.0)),
    "IHAND": Spot("left_wrist", "left_index1", 0.9, (0.0, 0.6, 0.8)),
    "OHAND": Spot("left_wrist", "left_pinky1", 0.9, (0.0, 0.6, -0.8)),
    "ASI": Spot("left_hip", "left_hip", 0.0, (0.3, 0.0, 1.0), (0.03, 0.07, 0.0)),
    "PSI": Spot("pelvis", "pelvis", 0.0, (0.0, 0.0, -1.0), (0.045, 0.03, 0.0)),
    "THI": Spot("left_hip", "left_knee", 0.55, (1.0, 0.0, 0.0)),
    "KNE": Spot("left_knee", "left_knee", 0.0, (1.0, 0.0, 0.0)),
    "TIB": Spot("left_knee", "left_ankle", 0.5, (1.0, 0.0, 0.0)),
    "ANK": Spot("left_ankle", "left_ankle", 0.0, (1.0, 0.0, 0.0)),
    "HEE": Spot("left_ankle", "left_ankle", 0.0, (0.0, 0.0, -1.0), (0.0, -0.04, 0.0)),
    "TOE": Spot("left_foot", "left_foot", 0.0, (0.0, 1.0, 0.2), (0.0, 0.0, -0.02)),
    "MT5": Spot("left_foot", "left_foot", 0.0, (1.0, 0.1, 0.0), (0.0, 0.0, -0.03)),
    "HLX": Spot("left_foot", "left_foot", 0.0, (0.0, 1.0, 0.4), (-0.02, -0.01, 0.045)),
}
_MIDDLE = {
    "C7": Spot("neck", "neck", 0.0, (0.0, 0.0, -1.0)),
    "T10": Spot("spine2", "spine3", 0.5, (0.0, 0.0, -1.0)),
    "CLAV": Spot("spine3", "neck", 0.7, (0.0, 0.0, 1.0)),
    "STRN": Spot("spine2", "spine3", 0.6, (0.0, 0.0, 1.0)),
    "RBAK": Spot("spine3", "spine3", 0.0, (0.0, 0.0, -1.0), (-0.08, 0.0, 0.0)),
    "SACR": Spot("pelvis", "pelvis", 0.0, (0.0, 0.0, -1.0), (0.0, 0.03, 0.0)),
    "ARIEL": Spot("head", "head", 0.0, (0.0, 1.0, 0.0), (0.0, 0.1, 0.0)),
}
_HELEN_HAYES = {
    "SHOULDER": "SHO",
    "ELBOW": "ELB",
    "WRIST": "WRA",
    "ASIS": "ASI",
    "THIGH": "THI",
    "KNEE": "KNE",
    "SHANK": "TIB",
    "ANKLE": "ANK",
    "HEEL": "HEE",
    "TOE": "TOE",
}
_HELEN_HAYES_MIDDLE = {"V.SACRAL": "SACR", "TOP.HEAD": "ARIEL", "STERNUM": "STRN"}


def known_spots() -> dict[str, Spot]:
    """All labels of the built-in tables: Plug-in Gait's, and Helen Hayes' as `L.Knee`."""
    found = dict(_MIDDLE)
    found |= {name: _MIDDLE[other] for name, other in _HELEN_HAYES_MIDDLE.items()}
    for name, spot in _SIDED.items():
        found |= {f"L{name}": spot, f"R{name}": _mirrored(spot)}
    for name, other in _HELEN_HAYES.items():
        found |= {f"L.{name}": _SIDED[other], f"R.{name}": _mirrored(_SIDED[other])}
    return found


def _mirrored(spot: Spot) -> Spot:
    def other(name: str) -> str:
        return name.replace("left_", "right_")

    flip = np.array([-1.0, 1.0, 1.0])
    direction, shift = flip * spot.direction, flip * spot.shift
    return Spot(
        other(spot.joint),
        other(spot.towards),
        spot.share,
        (float(direction[0]), float(direction[1]), float(direction[2])),
        (float(shift[0]), float(shift[1]), float(shift[2])),
    )


def marker_vertices(
    labels: tuple[str, ...],
    skeleton: Skeleton,
    rest: Float64[NumpyArray, "V 3"],
    joints: Float64[NumpyArray, "J 3"],
    table: Path | None = None,
) -> dict[str, int]:
    """The vertex of every label that is known; `table` is JSON, label → vertex or known label."""
    own = {} if table is None else _read_table(table, len(rest))
    spots = known_spots()
    found: dict[str, int] = {}
    for label in labels:
        named = own.get(label, label)
        if isinstance(named, int):
            found[label] = named
        elif named.upper() in spots:
            found[label] = _met(spots[named.upper()], skeleton, rest, joints)
    return found


def _met(spot: Spot, skeleton: Skeleton, rest: NumpyArray, joints: NumpyArray) -> int:
    """The outermost vertex near the ray from the bone."""
    start, end = joints[skeleton.index(spot.joint)], joints[skeleton.index(spot.towards)]
    place = start + spot.share * (end - start) + spot.shift
    way = np.asarray(spot.direction) / np.linalg.norm(spot.direction)
    away = rest - place
    along = away @ way
    aside = np.linalg.norm(away - along[:, None] * way, axis=1)
    good = (along > 0) & (along < 0.25)
    near = np.where(good, aside + 0.1 * along, np.inf)
    return int(np.argmin(near))


def _read_table(path: Path, vertex_count: int) -> dict[str, int | str]:
    try:
        rows = json.loads(read_input(path, at_most=1_000_000))
        found = {str(label): value for label, value in dict(rows).items()}
    except (ValueError, TypeError) as error:
        raise FormatError(f"{path} cannot be read as a table of markers: {error}") from error
    for label, value in found.items():
        is_vertex = type(value) is int and 0 <= value < vertex_count
        if not (is_vertex or isinstance(value, str)):
            raise InputError(
                f"{path} says {value!r} of marker {label}; expected a vertex below {vertex_count} "
                f"or a label of a built-in table."
            )
    return found
