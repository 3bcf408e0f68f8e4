"""Position channels of BVH joints: every one of them counts.

Most programs give position channels to the root alone; some (MotionBuilder, 3ds Max, Blender,
Bandai-Namco's files) give them to every joint, and put a body's way into a joint below the root.
A motion has one path and bones of constant length, so

- what the joints between root and trunk travel goes into the root's path, exactly;
- elsewhere the mean becomes the bone, and where a bone that is its joint's only one changes its
  direction, the joint turns with it, so that the bone points where the file has it.

A channel holds the whole offset in most programs and what is to be added to it in others: it is
read as what is nearer to the OFFSET that the joint declares.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.formats.bvh_hierarchy import BvhNode
from corporeal.geometry.rotations import matrix_from_axis_angle

_STILL: Final = 1e-3
"""Position channels that vary by less are constant, as a share of the longest offset."""


@dataclass(frozen=True)
class PlacedBones:
    """A file's bones, and where its root goes; file units."""

    offsets: Float[NumpyArray, "J 3"]
    """From the parent's joint, constant over time."""
    rotations: Float[NumpyArray, "N J 3 3"]
    """Parent-relative."""
    root: Float[NumpyArray, "N 3"]
    """Where the root stands."""
    notes: tuple[str, ...]
    """What position channels below the root were taken for, in words."""


def placed_bones(
    nodes: list[BvhNode],
    columns: list[list[int]],
    values: Float[NumpyArray, "N C"],
    rotations: Float[NumpyArray, "N J 3 3"],
) -> PlacedBones:
    """Bones, rotations and path of a file; `columns` are every joint's position channels."""
    declared = np.array([node.offset for node in nodes], np.float64)
    tracks = {
        j: _track(declared[j], nodes[j].position_axes, values[:, columns[j]], root=j == 0)
        for j in range(len(nodes))
        if columns[j]
    }
    root = tracks.pop(0, np.broadcast_to(declared[0], (len(values), 3))).copy()
    offsets = declared.copy()
    for joint, track in tracks.items():
        offsets[joint] = track.mean(axis=0)
    stem = trunk_stem(nodes)
    size = _STILL * max(float(np.abs(offsets[stem[-1] + 1 :]).max(initial=0.0)), 1e-12)
    varying = {j: float(np.ptp(t, axis=0).max()) for j, t in tracks.items()}
    varying = {j: spread for j, spread in varying.items() if spread > size}
    notes = []
    if moved := [j for j in stem[1:] if j in varying]:
        for joint in moved:
            offsets[joint] = declared[joint]
        root += _travel(stem, moved[-1], offsets, tracks, rotations)
        notes.append(
            f"the way of {', '.join(repr(nodes[j].name) for j in moved)} counts as the body's: "
            f"position channels below the root move it by up to "
            f"{max(varying[j] for j in moved):.4g} file units"
        )
    limbs = {j: spread for j, spread in varying.items() if j not in stem}
    if limbs:
        rotations = _pointing(nodes, offsets, {j: tracks[j] for j in limbs}, rotations)
        most = max(limbs, key=limbs.__getitem__)
        notes.append(
            f"{len(limbs)} joints change their offsets over time (most: {nodes[most].name!r}, by "
            f"{limbs[most]:.4g} file units); bones keep their mean length and point as in the file"
        )
    return PlacedBones(offsets, rotations, root, tuple(notes))


def trunk_stem(nodes: list[BvhNode]) -> list[int]:
    """From the root down to the first joint that branches; the root alone if none does."""
    children: list[list[int]] = [[] for _ in nodes]
    for index, node in enumerate(nodes[1:], start=1):
        children[node.parent].append(index)
    stem = [0]
    while len(children[stem[-1]]) == 1:
        stem.append(children[stem[-1]][0])
    return stem if children[stem[-1]] else [0]


def _track(
    declared: Float[NumpyArray, "3"], axes: str, channels: Float[NumpyArray, "N n"], *, root: bool
) -> Float[NumpyArray, "N 3"]:
    """A joint's offset at every frame."""
    track = np.broadcast_to(declared, (len(channels), 3)).copy()
    which = ["XYZ".index(axis) for axis in axes]
    mean = channels.mean(axis=0)
    whole = np.linalg.norm(mean - declared[which]) <= np.linalg.norm(mean)
    if root or whole:
        track[:, which] = channels
    else:
        track[:, which] += channels
    return track


def _travel(
    stem: list[int],
    last: int,
    offsets: Float[NumpyArray, "J 3"],
    tracks: dict[int, Float[NumpyArray, "N 3"]],
    rotations: Float[NumpyArray, "N J 3 3"],
) -> Float[NumpyArray, "N 3"]:
    """How far the stem's moving joints carry the body beyond their constant offsets."""
    way = np.zeros((len(rotations), 3))
    frame = np.broadcast_to(np.eye(3), (len(rotations), 3, 3))
    for above, joint in pairwise(stem):
        frame = frame @ rotations[:, above]
        if joint in tracks:
            way += (frame @ (tracks[joint] - offsets[joint])[..., None])[..., 0]
        if joint == last:
            break
    return way


def _pointing(
    nodes: list[BvhNode],
    offsets: Float[NumpyArray, "J 3"],
    tracks: dict[int, Float[NumpyArray, "N 3"]],
    rotations: Float[NumpyArray, "N J 3 3"],
) -> Float[NumpyArray, "N J 3 3"]:
    """Rotations with which constant bones point where the moving ones do.

    The joint above turns by the swing S from the mean offset to the offset of the frame, and the
    joint itself by S⁻¹ before its own rotation, so that everything below keeps its orientation.
    """
    parents = [node.parent for node in nodes]
    rotations = rotations.copy()
    for joint, track in tracks.items():
        above, mean = parents[joint], offsets[joint]
        if parents.count(above) > 1 or not np.linalg.norm(mean) > 0:
            continue
        swing = _swings(mean, track)
        rotations[:, above] = rotations[:, above] @ swing
        rotations[:, joint] = np.swapaxes(swing, -1, -2) @ rotations[:, joint]
    return rotations


def _swings(
    mean: Float[NumpyArray, "3"], track: Float[NumpyArray, "N 3"]
) -> Float[NumpyArray, "N 3 3"]:
    """The shortest rotations from one direction to others; none where there is no direction."""
    length = np.linalg.norm(track, axis=1, keepdims=True)
    there = np.where(length > 0, track / np.maximum(length, 1e-300), mean / np.linalg.norm(mean))
    here = np.broadcast_to(mean / np.linalg.norm(mean), there.shape)
    across = np.cross(here, there)
    sine = np.linalg.norm(across, axis=1, keepdims=True)
    angle = np.arctan2(sine, np.sum(here * there, axis=1, keepdims=True))
    return matrix_from_axis_angle(across / np.maximum(sine, 1e-300) * angle)
