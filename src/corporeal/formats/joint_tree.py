"""From a list of joints, as files have them, to a skeleton: what every skeleton reader shares."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError, InputError
from corporeal.runtime.input_files import read_input

MAX_JOINTS = 10_000
_MAX_BYTES = 16 * 1024**2


class Joint(NamedTuple):
    """One joint of a file."""

    name: str
    """Unique within the file."""
    place: tuple[float, float, float]
    """Rest position, in the file's unit."""
    parent: str | None
    """Name of the parent; None for the root."""


def joint_tree(joints: Sequence[Joint]) -> Skeleton:
    """The joints in tree order: every parent before its children, else as they came."""
    if not joints:
        raise InputError("it has no joints; expected at least one.")
    _require_names(joints)
    for joint in joints:
        if not all(map(math.isfinite, joint.place)):
            raise InputError(f"joint {joint.name!r} is at {joint.place}; expected finite numbers.")
    order = _parents_first(joints)
    index = {joint.name: place for place, joint in enumerate(order)}
    return Skeleton(
        tuple(index),
        tuple(-1 if joint.parent is None else index[joint.parent] for joint in order),
        np.array([joint.place for joint in order], np.float64),
    )


def read_text(path: Path) -> str:
    """A small text file."""
    content = read_input(path, at_most=_MAX_BYTES)
    try:
        return content.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not plain text; expected a skeleton.") from error


def _require_names(joints: Sequence[Joint]) -> None:
    names = [joint.name for joint in joints]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"joint {name!r} stands twice; expected unique names. Rename one.")
        seen.add(name)
    roots = [joint.name for joint in joints if joint.parent is None]
    if len(roots) != 1:
        text = ", ".join(map(repr, roots[:5])) or "none"
        raise InputError(
            f"{len(roots)} joints have no parent ({text}); expected one root. Join the parts by "
            f"naming parents; such bones can be made virtual."
        )
    for joint in joints:
        if joint.parent is not None and joint.parent not in seen:
            raise InputError(
                f"joint {joint.name!r} has the parent {joint.parent!r}, which is no joint; there "
                f"are {', '.join(names[:8])}{', …' if len(names) > 8 else ''}."
            )


def _parents_first(joints: Sequence[Joint]) -> list[Joint]:
    order = [joint for joint in joints if joint.parent is None]
    placed = {joint.name for joint in order}
    waiting = [joint for joint in joints if joint.parent is not None]
    while waiting:
        behind: list[Joint] = []
        for joint in waiting:
            if joint.parent in placed:
                order.append(joint)
                placed.add(joint.name)
            else:
                behind.append(joint)
        if len(behind) == len(waiting):
            circle = ", ".join(repr(joint.name) for joint in behind[:5])
            raise InputError(f"joints {circle} are each other's ancestors; expected a tree.")
        waiting = behind
    return order
