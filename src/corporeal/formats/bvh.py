"""BVH motion capture files, of any hierarchy.

What survives `read_bvh` → `write_bvh`:

================================= ===========================================================
joint tree, names, rest offsets   yes (printed with 6 digits)
joint order                       made depth first, as BVH lists joints
rotations                         yes, to 1e-6 rad; the Euler order is the writer's choice
root path, frame rate             yes
End Sites                         yes, beside the motion in `BvhReading.end_sites`
position channels of other joints the body's way goes into the root's; bones keep their mean
                                  length and point as in the file (`bvh_positions`)
unit and axes                     converted to metres, y up, facing +z; options of the reader
a T-pose put before the capture   left out, and kept in `BvhReading.rest_frame`
================================= ===========================================================

A joint's matrix is the product of its rotation channels in file order, R_first R_second R_third.
The root's position channels say where it stands; its OFFSET is where it rests.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError
from corporeal.formats.bvh_hierarchy import BvhNode, parse_hierarchy
from corporeal.formats.bvh_motion import Frames, parse_motion
from corporeal.formats.bvh_positions import placed_bones, trunk_stem
from corporeal.formats.bvh_units import axis_rotation, guess_unit, unit_length
from corporeal.formats.bvh_write import write_bvh
from corporeal.geometry.rotations import (
    axis_angle_from_matrix,
    geodesic_angle,
    matrix_from_axis_angle,
    matrix_from_euler,
)
from corporeal.runtime.input_files import read_input

__all__ = ["BvhReading", "read_bvh", "write_bvh"]

MAX_BYTES: Final = 160 * 1024**2
"""Largest file that is read: ten minutes of 75 joints at 120 frames a second, in 5 s."""


_MOTION: Final = re.compile(r"\n[ \t]*MOTION\b", re.IGNORECASE)
_REMARK: Final = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
"""A line that some programs add about themselves."""
_POINT, _COMMA = re.compile(r"\d\.\d"), re.compile(r"(?<=\d),(?=\d)")
_SEPARATOR: Final = re.compile(r"(\d),(?=\s)")


@dataclass(frozen=True)
class BvhReading:
    """A motion, and what of its file a motion cannot hold."""

    motion: Motion
    """In metres, y up, facing +z; named after the file."""
    end_sites: Mapping[str, Float[NumpyArray, "3"]]
    """Where the last bones end, metres from the joint of that name."""
    rest_frame: Pose | None
    """The T-pose that stood before the capture, if it was left out."""
    metres_per_unit: float
    """Length of the file's unit, metres."""
    notes: tuple[str, ...]
    """What was guessed, converted or left out, in words."""


def read_bvh(
    path: str | Path,
    *,
    unit: str | float = "auto",
    up: str = "+y",
    front: str = "+z",
    first_frame: Literal["auto", "keep", "drop"] = "auto",
) -> BvhReading:
    """Read a BVH file into metres, y up, facing +z.

    `unit` is a name of `bvh_units.UNITS`, a number of metres a file unit, or `auto`, which takes
    the unit in which the skeleton has a person's size. `up` and `front` are the file's axes, such
    as `+z` and `-y`. `first_frame` `auto` leaves out a T-pose that was put before the capture.
    """
    path, axes = Path(path), axis_rotation(up, front)
    metres = None if unit == "auto" else unit_length(unit)
    notes: list[str] = []
    nodes, frames = _parse(path, notes)
    placed = placed_bones(
        nodes, _columns(nodes, "position"), frames.values, _rotations(nodes, frames.values)
    )
    notes, offsets = [*notes, *placed.notes], placed.offsets
    if metres is None:
        unit = guess_unit(str(path), _longest_chain(nodes, offsets))
        metres = unit_length(unit)
        notes.append(f"unit taken as {unit!r}, in which the skeleton has a person's size")
    # The one place where units and axes are converted.
    skeleton = _skeleton(nodes, metres * offsets @ axes.T)
    translation = metres * (placed.root - offsets[0]) @ axes.T
    rotations = axis_angle_from_matrix(placed.rotations) @ axes.T
    start = int(_leaves_first_out(path, first_frame, rotations, notes))
    return BvhReading(
        motion=Motion(path.stem, frames.fps, rotations[start:], translation[start:], skeleton),
        end_sites={n.name: metres * axes @ np.array(n.end_site) for n in nodes if n.end_site},
        rest_frame=Pose(rotations[0], translation[0]) if start else None,
        metres_per_unit=metres,
        notes=tuple(notes),
    )


