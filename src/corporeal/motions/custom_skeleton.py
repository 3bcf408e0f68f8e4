"""Any motion for a skeleton of the user's own: by joint names, else through a human body.

- The motion has the skeleton's joint names: it is carried over by name (`transfer`).
- Both are human: the motion is made for, or retargeted to, a T-pose body with the bone lengths of
  the skeleton, and carried over from there. So planted feet stay planted on a skeleton that has
  the body's joint names; on others, bones differ in length and feet may slide.
- Else it is refused.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.formats.native import read_motion
from corporeal.motions.incoming import CAPTURES, IncomingOptions, is_native_motion, read_capture
from corporeal.motions.retarget.guess import name_map_for
from corporeal.motions.retarget.name_maps import NameMap, read_name_map
from corporeal.motions.retarget.retarget import retarget
from corporeal.motions.transfer import Transferred, posed_like, same_names, size_ratio, transfer

_LEAST_SHARED: Final = 0.5
"""Share of a skeleton's joints that a motion must name to be taken by names."""
_UPRIGHT: Final = 0.7
"""Least cosine between a person's trunk at rest and the vertical."""
_TURN_TOLD: Final = 0.05
"""Radians between rest poses from which on the difference is told."""


@dataclass(frozen=True)
class CustomMotion:
    """A motion of the skeleton, and how it came, in words."""

    motion: Motion
    """Of the user's own skeleton."""
    notes: tuple[str, ...]
    """How joints were found, and what stays at rest."""


@dataclass(frozen=True)
class HumanForm:
    """A skeleton seen as a human body: a T-pose body, and whose joints move which."""

    body: Skeleton
    """The default body's joints and names, with the skeleton's size."""
    partners: dict[str, str]
    """Joint of that body, by the skeleton's names."""


def motion_from_file(
    path: str | Path, skeleton: Skeleton, default_body: Skeleton, options: IncomingOptions
) -> CustomMotion:
    """Read a BVH, AMASS or native motion as a motion of `skeleton`.

    `default_body` is the skeleton of the default body, for motions that come by way of a person.
    """
    path = Path(path)
    source = _named_source(path, options)
    by_name = None if source is None else _by_name(source, skeleton, path.name)
    if by_name is not None:
        return by_name
    return by_way_of_a_person(
        skeleton, default_body, lambda body: _humanly(path, source, body, options)
    )


def motion_from_memory(
    source: Motion, skeleton: Skeleton, default_body: Skeleton, options: IncomingOptions
) -> CustomMotion:
    """A motion of another skeleton (metres, y up) as a motion of `skeleton`."""
    by_name = _by_name(source, skeleton, source.name)
    if by_name is not None:
        return by_name
    _require_human(source.name, source.skeleton, options)
    return by_way_of_a_person(
        skeleton, default_body, lambda body: _retargeted(source, body, options, ())
    )


def _by_name(source: Motion, skeleton: Skeleton, name: str) -> CustomMotion | None:
    """The motion carried over by joint names; None where too few are shared."""
    shared = same_names(skeleton, source.skeleton)
    if skeleton.names[0] in shared and len(shared) >= _LEAST_SHARED * skeleton.joint_count:
        return _report(transfer(source, skeleton, shared), name)
    return None


def by_way_of_a_person(
    skeleton: Skeleton, default_body: Skeleton, make: Callable[[Skeleton], CustomMotion]
) -> CustomMotion:
    """What `make` gives for a body of the skeleton's form, carried over to the skeleton."""
    form = human_form(skeleton, default_body)
    made = make(form.body)
    result = transfer(made.motion, skeleton, form.partners)
    way = "by way of a human body with its bone lengths"
    if set(form.body.names) != set(skeleton.names):
        way = f"by way of a human body: {len(result.matched)} joints matched, feet may slide"
    return CustomMotion(result.motion, (*made.notes, way))


def human_form(skeleton: Skeleton, default_body: Skeleton) -> HumanForm:
    """The skeleton as a human body; raises `InputError` if it is none."""
    if set(default_body.names) <= set(skeleton.names):
        partners = {name: name for name in default_body.names}
        posed = posed_like(skeleton, default_body, partners)
        order = [posed.index(name) for name in default_body.names]
        joints = _standing(np.asarray(posed.joints)[order], default_body)
        return HumanForm(replace(default_body, joints=joints), partners)
    names = _human_names(skeleton)
    partners = _partners(names)
    scale = size_ratio(default_body, skeleton, {b: own for own, b in partners.items()})
    joints = np.asarray(default_body.joints, np.float64) / scale
    return HumanForm(replace(default_body, joints=joints), partners)


