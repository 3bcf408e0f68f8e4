"""Writing BVH files."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.formats.bvh_units import unit_length
from corporeal.geometry.rotations import EULER_ORDERS, euler_from_matrix, matrix_from_axis_angle
from corporeal.runtime.files import write_bytes


def write_bvh(
    path: str | Path,
    motion: Motion,
    *,
    order: str = "ZXY",
    unit: str | float = "cm",
    end_sites: Mapping[str, Float[NumpyArray, "3"]] | None = None,
) -> None:
    """Write a motion with y up: 6 channels for the root, 3 for every other joint, in `order`.

    Joints are listed depth first, as the format asks, whatever order the skeleton has.
    `end_sites` (metres, by joint name) close the chains; a joint without children that is not
    among them gets an End Site at itself, because many readers ask for one.
    """
    if order not in EULER_ORDERS:
        raise InputError(f"Euler order {order!r}; expected one of {', '.join(EULER_ORDERS)}.")
    scale = 1.0 / unit_length(unit)
    skeleton, listed = _depth_first(motion.skeleton)
    for name in skeleton.names:
        if name != name.strip() or not name or any(c in name for c in "{}\r\n"):
            raise InputError(
                f"joint name {name!r} cannot be written to BVH: it is empty, has braces or line "
                f"ends, or blanks at its ends. Rename the joint."
            )
    joints = scale * np.asarray(skeleton.joints, np.float64)
    sites = {name: scale * np.asarray(site, np.float64) for name, site in (end_sites or {}).items()}
    root = scale * np.asarray(motion.root_translation, np.float64) + joints[0]
    matrices = matrix_from_axis_angle(np.asarray(motion.joint_rotations, np.float64)[:, listed])
    degrees = np.rad2deg(euler_from_matrix(matrices, order)).reshape(motion.frame_count, -1)
    values = np.concatenate([root, degrees], axis=1)
    row = " ".join(["%.6f"] * values.shape[1])
    lines = [
        "HIERARCHY",
        *_hierarchy_lines(skeleton, joints, order, sites),
        "MOTION",
        f"Frames: {motion.frame_count}",
        f"Frame Time: {1.0 / motion.fps:.10f}",
        *(row % tuple(frame) for frame in values),
    ]
    write_bytes(path, ("\n".join(lines) + "\n").encode())


def _depth_first(skeleton: Skeleton) -> tuple[Skeleton, list[int]]:
    """The skeleton with every branch in one piece, and which joint stands at each place."""
    children: list[list[int]] = [[] for _ in skeleton.parents]
    for index, parent in enumerate(skeleton.parents[1:], start=1):
        children[parent].append(index)
    listed: list[int] = []
    waiting = [0]
    while waiting:
        listed.append(waiting.pop())
        waiting.extend(reversed(children[listed[-1]]))
    place = {joint: index for index, joint in enumerate(listed)} | {-1: -1}
    ordered = Skeleton(
        tuple(skeleton.names[joint] for joint in listed),
        tuple(place[skeleton.parents[joint]] for joint in listed),
        np.asarray(skeleton.joints, np.float64)[listed],
    )
    return ordered, listed


def _hierarchy_lines(
    skeleton: Skeleton,
    joints: Float[NumpyArray, "J 3"],
    order: str,
    end_sites: Mapping[str, Float[NumpyArray, "3"]],
) -> Iterator[str]:
    """The tree of a depth-first skeleton, one statement a line; metres scaled to file units."""
    rotations = " ".join(f"{axis}rotation" for axis in order)
    parents = skeleton.parents
    open_joints: list[int] = []
    for index, (name, parent) in enumerate(zip(skeleton.names, parents, strict=True)):
        while open_joints and open_joints[-1] != parent:
            yield "\t" * (len(open_joints) - 1) + "}"
            open_joints.pop()
        indent = "\t" * len(open_joints)
        yield f"{indent}{'JOINT' if index else 'ROOT'} {name}"
        yield indent + "{"
        offset = joints[index] - (joints[parent] if index else 0.0)
        yield f"{indent}\tOFFSET " + " ".join(f"{value:.6f}" for value in offset)
        positions = "" if index else "Xposition Yposition Zposition "
        yield f"{indent}\tCHANNELS {3 if index else 6} {positions}{rotations}"
        open_joints.append(index)
        if index not in parents:
            site = end_sites.get(name, np.zeros(3))
            yield f"{indent}\tEnd Site"
            yield indent + "\t{"
            yield f"{indent}\t\tOFFSET " + " ".join(f"{value:.6f}" for value in site)
            yield indent + "\t}"
    while open_joints:
        yield "\t" * (len(open_joints) - 1) + "}"
        open_joints.pop()
