"""Plain-text skeletons (`.skel`): the number of joints, then `x y z name parent` a joint.

    3
    0 0.9 0 pelvis root
    0 1.2 0 spine pelvis
    0 1.6 0 head spine

The first joint's parent is `root`. Others may stand in any order; they are read into tree order. A
joint may itself be called `root`.

================== ========================================================================
survives           joint names, parents and rest positions, to the last digit
does not           rotations (a skeleton rests in world axes); names with blanks are refused
================== ========================================================================

The file states no unit: numbers are those of the mesh that the skeleton belongs to.
"""

from pathlib import Path

import numpy as np

from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError, InputError
from corporeal.formats.joint_tree import MAX_JOINTS, Joint, joint_tree, read_text
from corporeal.runtime.files import atomic_write

ROOT = "root"
"""What stands for the parent of the first joint."""


def read_skel(path: str | Path) -> Skeleton:
    """Read a skeleton, in the file's own unit."""
    path = Path(path)
    lines = [line.partition("#")[0].split() for line in read_text(path).splitlines()]
    rows = [words for words in lines if words]
    try:
        return joint_tree(_rooted([_joint(words) for words in rows[1 : 1 + _count(rows)]]))
    except InputError as error:
        raise FormatError(f"{path} cannot be read as a skeleton: {error}") from error


def write_skel(path: str | Path, skeleton: Skeleton) -> None:
    """Write a skeleton; its numbers are in whatever unit they are."""
    for name in skeleton.names:
        if not name or name.split() != [name] or "#" in name:
            raise InputError(
                f"joint {name!r} has a blank or # in its name, which .skel cannot hold. "
                f"Write .json."
            )
    lines = [str(skeleton.joint_count)]
    for name, parent, place in zip(
        skeleton.names, skeleton.parents, np.asarray(skeleton.joints, np.float64), strict=True
    ):
        above = ROOT if parent < 0 else skeleton.names[parent]
        lines.append(" ".join([*map(repr, place.tolist()), name, above]))
    with atomic_write(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _count(rows: list[list[str]]) -> int:
    first = " ".join(rows[0])[:40] if rows else ""
    if not rows or len(rows[0]) != 1 or not rows[0][0].isascii() or not rows[0][0].isdigit():
        raise FormatError(f"its first line is {first!r}; expected the number of joints.")
    count = int(rows[0][0]) if len(rows[0][0]) < 12 else MAX_JOINTS + 1
    if not 1 <= count <= MAX_JOINTS:
        raise FormatError(f"it states {first} joints; expected 1 to {MAX_JOINTS}.")
    if count != len(rows) - 1:
        raise FormatError(
            f"it states {count} joints and has {len(rows) - 1} lines of them. Correct the "
            f"first line."
        )
    return count


def _joint(words: list[str]) -> Joint:
    line = " ".join(words)[:60]
    if len(words) != 5:
        raise FormatError(
            f"the line {line!r} has {len(words)} words; expected five: x y z name parent."
        )
    try:
        place = (float(words[0]), float(words[1]), float(words[2]))
    except ValueError:
        raise FormatError(f"the line {line!r} does not start with three numbers.") from None
    return Joint(words[3], place, words[4])


def _rooted(joints: list[Joint]) -> list[Joint]:
    """Joints whose parent `root` is none: the first, one that is itself called so, and all where no
    joint is."""
    named = any(joint.name == ROOT for joint in joints)
    return [
        joint._replace(parent=None)
        if joint.parent == ROOT and (place == 0 or joint.name == ROOT or not named)
        else joint
        for place, joint in enumerate(joints)
    ]
