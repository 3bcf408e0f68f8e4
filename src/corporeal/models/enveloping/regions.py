"""Where joints may move the skin, and where key angles may correct it (Allen 2006, figure 2).

The paper sketches both by hand, once. Here the first follow from the template's parts, diffused
over the surface; the second are the parts around a joint within a reach.
"""

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.enveloping import DriverKind
from corporeal.body.skeleton import Skeleton
from corporeal.models.enveloping.rig import EnvelopingRig

DRIVERS: tuple[tuple[str, DriverKind], ...] = (
    ("neck", "rotation"), ("collar", "rotation"), ("shoulder", "rotation"), ("elbow", "swing"),
    ("elbow", "twist"), ("spine1", "rotation"), ("spine2", "rotation"), ("spine3", "rotation"),
    ("hip", "rotation"), ("knee", "swing"),
)  # fmt: skip
"""Joints with key angles (figure 2c), by name without the side, and what of them drives."""
REACH = {"neck": 0.20, "collar": 0.28, "shoulder": 0.34, "elbow": 0.30, "hip": 0.40, "knee": 0.40}
"""Metres from the joint to the end of its region, on a body of 1.7 m; 0.28 for the others."""
_OTHER_REACH = 0.28
_STATURE = 1.7
_STEPS = 2
"""Parts so many joints away still belong to a region."""
_LEAST_WEIGHT = 0.005
"""Diffused weight from which a joint may move a vertex."""


def drivers_of(names: tuple[str, ...]) -> list[tuple[int, DriverKind]]:
    """Joint and kind of every driver that a skeleton has; left before right."""
    found: list[tuple[int, DriverKind]] = []
    for name, kind in DRIVERS:
        for full in (name, f"left_{name}", f"right_{name}"):
            if full in names:
                found.append((names.index(full), kind))
    return found


def correction_region(
    joint: int,
    skeleton: Skeleton,
    rest: Float[NumpyArray, "V 3"],
    parts: Int[NumpyArray, "V"],
) -> Int[NumpyArray, "v"]:
    """Vertices that key angles of a joint may move: near it, on parts near it, not on the limbs of
    the other side."""
    name = skeleton.names[joint]
    kind = name.removeprefix("left_").removeprefix("right_")
    scale = float(np.ptp(rest[:, 1])) / _STATURE
    reach = REACH.get(kind, _OTHER_REACH) * scale
    other = {"left": "right_", "right": "left_"}.get(name.split("_")[0], "nobody")
    near = np.array(
        [
            _apart(skeleton.parents, joint, k) <= _STEPS
            and not (skeleton.names[k].startswith(other) and not skeleton.names[k].endswith("hip"))
            for k in range(len(skeleton.names))
        ]
    )
    close = np.linalg.norm(rest - np.asarray(skeleton.joints)[joint], axis=1) < reach
    return np.flatnonzero(near[parts] & close)


def _apart(parents: tuple[int, ...], first: int, second: int) -> int:
    """Joints between two, by the tree."""

    def way(joint: int) -> list[int]:
        found = [joint]
        while parents[found[-1]] >= 0:
            found.append(parents[found[-1]])
        return found

    ups, downs = way(first), way(second)
    meeting = next(k for k in ups if k in downs)
    return ups.index(meeting) + downs.index(meeting)


def first_weights(
    diffused: Float64[NumpyArray, "V J"],
    rig: EnvelopingRig,
    rest: Float[NumpyArray, "V 3"],
) -> tuple[Float64[NumpyArray, "V L"], NumpyArray]:
    """Weights to begin with, and where each influence may reach (V × L, bool).

    The weight of a joint that twists is split by the place u along the bone that follows: no twist
    at its beginning, half in the middle, all at its end.
    """
    count = rig.joint_count
    weights = np.zeros((len(rest), len(rig.parents)))
    kept = np.where(diffused > _LEAST_WEIGHT, diffused, 0.0)
    weights[:, :count] = kept / kept.sum(axis=1, keepdims=True)
    allowed = weights > 0
    joints = np.asarray(rig.layout.joints)
    for joint in sorted(set(rig.helper_joints.tolist())):
        helpers = np.flatnonzero(rig.helper_joints == joint) + count
        below = rig.layout.parents.index(joint)
        bone = joints[below] - joints[joint]
        along = np.clip((rest - joints[joint]) @ bone / (bone @ bone), 0.0, 1.0)
        levels = [*rig.helper_shares[helpers - count].tolist(), 1.0]
        columns = [*helpers.tolist(), joint]
        whole = weights[:, joint].copy()
        for place, column in enumerate(columns):
            hat = np.interp(along, levels, np.eye(len(levels))[place])
            weights[:, column] = whole * hat
            allowed[:, column] = whole > 0
    return weights, allowed
