"""Poses of the person's own: a few keys, each a turn a joint within its limits, and the motion that
goes from one to the next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.motions.limits import joint_limits
from corporeal.motions.resample import sampled
from corporeal.skinning.kinematics import forward_kinematics
from corporeal.viewer.messages import is_number

POSES = "own-poses"
"""Name of the motion that the keys make."""
MOST_KEYS = 64
LEAST_SECONDS = 2.0
"""Of the motion; one key is a still of this length."""
MOST_SECONDS = 120.0
_SLACK = 1e-3
"""Radians past a limit that are rounding."""

Turn = tuple[float, float, float]
"""Rotation vector of a joint, radians."""


@dataclass(frozen=True)
class Key:
    """One pose at one time."""

    seconds: float = 0.0
    """From the beginning."""
    turns: Mapping[str, Turn] = field(default_factory=dict)
    """Rotation vectors by joint, radians; those not named are not turned."""


@cache
def turn_limits() -> dict[str, tuple[Turn, Turn]]:
    """Least and greatest turn of every joint about x, y and z, radians."""
    names = load_default_body().template.skeleton.names
    low, high = joint_limits(names)
    return {name: (_turn(low[j]), _turn(high[j])) for j, name in enumerate(names)}


def read_keys(plain: Any) -> tuple[Key, ...]:
    """Checked keys of plain values, in the order of time."""
    if not isinstance(plain, list | tuple) or len(plain) > MOST_KEYS:
        raise InputError(f"the keys are no list of at most {MOST_KEYS} poses.")
    keys = sorted((_key(row) for row in plain), key=lambda key: key.seconds)
    times = [key.seconds for key in keys]
    if any(after - before < 0.02 for before, after in pairwise(times)):
        raise InputError("two keys are at the same time; move one of them.")
    return tuple(keys)


def _key(row: Any) -> Key:
    if not isinstance(row, dict) or set(row) - {"seconds", "turns"}:
        raise InputError(f"a key is {str(row)[:60]!r}; expected seconds and turns.")
    seconds, turns = row.get("seconds", 0.0), row.get("turns", {})
    if not is_number(seconds) or not 0.0 <= seconds <= MOST_SECONDS:
        raise InputError(f"a key is at {str(seconds)[:40]!r} s; expected 0 to {MOST_SECONDS:g}.")
    if not isinstance(turns, dict):
        raise InputError(f"a key's turns are {type(turns).__name__}; expected them by joint.")
    return Key(float(seconds), {name: _checked(name, turn) for name, turn in turns.items()})


def _checked(joint: str, turn: Any) -> Turn:
    limits = turn_limits()
    if joint not in limits:
        raise InputError(f"there is no joint {joint[:60]!r} to be turned.")
    if not isinstance(turn, list | tuple) or len(turn) != 3 or not all(map(is_number, turn)):
        raise InputError(f"{joint} is turned by {str(turn)[:60]}; expected three numbers, radians.")
    low, high = limits[joint]
    for axis, value, least, most in zip("xyz", turn, low, high, strict=True):
        if not least - _SLACK <= value <= most + _SLACK:
            raise InputError(
                f"{joint} is turned by {np.degrees(value):.0f}° about {axis}; it goes from "
                f"{np.degrees(least):.0f}° to {np.degrees(most):.0f}°."
            )
    return _turn(turn)


def posed(keys: Sequence[Key], identity: Identity, template: Template, fps: float) -> Motion:
    """The motion through the keys: joints turn on the shortest way, slowly away from a key and
    slowly into the next; the lowest joint stays as high over the floor as it is at rest."""
    keys = keys or (Key(),)
    names = template.skeleton.names
    rotations = np.array([[key.turns.get(name, (0.0, 0.0, 0.0)) for name in names] for key in keys])
    joints = np.asarray(identity.joints, np.float64)
    roots = np.zeros((len(keys), 3))
    roots[:, 1] = [_sunk(row, joints, template) for row in rotations]
    few = Motion(POSES, fps, rotations, roots, template.skeleton)
    times = np.array([key.seconds for key in keys])
    count = round(max(times[-1], LEAST_SECONDS) * fps) + 1
    return sampled(few, eased(np.arange(count) / fps, times), fps)


def eased(
    moments: Float64[NumpyArray, "N"], times: Float64[NumpyArray, "K"]
) -> Float64[NumpyArray, "N"]:
    """Places between keys at `times`, counted in keys: n + 3 x² − 2 x³ of the way x to the next."""
    places = np.interp(moments, times, np.arange(len(times)))
    share = places - np.floor(places)
    return np.floor(places) + share * share * (3.0 - 2.0 * share)


def taken(pose: Pose, template: Template) -> dict[str, Turn]:
    """The turns of a pose, drawn into the joints' limits; joints that are not turned are left
    out."""
    low, high = joint_limits(template.skeleton.names)
    inside = np.clip(np.asarray(pose.joint_rotations, np.float64), low, high)
    return {
        name: _turn(turn)
        for name, turn in zip(template.skeleton.names, inside, strict=True)
        if np.abs(turn).max() > 1e-6
    }


def _sunk(
    rotations: Float64[NumpyArray, "J 3"], joints: Float64[NumpyArray, "J 3"], template: Template
) -> float:
    """How far the root goes up so that the lowest joint is where it is at rest, metres."""
    frames = forward_kinematics(rotations, joints, template.skeleton.parents, np.zeros(3))
    return float(joints[:, 1].min() - frames[:, 1, 3].min())


def _turn(numbers: Any) -> Turn:
    x, y, z = (float(number) for number in numbers)
    return x, y, z
