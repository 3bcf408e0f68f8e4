"""Many poses a person, drawn to cover the ranges of all joints: the multi-pose set.

Every axis of every joint is divided into as many strata as there are poses, and each stratum is
used once (a Latin hypercube), so that few poses cover all ranges. A joint's turns are then kept
within the ellipse of its ranges: at most one axis is at its end. Limbs that would pass through the
body are turned back (`clearance`); the share that is left is noted.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.capture.clearance import capsules_of
from corporeal.capture.person import Person
from corporeal.capture.protocols.protocol import Recording
from corporeal.capture.protocols.standing import a_pose, on_the_ground
from corporeal.capture.seeds import generator
from corporeal.errors import InputError
from corporeal.motions.limits import joint_limits

_REACH: Final = 0.9
"""Share of a joint's range that is used: few people reach its ends."""
_TILT: Final = 0.35
"""Radians that the pelvis tilts at most, forwards and sideways; it turns freely."""
_CURL: Final = 1.0
"""Radians that fingers bend at most, at each joint."""
_SPINE: Final = ("spine1", "spine2", "spine3")
_SPINE_SHARES: Final = np.radians([80.0, 45.0, 35.0])
"""Radians that the spine's joints bend, turn and lean together at most (see `motions.limits`)."""
_FINGERS: Final = ("index", "middle", "ring", "pinky")


@dataclass(frozen=True)
class PosesProtocol:
    """Quasi-static poses; the first is an A-pose."""

    count: int = 45
    """Poses a person."""
    name = "poses"

    def __post_init__(self) -> None:
        if not 1 <= self.count <= 10_000:
            raise InputError(f"{self.count} poses were asked for; expected 1 to 10000.")

    def sequences(self) -> tuple[str, ...]:
        """One sequence, `poses`."""
        return ("poses",)

    def direct(self, person: Person, template: Template, sequence: str, seed: int) -> Recording:
        """An A-pose, then random poses that keep limbs apart, lowest point on the ground."""
        stand = a_pose(person, template)
        drawn = draw_poses(template.skeleton, self.count - 1, generator("poses", seed))
        capsules = capsules_of(template, person.identity)
        rotations, kept = [stand], [1.0]
        for pose in drawn:
            clear, share = capsules.cleared(pose, stand)
            rotations.append(clear)
            kept.append(round(share, 3))
        motion = on_the_ground(sequence, np.stack(rotations), person, template)
        return Recording(motion, moving=False, notes={"share_of_turns_kept": kept})


def draw_poses(
    skeleton: Skeleton, count: int, random: np.random.Generator
) -> Float64[NumpyArray, "N J 3"]:
    """Joint rotations that cover the joints' ranges, radians."""
    low, high = joint_limits(skeleton.names)
    low[0], high[0] = (-_TILT, -np.pi, -_TILT), (_TILT, np.pi, _TILT)
    axes = (skeleton.joint_count, 3)
    strata = np.stack(
        [random.permutation(count) for _ in range(skeleton.joint_count * 3)], axis=1
    ).reshape(count, *axes)
    shares = (strata + random.uniform(size=(count, *axes))) / max(count, 1)
    rotation_vectors = _REACH * (low + (high - low) * shares)
    ends = np.where(rotation_vectors > 0, high, -low)
    reach = np.sqrt(np.sum((rotation_vectors / np.maximum(ends, 1e-9)) ** 2, axis=2, keepdims=True))
    rotation_vectors = rotation_vectors / np.maximum(reach / _REACH, 1.0)
    spine = [skeleton.index(name) for name in _SPINE]
    together = np.abs(rotation_vectors[:, spine].sum(axis=1, keepdims=True))
    rotation_vectors[:, spine] /= np.maximum(together / (_REACH * _SPINE_SHARES), 1.0)
    _relax_fingers(rotation_vectors, skeleton, random)
    return rotation_vectors


def _relax_fingers(
    rotation_vectors: Float64[NumpyArray, "N J 3"], skeleton: Skeleton, random: np.random.Generator
) -> None:
    """Fingers of a hand bend together, by an amount for every pose; thumbs lie beside them."""
    for side, sign in (("left", -1.0), ("right", 1.0)):
        curl = random.uniform(0.0, _CURL, size=len(rotation_vectors))
        for index, name in enumerate(skeleton.names):
            if name.startswith(side) and any(finger in name for finger in (*_FINGERS, "thumb")):
                rotation_vectors[:, index] = 0.0
                if "thumb" not in name:
                    rotation_vectors[:, index, 2] = sign * curl