def _human_names(skeleton: Skeleton) -> NameMap:
    unnamed = f"the motion does not name the joints of the skeleton ({_some(skeleton)}), and the"
    try:
        names = name_map_for(skeleton)
    except InputError as error:
        raise InputError(
            f"{unnamed} skeleton is not human: its joint names tell no legs. Give a motion with "
            f"the skeleton's joint names."
        ) from error
    joints = np.asarray(skeleton.joints, np.float64)
    top = names.joints.get("head", names.joints.get("left_shoulder", names.joints["pelvis"]))
    trunk = joints[skeleton.index(top)] - joints[skeleton.index(names.joints["pelvis"])]
    if not trunk[1] > _UPRIGHT * np.linalg.norm(trunk):
        raise InputError(
            f"{unnamed} skeleton is not human: its trunk does not stand upright at rest. Give a "
            f"motion with the skeleton's joint names."
        )
    return names


def _partners(names: NameMap) -> dict[str, str]:
    """Body joint by the skeleton's name; chains of other lengths are spread over the body's."""
    partners = {own: body for body, own in names.joints.items()}
    for chain, body in ((names.spine, ("spine1", "spine2", "spine3")), (names.neck, ("neck",))):
        for place, own in enumerate(chain):
            partners[own] = body[min(place * len(body) // len(chain), len(body) - 1)]
    return partners


def _standing(joints: Any, default_body: Skeleton) -> Any:
    """Joints of a body that stands on y = 0, its ankles as high as the default body's in scale."""
    rest = np.asarray(default_body.joints, np.float64)
    ankles = [default_body.index(f"{side}_ankle") for side in ("left", "right")]
    hips = [default_body.index(f"{side}_hip") for side in ("left", "right")]
    legs = [float(np.mean(p[hips, 1] - p[ankles, 1])) for p in (joints, rest)]
    height = rest[ankles, 1].mean() * legs[0] / legs[1]
    return joints + np.array([0.0, height - joints[ankles, 1].mean(), 0.0])


def _named_source(path: Path, options: IncomingOptions) -> Motion | None:
    """The motion as the file names its joints, bones in file units; None for AMASS poses."""
    if path.suffix.lower() in CAPTURES:
        return read_capture(path, options, unit=1.0)[0]
    return read_motion(path) if is_native_motion(path) else None


def _humanly(
    path: Path, source: Motion | None, body: Skeleton, options: IncomingOptions
) -> CustomMotion:
    if source is None:
        from corporeal.formats.amass import read_amass

        reading = read_amass(path, body)
        source, notes = reading.motion, reading.notes
    else:
        notes = ()
        _require_human(path, source.skeleton, options)
        if path.suffix.lower() in CAPTURES:
            source, notes = read_capture(path, options)
    return _retargeted(source, body, options, notes)


def _retargeted(
    source: Motion, body: Skeleton, options: IncomingOptions, notes: tuple[str, ...]
) -> CustomMotion:
    names = None if options.name_map is None else read_name_map(options.name_map)
    result = retarget(source, body, names=names, girdle=options.girdle, raw=options.raw)
    return CustomMotion(result.motion, (*notes, *result.notes))


def _require_human(path: str | Path, skeleton: Skeleton, options: IncomingOptions) -> None:
    if options.name_map is not None:
        return
    try:
        name_map_for(skeleton)
    except InputError as error:
        raise InputError(
            f"{path} moves {_some(skeleton)}, which are not the joints of the skeleton and no "
            f"person's. Give a motion with the skeleton's joint names, or a human one."
        ) from error


def _report(result: Transferred, name: str) -> CustomMotion:
    count = len(result.matched) + len(result.unmatched)
    notes = [f"{len(result.matched)} of {count} joints matched by name"]
    if result.unmatched:
        still = ", ".join(result.unmatched[:4]) + (", …" if len(result.unmatched) > 4 else "")
        notes[0] += f"; {still} follow{'s' if len(result.unmatched) == 1 else ''} the joint above"
    notes.append(f"its lengths are multiplied by {result.scale:.4g}, the ratio of bone lengths")
    if result.largest_turn > _TURN_TOLD:
        degrees = np.rad2deg(result.largest_turn)
        notes.append(f"rest poses differ by up to {degrees:.0f}°; bones point as in {name}")
    return CustomMotion(result.motion, tuple(notes))


def _some(skeleton: Skeleton) -> str:
    names = ", ".join(skeleton.names[:4])
    return f"{names}{', …' if skeleton.joint_count > 4 else ''}"
