"""A motion file of any kind, ready for one person's body."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Final, Literal

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.formats.amass import read_amass
from corporeal.formats.bvh import BvhReading, read_bvh
from corporeal.formats.bvh_units import axis_rotation, usual_front
from corporeal.formats.native import read_motion
from corporeal.formats.npz import open_npz
from corporeal.formats.rig_motion import RigReading
from corporeal.motions.derivatives import world_frames
from corporeal.motions.flight import check_frame_rate
from corporeal.motions.retarget.feet import feet_of_body
from corporeal.motions.retarget.flanks import arm_clearance
from corporeal.motions.retarget.guess import name_map_for
from corporeal.motions.retarget.name_maps import SIDES, NameMap, read_name_map
from corporeal.motions.retarget.retarget import Retargeted, retarget
from corporeal.motions.retarget.upright import AXES, find_up, height_along

RIGS: Final = {
    ".glb": "corporeal.formats.glb_motion:read_glb_motion",
    ".fbx": "corporeal.formats.fbx_read:read_fbx_motion",
    ".usd": "corporeal.formats.usd_read:read_usd_motion",
    ".usdc": "corporeal.formats.usd_read:read_usd_motion",
    ".usda": "corporeal.formats.usd_read:read_usd_motion",
}
"""Readers of motions with rigs, by suffix; imported when asked for."""
CAPTURES: Final = (".bvh", *RIGS)
SUFFIXES: Final = (*CAPTURES, ".npz")
_START_FRAMES: Final = 10
"""Frames over which the facing at the start is taken."""


@dataclass(frozen=True)
class IncomingOptions:
    """How to read what the file itself does not say."""

    girdle: bool = True
    """Let collars that the capture leaves still go with the arms."""
    raw: bool = False
    """Copy rotations and root translation by joint name, and touch nothing."""
    name_map: Path | None = None
    """A JSON name map; None finds one from the joint names."""
    unit: str | float = "auto"
    """Unit of a BVH file, or metres a unit."""
    up: str = "auto"
    """Upward axis of a capture, such as `+z`; `auto` finds it from the motion."""
    front: str = "auto"
    """Axis of a capture that becomes +z; `auto` is +z with y up and -y with z up."""
    first_frame: Literal["auto", "keep", "drop"] = "auto"
    """What to do with the first frame of a BVH file, which is often an added T-pose."""


@dataclass(frozen=True)
class IncomingMotion:
    """A motion of the body, and everything worth telling about how it came."""

    motion: Motion
    """Of the body's own skeleton, metres, y up."""
    source: Motion
    """As the file has it, in metres, y up."""
    retargeted: Retargeted | None
    """None for a motion that was already the body's own."""
    notes: tuple[str, ...]
    """What was guessed, converted or left out, in words."""
    facts: Mapping[str, str | float | int] = field(default_factory=dict)
    """Figures for a report: scale, contacts, how far the pelvis sank."""


def motion_for_body(
    path: str | Path,
    template: Template,
    identity: Identity,
    options: IncomingOptions | None = None,
) -> IncomingMotion:
    """Read a motion file (BVH, FBX, GLB, USD, AMASS or native) as a motion of this person.

    All but native motions are retargeted: planted feet stay planted, the ground is y = 0. Native
    motions are taken as they are.
    """
    path, options = Path(path), options or IncomingOptions()
    rest = template.skeleton
    skeleton = Skeleton(rest.names, rest.parents, np.asarray(identity.joints, np.float64))
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path} has the suffix {suffix!r}; expected {' or '.join(SUFFIXES)}.")
    if suffix == ".npz" and is_native_motion(path):
        motion = _native(path, skeleton)
        return IncomingMotion(motion, motion, None, ())
    if suffix == ".npz":
        reading = read_amass(path, skeleton)
        source, notes = reading.motion, reading.notes
    else:
        source, notes = read_capture(path, options)
    return fitted_to_body(source, template, identity, options, notes)


def read_capture(
    path: str | Path, options: IncomingOptions, unit: str | float | None = None
) -> tuple[Motion, tuple[str, ...]]:
    """A capture file in metres, y up, and how it was read.

    Its upward axis is found from the motion unless it is told; of a skeleton that is no person's
    it is taken as y. `unit` takes the place of the one that `options` names.
    """
    unit, suffix = options.unit if unit is None else unit, Path(path).suffix.lower()
    if suffix in RIGS:
        module, name = RIGS[suffix].split(":")
        clip: BvhReading | RigReading = getattr(import_module(module), name)(path, unit)
    else:
        clip = read_bvh(path, unit=unit, first_frame=options.first_frame)
    motion, note = upright_motion(clip.motion, options)
    return motion, (*clip.notes, *note)


