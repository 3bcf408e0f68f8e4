"""Skeletons as JSON: `{"unit": "m", "joints": [{"name": …, "parent": …, "position": [x, y, z]}]}`.

================== ========================================================================
survives           joint names, parents and rest positions, to the last digit; the unit
does not           rotations (a skeleton rests in world axes)
================== ========================================================================

`unit` may be left out: numbers are then those of the mesh that the skeleton belongs to. The root's
parent is null, or left out.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError, InputError
from corporeal.formats.joint_tree import MAX_JOINTS, Joint, joint_tree, read_text
from corporeal.runtime.files import write_bytes

_KEYS = {"unit", "joints"}
_JOINT_KEYS = {"name", "parent", "position"}


def read_skeleton_json(path: str | Path) -> tuple[Skeleton, str | None]:
    """A skeleton in the file's unit, and that unit if it is stated."""
    path = Path(path)
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise FormatError(f"{path} is no JSON ({error}). Correct it.") from error
    if not isinstance(content, dict) or "joints" not in content or set(content) - _KEYS:
        keys = sorted(content) if isinstance(content, dict) else type(content).__name__
        raise FormatError(f"{path} holds {keys!s:.80}; expected an object with {sorted(_KEYS)}.")
    rows, unit = content["joints"], content.get("unit")
    if unit is not None and not isinstance(unit, str):
        raise FormatError(f"{path}: 'unit' is {unit!r:.40}; expected a name such as 'm'.")
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_JOINTS:
        raise FormatError(f"{path}: 'joints' is no list of 1 to {MAX_JOINTS} joints.")
    try:
        return joint_tree([_joint(row) for row in rows]), unit
    except InputError as error:
        raise FormatError(f"{path} cannot be read as a skeleton: {error}") from error


def write_skeleton_json(path: str | Path, skeleton: Skeleton, unit: str | None = "m") -> None:
    """Write a skeleton whose numbers are in `unit`; None states none."""
    places = np.asarray(skeleton.joints, np.float64).tolist()
    rows = [
        {"name": name, "parent": None if up < 0 else skeleton.names[up], "position": place}
        for name, up, place in zip(skeleton.names, skeleton.parents, places, strict=True)
    ]
    text = ",\n    ".join(json.dumps(row, ensure_ascii=False) for row in rows)
    stated = "" if unit is None else f'  "unit": {json.dumps(unit)},\n'
    write_bytes(path, f'{{\n{stated}  "joints": [\n    {text}\n  ]\n}}\n'.encode())


def _joint(row: Any) -> Joint:
    if not isinstance(row, dict) or not {"name", "position"} <= set(row) <= _JOINT_KEYS:
        raise FormatError(f"a joint is {row!r:.60}; expected an object with {sorted(_JOINT_KEYS)}.")
    name, parent, place = row["name"], row.get("parent"), row["position"]
    if not isinstance(name, str) or not (parent is None or isinstance(parent, str)):
        raise FormatError(
            f"a joint has name {name!r:.40} and parent {parent!r:.40}; expected text."
        )
    numbers = isinstance(place, list) and len(place) == 3
    if not numbers or not all(type(x) in (int, float) for x in place):
        raise FormatError(f"joint {name!r} is at {place!r:.60}; expected three numbers.")
    try:
        x, y, z = map(float, place)
    except OverflowError:
        raise FormatError(f"joint {name!r} is beyond all bounds; expected metres.") from None
    return Joint(name, (x, y, z), parent)
