"""Which joint of a foreign skeleton plays which joint of the body."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError, InputError
from corporeal.runtime.input_files import read_input

SIDES: Final = ("left", "right")
REQUIRED: Final = ("pelvis", *(f"{s}_{j}" for s in SIDES for j in ("hip", "knee", "ankle")))
"""Joints of the body that a motion must have, so that the body can stand and walk."""

_MAX_BYTES: Final = 1 << 20


@dataclass(frozen=True)
class NameMap:
    """From the body's joints to the joints of a foreign skeleton."""

    name: str
    """Of the naming scheme, for messages."""
    joints: Mapping[str, str]
    """Foreign joint of every body joint that has one, spine and neck aside."""
    spine: tuple[str, ...]
    """Foreign joints above the hips, up to the one that carries the arms; any number."""
    neck: tuple[str, ...]
    """Foreign joints between spine and head; any number."""
    reference: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    """Axis-angle vectors (radians) of foreign joints in the pose that is the body's T-pose, soles
    flat and looking ahead. Joints not named are at rest in it."""

    def require_joints_of(self, skeleton: Skeleton) -> None:
        """Raise `InputError` unless `skeleton` has every foreign joint that is named."""
        named = (*self.joints.values(), *self.spine, *self.neck, *self.reference)
        if missing := sorted(set(named) - set(skeleton.names)):
            raise InputError(
                f"name map {self.name!r} names {', '.join(missing)}, which the motion's skeleton "
                f"lacks; it has {', '.join(skeleton.names)}. Use another map."
            )
        if absent := [joint for joint in REQUIRED if joint not in self.joints]:
            raise InputError(
                f"name map {self.name!r} has nothing for {', '.join(absent)}; expected at least "
                f"{', '.join(REQUIRED)}. Write a map (JSON) that names them."
            )


def _both_sides(pattern: Mapping[str, str]) -> dict[str, str]:
    return {
        f"{side}_{joint}": name.format(side=side.capitalize())
        for joint, name in pattern.items()
        for side in SIDES
    }


def _degrees(*angles: float | int) -> tuple[float, float, float]:
    x, y, z = (math.radians(angle) for angle in angles)
    return x, y, z


CMU: Final = NameMap(
    name="cmu",
    joints={"pelvis": "Hips", "head": "Head"}
    | _both_sides(
        {
            "hip": "{side}UpLeg",
            "knee": "{side}Leg",
            "ankle": "{side}Foot",
            "foot": "{side}ToeBase",
            "collar": "{side}Shoulder",
            "shoulder": "{side}Arm",
            "elbow": "{side}ForeArm",
            "wrist": "{side}Hand",
        }
    ),
    spine=("LowerBack", "Spine", "Spine1"),
    neck=("Neck", "Neck1"),
    # The T-pose that the MotionBuilder-friendly release puts before every capture: the rest
    # offsets have splayed legs. Fingers and thumbs carry no data and are left out above.
    reference={
        "LeftUpLeg": _degrees(0, 0, -21),
        "RightUpLeg": _degrees(0, 0, 21),
        "LeftArm": _degrees(0, 0, -8),
        "RightArm": _degrees(0, 0, 8),
        "Neck": _degrees(-16, 0, 0),
        "Neck1": _degrees(21, 0, 0),
        "Head": _degrees(11, 0, 0),
    },
)
"""The Carnegie Mellon captures in the MotionBuilder-friendly BVH release."""


def body_map(skeleton: Skeleton) -> NameMap:
    """The map of a skeleton that has the body's own names, such as an AMASS motion."""
    chains = ("spine1", "spine2", "spine3", "neck")
    return NameMap(
        name="smpl",
        joints={name: name for name in skeleton.names if name not in chains},
        spine=tuple(name for name in chains[:3] if name in skeleton.names),
        neck=tuple(name for name in chains[3:] if name in skeleton.names),
    )


def read_name_map(path: str | Path) -> NameMap:
    """Read a map from JSON: `joints` (body joint → foreign joint), and optionally `spine` and
    `neck` (lists of foreign joints) and `reference_deg` (foreign joint → axis-angle, degrees)."""
    path = Path(path)
    content = read_input(path, at_most=_MAX_BYTES)
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is no JSON ({error}). Correct it.") from error
    known = {"joints", "spine", "neck", "reference_deg"}
    if not isinstance(data, dict) or "joints" not in data or set(data) - known:
        keys = sorted(data) if isinstance(data, dict) else type(data).__name__
        raise FormatError(f"{path} holds {keys}; expected an object with keys {sorted(known)}.")
    return NameMap(
        name=path.stem,
        joints=_strings(path, data["joints"]),
        spine=_names(path, data.get("spine", [])),
        neck=_names(path, data.get("neck", [])),
        reference=_vectors(path, data.get("reference_deg", {})),
    )


def _strings(path: Path, value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        raise FormatError(f"{path}: 'joints' is {value!r:.60}; expected names by body joint.")
    return {str(key): str(name) for key, name in value.items()}


def _names(path: Path, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise FormatError(f"{path}: a chain is {value!r:.60}; expected a list of joint names.")
    return tuple(str(name) for name in value)


def _vectors(path: Path, value: object) -> dict[str, tuple[float, float, float]]:
    fits = isinstance(value, dict) and all(
        isinstance(v, list)
        and len(v) == 3
        and all(isinstance(x, int | float) and abs(x) < 1e6 for x in v)
        for v in value.values()
    )
    if not isinstance(value, dict) or not fits:
        raise FormatError(f"{path}: 'reference_deg' is {value!r:.60}; expected three numbers each.")
    return {str(key): _degrees(*vector) for key, vector in value.items()}
