"""A motion file of any kind, ready for one person's body."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import numpy as np

from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.formats.amass import read_amass
from corporeal.formats.bvh import read_bvh
from corporeal.formats.native import read_motion
from corporeal.formats.npz import open_npz
from corporeal.motions.flight import check_frame_rate
from corporeal.motions.retarget.feet import feet_of_body
from corporeal.motions.retarget.flanks import arm_clearance
from corporeal.motions.retarget.name_maps import read_name_map
from corporeal.motions.retarget.retarget import Retargeted, retarget

SUFFIXES: Final = (".bvh", ".npz")


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
    up: str = "+y"
    """Upward axis of a BVH file."""
    front: str = "+z"
    """Axis that the body of a BVH file faces at rest."""
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
    """Read a BVH, AMASS or native motion file as a motion of this person.

    BVH and AMASS motions are retargeted: planted feet stay planted, the ground is y = 0. Native
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
        clip = read_bvh(
            path,
            unit=options.unit,
            up=options.up,
            front=options.front,
            first_frame=options.first_frame,
        )
        source, notes = clip.motion, clip.notes
    return fitted_to_body(source, template, identity, options, notes)


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
    notes = (*notes, *result.mended)
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
