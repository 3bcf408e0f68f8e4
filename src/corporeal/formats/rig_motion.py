"""The motion of a rig whose joints have axes of their own: GLB, FBX and USD.

Such files hold a matrix a joint and frame, W_j(t), and one at rest, B_j. A motion's joints have the
world's axes at rest, so joint j has turned by D_j = W_j B_j⁻¹, scale left out, and rests at the
place of B_j. What joints between root and trunk travel goes into the root's path, as in BVH.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError
from corporeal.formats.bvh_units import guess_unit, unit_length
from corporeal.geometry.rotations import axis_angle_from_matrix

MAX_MATRICES: Final = 4_000_000
"""Joint matrices that one file may ask for: 1 000 joints at 4 000 frames."""


@dataclass(frozen=True)
class RigFrames:
    """Joints of a file in tree order, their matrices at rest and over time; the file's unit."""

    names: tuple[str, ...]
    """As in the file; made unique."""
    parents: tuple[int, ...]
    """Index of every joint's parent; −1 for the root, which is joint 0."""
    rest: Float[NumpyArray, "J 4 4"]
    """World matrices at rest."""
    world: Float[NumpyArray, "N J 4 4"]
    """World matrices of every frame."""
    fps: float
    """Frames a second."""


@dataclass(frozen=True)
class RigReading:
    """A motion, and how it was read."""

    motion: Motion
    """In metres, with the file's axes."""
    notes: tuple[str, ...]
    """What was guessed or left out, in words."""


def rig_motion(path: str | Path, frames: RigFrames, unit: str | float) -> RigReading:
    """A motion of joint matrices; `unit` as for BVH, `auto` takes a person's size."""
    path = Path(path)
    stem = _stem(frames.parents)
    metres, notes = _metres(path, frames, stem, unit)
    turns, rest_turns = _rotations(frames.world), _rotations(frames.rest)
    since = turns @ np.swapaxes(rest_turns, -1, -2)
    places, rest = metres * frames.world[..., :3, 3], metres * frames.rest[..., :3, 3]
    local = since.copy()
    for joint, parent in enumerate(frames.parents):
        if parent >= 0:
            local[:, joint] = np.swapaxes(since[:, parent], -1, -2) @ since[:, joint]
    # The trunk is where the file has it: what joints above it travel is the root's.
    root = places[:, stem[-1]].copy()
    for joint in reversed(stem[1:]):
        parent = frames.parents[joint]
        root -= since[:, parent] @ (rest[joint] - rest[parent])
    skeleton = Skeleton(frames.names, frames.parents, rest)
    motion = Motion(path.stem, frames.fps, axis_angle_from_matrix(local), root - rest[0], skeleton)
    return RigReading(motion, notes)


def one_tree(
    names: list[str], parents: list[int]
) -> tuple[list[int], tuple[str, ...], tuple[int, ...]]:
    """The largest tree of a forest in tree order: which joints, unique names, parents."""
    children: dict[int, list[int]] = {}
    for joint, parent in enumerate(parents):
        children.setdefault(parent, []).append(joint)
    best: list[int] = []
    for root in children.get(-1, []):
        tree, waiting = [], [root]
        while waiting:
            tree.append(waiting.pop())
            waiting.extend(reversed(children.get(tree[-1], [])))
        best = max(best, tree, key=len)
    place = {joint: index for index, joint in enumerate(best)}
    taken: dict[str, int] = {}
    unique = []
    for joint in best:
        name = names[joint] or f"joint_{joint}"
        taken[name] = taken.get(name, 0) + 1
        unique.append(name if taken[name] == 1 else f"{name}#{taken[name]}")
    return best, tuple(unique), tuple(place.get(parents[joint], -1) for joint in best)


def require_frames(path: Path, count: int, joints: int) -> None:
    """Raise `FormatError` for a file without joints, or with more frames than can be meant."""
    if joints == 0:
        raise FormatError(f"{path} holds no skeleton; expected joints that move. Export the rig.")
    if count * joints > MAX_MATRICES:
        raise FormatError(f"{path} asks for {count} frames of {joints} joints, too many to read.")


def _metres(
    path: Path, frames: RigFrames, stem: list[int], unit: str | float
) -> tuple[float, tuple[str, ...]]:
    if unit != "auto":
        return unit_length(unit), ()
    reach = np.zeros(len(frames.names))
    for joint, parent in enumerate(frames.parents):
        if joint not in stem:
            bone = frames.rest[joint, :3, 3] - frames.rest[parent, :3, 3]
            reach[joint] = reach[parent] + np.linalg.norm(bone)
    guessed = guess_unit(str(path), float(reach.max()))
    if guessed == "m":
        return 1.0, ()
    note = f"unit taken as {guessed!r}, in which the skeleton has a person's size"
    return unit_length(guessed), (note,)


def _stem(parents: tuple[int, ...]) -> list[int]:
    """From the root down to the first joint that branches; the root alone if none does."""
    children: dict[int, list[int]] = {}
    for joint, parent in enumerate(parents):
        children.setdefault(parent, []).append(joint)
    stem = [0]
    while len(children.get(stem[-1], [])) == 1:
        stem.append(children[stem[-1]][0])
    return stem if children.get(stem[-1]) else [0]


def _rotations(matrices: Float[NumpyArray, "*batch 4 4"]) -> Float[NumpyArray, "*batch 3 3"]:
    """Nearest rotations, without scale; a mirrored joint keeps its axes but one."""
    u, _, v = np.linalg.svd(matrices[..., :3, :3])
    sign = np.sign(np.linalg.det(u @ v))
    u[..., :, -1] *= sign[..., None]
    return u @ v