def _parse(path: Path, notes: list[str]) -> tuple[list[BvhNode], Frames]:
    text = _with_points(_text(path), notes)
    hierarchy, *rest = _MOTION.split(text, maxsplit=1)
    word, motion = bool(rest), "".join(rest)
    if not text.lstrip()[:9].upper() == "HIERARCHY" or not word:
        raise FormatError(
            f"{path} starts with {text[:20]!r} and {'has' if word else 'lacks'} a line MOTION; "
            f"expected HIERARCHY, then MOTION. It is empty, truncated or another kind of file."
        )
    nodes = parse_hierarchy(str(path), hierarchy)
    names = [f"{node.name} {channel}" for node in nodes for channel in node.channels or ()]
    if not names:
        raise FormatError(f"{path} has no channels; expected at least the root's. Nothing moves.")
    return nodes, parse_motion(str(path), motion, names)


def _text(path: Path) -> str:
    content = read_input(path, at_most=MAX_BYTES)
    if b"\0" in content:
        raise FormatError(f"{path} holds binary data; expected text. It is no BVH file.")
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = content.decode("latin-1")  # old rigs name their joints in other encodings
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _REMARK.sub("", text) if "#" in text else text


def _with_points(text: str, notes: list[str]) -> str:
    """Numbers as other countries write them: commas for points, or behind every value."""
    if "," not in text:
        return text
    if _POINT.search(text) is None:
        notes.append("decimal commas read as points")
        return _COMMA.sub(".", text)
    return _SEPARATOR.sub(r"\1 ", text)


def _columns(nodes: list[BvhNode], kind: str) -> list[list[int]]:
    """Every joint's columns of the channels of one kind (`position` or `rotation`)."""
    columns, start = [], 0
    for node in nodes:
        channels = node.channels or ()
        columns.append([start + i for i, name in enumerate(channels) if name.endswith(kind)])
        start += len(channels)
    return columns


def _rotations(
    nodes: list[BvhNode], values: Float[NumpyArray, "N C"]
) -> Float[NumpyArray, "N J 3 3"]:
    """Parent-relative rotations; joints of one Euler order are converted together."""
    rotations = np.broadcast_to(np.eye(3), (len(values), len(nodes), 3, 3)).copy()
    columns = _columns(nodes, "rotation")
    for order in {node.rotation_order for node in nodes} - {""}:
        joints = [j for j, node in enumerate(nodes) if node.rotation_order == order]
        angles = np.deg2rad(values[:, [columns[j] for j in joints]])
        rotations[:, joints] = matrix_from_euler(angles, order)
    return rotations


def _longest_chain(nodes: list[BvhNode], offsets: Float[NumpyArray, "J 3"]) -> float:
    """Bone lengths from the trunk to the farthest tip, file units.

    Joints above the trunk are no bones: they hold where the body stands.
    """
    reach = np.zeros(len(nodes))
    longest = 0.0
    stem = trunk_stem(nodes)
    for index, node in enumerate(nodes):
        if index not in stem:
            reach[index] = reach[node.parent] + np.linalg.norm(offsets[index])
        tip = float(np.linalg.norm(node.end_site)) if node.end_site else 0.0
        longest = max(longest, float(reach[index]) + tip)
    return longest


def _skeleton(nodes: list[BvhNode], offsets: Float[NumpyArray, "J 3"]) -> Skeleton:
    joints = offsets.copy()
    for index, node in enumerate(nodes[1:], start=1):
        joints[index] += joints[node.parent]
    return Skeleton(tuple(n.name for n in nodes), tuple(n.parent for n in nodes), joints)


def _leaves_first_out(
    path: Path, choice: str, rotations: Float[NumpyArray, "N J 3"], notes: list[str]
) -> bool:
    """Whether frame 0 is to be left out: on demand, or because the pose jumps right after it.

    It jumps if a joint turns by over 0.1 rad and five times as far as any does in the next frames.
    """
    if choice == "keep" or (choice == "auto" and len(rotations) < 4):
        return False
    if choice == "drop":
        if len(rotations) < 2:
            raise FormatError(f"{path} has one frame; it cannot be left out. Keep it.")
        return True
    start = matrix_from_axis_angle(rotations[:12])
    steps = geodesic_angle(start[:-1], start[1:]).max(axis=1)
    jumps = bool(steps[0] > max(0.1, 5.0 * float(steps[1:].max())))
    if jumps:
        notes.append(
            f"frame 0 left out as a T-pose put before the capture: the pose jumps by "
            f"{np.rad2deg(steps[0]):.0f} degrees right after it"
        )
    return jumps