def upright_motion(motion: Motion, options: IncomingOptions) -> tuple[Motion, tuple[str, ...]]:
    """The motion with y up, and which axis was up."""
    try:
        names = _names(motion.skeleton, options)
    except InputError:  # no person: nothing tells
        names = None
    up, because = options.up, "as told"
    if up == "auto" and names is None:
        up, because = "+y", "as in most files"
    elif up == "auto" and names is not None:
        found = find_up(motion, names)
        up, because = found.axis, found.because
    front = usual_front(up) if options.front == "auto" else options.front
    axes = axis_rotation(up, front)
    if not np.array_equal(axes, np.eye(3)):
        motion = turned_motion(motion, axes)
    if names is None:
        return motion, () if up == "+y" else (f"{up} is up ({because})",)
    return motion, (f"{up} is up ({because}); {_facing(motion, names, axes)}",)


def turned_motion(motion: Motion, axes: Float[NumpyArray, "3 3"]) -> Motion:
    """The same motion in other axes: everything turns like any vector."""
    joints = np.asarray(motion.skeleton.joints, np.float64) @ axes.T
    return replace(
        motion,
        joint_rotations=np.asarray(motion.joint_rotations, np.float64) @ axes.T,
        root_translation=np.asarray(motion.root_translation, np.float64) @ axes.T,
        skeleton=replace(motion.skeleton, joints=joints),
    )


def _names(skeleton: Skeleton, options: IncomingOptions) -> NameMap:
    names = name_map_for(skeleton) if options.name_map is None else read_name_map(options.name_map)
    names.require_joints_of(skeleton)
    return names


def _facing(motion: Motion, names: NameMap, axes: Float[NumpyArray, "3 3"]) -> str:
    """Which of the file's axes the body faces in its first frames."""
    hips = [motion.skeleton.index(names.joints[f"{side}_hip"]) for side in SIDES]
    start = replace(
        motion,
        joint_rotations=motion.joint_rotations[:_START_FRAMES],
        root_translation=motion.root_translation[:_START_FRAMES],
    )
    left, right = world_frames(start)[..., :3, 3][:, hips].mean(axis=0)
    front = axes.T @ np.cross(left - right, [0.0, 1.0, 0.0])
    nearest = max(AXES, key=lambda axis: float(height_along(axis) @ front))
    return f"the body faces {nearest} at the start"


def fitted_to_body(
    source: Motion,
    template: Template,
    identity: Identity,
    options: IncomingOptions | None = None,
    notes: tuple[str, ...] = (),
) -> IncomingMotion:
    """Retarget a motion of any human skeleton (metres, y up) to this person.

    `notes` is what reading it had to tell.
    """
    options, rest = options or IncomingOptions(), template.skeleton
    skeleton = Skeleton(rest.names, rest.parents, np.asarray(identity.joints, np.float64))
    names = None if options.name_map is None else read_name_map(options.name_map)
    feet = feet_of_body(template, identity)
    clearance = arm_clearance(template, identity)
    result = retarget(
        source,
        skeleton,
        names=names,
        feet=feet,
        arm_clearance=clearance,
        girdle=options.girdle,
        raw=options.raw,
    )
    notes = (*notes, *result.notes)
    rate = check_frame_rate(source, result.names)
    if rate.verdict == "differs":
        notes = (*notes, f"frame rate in doubt: {rate.words}")
    return IncomingMotion(result.motion, source, result, notes, _facts(result, rate.words))


def is_native_motion(path: Path) -> bool:
    """Whether an `.npz` file is one of our own."""
    with open_npz(path, object_arrays="skip") as file:
        return "format" in file.headers


def _native(path: Path, skeleton: Skeleton) -> Motion:
    motion = read_motion(path)
    if motion.skeleton.names != skeleton.names:
        raise InputError(
            f"{path} moves {motion.skeleton.joint_count} joints "
            f"({', '.join(motion.skeleton.names[:3])}, …) and the body has {skeleton.joint_count} "
            f"({', '.join(skeleton.names[:3])}, …); expected the same joints. Write it as BVH and "
            f"retarget that."
        )
    return motion


def _facts(result: Retargeted, rate_words: str) -> dict[str, str | float | int]:
    facts: dict[str, str | float | int] = {
        "name_map": result.names.name,
        "leg_length_ratio": round(result.scale, 4),
        "frame_rate_check": rate_words,
    }
    if result.contacts is not None:
        facts["girdle"] = " and ".join(result.girdle) or "as captured"
        facts["pelvis_lowered_by_m"] = round(result.sinking, 4)
        facts["planted_share"] = round(
            float(np.mean([(foot.heel | foot.ball).mean() for foot in result.contacts])), 3
        )
    return facts
