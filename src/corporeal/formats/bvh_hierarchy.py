"""The HIERARCHY part of a BVH file: a tree of joints with offsets and channels.

Files come from many programs, so white space, letter case, braces on the joint's own line and names
with blanks are all read. What would make the tree ambiguous is refused by name: a second root, a
name that stands twice (a joint under itself), channels that no joint can have.
"""

import math
import re
from dataclasses import dataclass, field
from typing import Final

from corporeal.errors import FormatError

MAX_JOINTS: Final = 4096
"""Most joints a file may declare: far above any rig, far below what fills a memory."""

CHANNELS: Final = tuple(f"{axis}{kind}" for kind in ("position", "rotation") for axis in "XYZ")
_CHANNEL_BY_LOWER: Final = {name.lower(): name for name in CHANNELS}


@dataclass
class BvhNode:
    """One joint as the file declares it, in the file's own unit and axes."""

    name: str
    """As in the file."""
    parent: int
    """Index of the parent node, −1 for the root."""
    offset: tuple[float, float, float] | None = None
    """From the parent's joint, file units."""
    channels: tuple[str, ...] | None = None
    """Such as `Xposition` or `Zrotation`, in file order."""
    end_site: tuple[float, float, float] | None = None
    """Where the last bone of a chain ends, from this joint, file units."""

    @property
    def rotation_order(self) -> str:
        """Axes of the rotation channels in file order, such as `ZYX`; the first turns last."""
        return "".join(c[0] for c in self.channels or () if c.endswith("rotation"))

    @property
    def position_axes(self) -> str:
        """Axes of the position channels in file order."""
        return "".join(c[0] for c in self.channels or () if c.endswith("position"))


@dataclass
class _Cursor:
    """Where the parser stands: the open joints, and what the next brace would open."""

    nodes: list[BvhNode] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    open: list[int | None] = field(default_factory=list)
    """Indices of the joints whose braces are open; None is an End Site."""
    announced: int | None = None
    waits_for_brace: bool = False
    line: int = 0


def parse_hierarchy(source: str, text: str) -> list[BvhNode]:
    """The joints of the text between `HIERARCHY` and `MOTION`, parents first.

    `source` names the file in errors.
    """
    cursor = _Cursor()
    for cursor.line, line in enumerate(text.splitlines(), start=1):
        for statement in re.split(r"([{}])", line):
            if statement := statement.strip():
                _take(source, cursor, statement)
    if cursor.open or cursor.waits_for_brace:
        raise FormatError(
            f"{source}: the hierarchy ends with {len(cursor.open)} joints still open; expected as "
            f"many closing braces as opening ones. The file is truncated; make it again."
        )
    if not cursor.nodes:
        raise FormatError(f"{source} declares no joint; expected a ROOT. Make the file again.")
    for node in cursor.nodes:
        if node.offset is None or node.channels is None:
            missing = "OFFSET" if node.offset is None else "CHANNELS"
            raise FormatError(
                f"{source}: joint {node.name!r} has no {missing}; every joint needs it."
            )
    return cursor.nodes


def _take(source: str, cursor: _Cursor, statement: str) -> None:
    word, _, rest = statement.partition(" ") if " " in statement else statement.partition("\t")
    keyword, rest = word.upper(), rest.strip()
    if cursor.waits_for_brace and statement != "{":
        raise _unexpected(source, cursor, statement, "'{'")
    if keyword == "HIERARCHY" and not cursor.nodes:
        return
    if keyword in ("ROOT", "JOINT"):
        _open_joint(source, cursor, keyword, rest)
    elif keyword == "END" and cursor.open and cursor.open[-1] is not None:
        cursor.announced, cursor.waits_for_brace = None, True
    elif statement == "{" and cursor.waits_for_brace:
        cursor.open.append(cursor.announced)
        cursor.waits_for_brace = False
    elif statement == "}" and cursor.open:
        cursor.open.pop()
    elif keyword == "OFFSET" and cursor.open:
        _set_offset(source, cursor, rest)
    elif keyword == "CHANNELS" and cursor.open and cursor.open[-1] is not None:
        _set_channels(source, cursor, cursor.nodes[cursor.open[-1]], rest)
    else:
        raise _unexpected(
            source, cursor, statement, "ROOT, JOINT, End Site, OFFSET, CHANNELS or braces"
        )


def _open_joint(source: str, cursor: _Cursor, keyword: str, name: str) -> None:
    parent = cursor.open[-1] if cursor.open else -1
    if parent is None or (keyword == "JOINT") != (parent >= 0):
        raise _unexpected(
            source, cursor, f"{keyword} {name}", "a JOINT inside a joint, one ROOT outside"
        )
    if keyword == "ROOT" and cursor.nodes:
        raise FormatError(
            f"{source} has more than one root ({cursor.nodes[0].name!r}, then {name!r} in line "
            f"{cursor.line}); expected one skeleton a file. Split it into one file a skeleton."
        )
    if not name or name in cursor.names:
        what = f"named {name!r} a second time" if name else "without a name"
        raise FormatError(
            f"{source}: line {cursor.line} declares a joint {what}; expected unique names, so that "
            f"the joints form a tree. Rename it."
        )
    if len(cursor.nodes) >= MAX_JOINTS:
        raise FormatError(
            f"{source} declares more than {MAX_JOINTS} joints; no rig has as many. Not read."
        )
    cursor.names.add(name)
    cursor.nodes.append(BvhNode(name, parent))
    cursor.announced, cursor.waits_for_brace = len(cursor.nodes) - 1, True


def _set_offset(source: str, cursor: _Cursor, rest: str) -> None:
    words = rest.split()
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != 3 or not all(math.isfinite(value) for value in values):
        raise _unexpected(source, cursor, f"OFFSET {rest}", "three finite numbers")
    offset = (values[0], values[1], values[2])
    index = cursor.open[-1]
    if index is not None:
        cursor.nodes[index].offset = offset
        return
    owner = next(i for i in reversed(cursor.open) if i is not None)
    cursor.nodes[owner].end_site = offset


def _set_channels(source: str, cursor: _Cursor, node: BvhNode, rest: str) -> None:
    count, *words = rest.split() or [""]
    channels = tuple(_CHANNEL_BY_LOWER.get(word.lower(), "") for word in words)
    known = "" not in channels and len(set(channels)) == len(channels)
    rotations = sum(c.endswith("rotation") for c in channels)
    if not known or count != str(len(channels)) or rotations not in (0, 3):
        raise _unexpected(
            source,
            cursor,
            f"CHANNELS {rest}",
            f"for joint {node.name!r} a count and as many different names of "
            f"{', '.join(CHANNELS)}, with three rotations or none",
        )
    node.channels = channels


def _unexpected(source: str, cursor: _Cursor, came: str, expected: str) -> FormatError:
    shown = came if len(came) <= 60 else came[:57] + "..."
    return FormatError(
        f"{source}: line {cursor.line} of the hierarchy has {shown!r}; expected {expected}. "
        f"It is damaged or no BVH file; make it again."
    )
