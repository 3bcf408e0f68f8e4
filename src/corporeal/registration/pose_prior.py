"""What poses are likely: a Gaussian a joint, and the joints' limits (Pons-Moll 2015, eq. 7).

    E_θ = Σ_j ‖(log R_j − μ_j)/τ_j‖² + Σ_j ‖excess of log R_j over its limits / 0.1‖²
        + Σ_s ‖log R_s − log R_s+1‖²/0.05² + Σ_l (c_l τ_l/σ_l)²

Spreads τ cover the poses of the motion library and everyday ones (standing, sitting, arms raised);
limits are those of `motions.limits`, but forearms may twist at the elbow. The spine s bends evenly
over its joints. The root turns freely. Where skin alone would have to tell how far a straight limb
l is turned about its own length (`with_straight_twists`), its twist τ_l is held by a spread σ_l,
less so as the joint beyond it bends (c_l, the cosine of the bend, 0 from a right angle on).
"""

import itertools
import re
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.body.twists import twist_angles, twist_slopes
from corporeal.geometry.rotations import axis_angle_from_matrix, logarithm_derivative
from corporeal.motions.limits import joint_limits

_LIKELY = {
    # joint: mean and spread about x, y and z on the left side, radians
    "pelvis": ((0.0, 0.0, 0.0), (1e3, 1e3, 1e3)),
    "hip": ((-0.15, 0.0, 0.0), (0.6, 0.3, 0.3)),
    "knee": ((0.25, 0.0, 0.0), (0.6, 0.06, 0.06)),
    "ankle": ((0.0, 0.0, 0.0), (0.3, 0.2, 0.15)),
    "foot": ((0.0, 0.0, 0.0), (0.15, 0.05, 0.05)),
    "spine": ((0.05, 0.0, 0.0), (0.12, 0.07, 0.07)),
    "neck": ((0.0, 0.0, 0.0), (0.2, 0.2, 0.15)),
    "head": ((0.0, 0.0, 0.0), (0.2, 0.2, 0.15)),
    "collar": ((0.0, 0.0, 0.0), (0.06, 0.15, 0.15)),
    "shoulder": ((0.0, 0.0, -0.5), (0.5, 0.6, 0.7)),
    "elbow": ((0.0, -0.3, 0.0), (0.2, 0.6, 0.12)),
    "wrist": ((0.0, 0.0, 0.0), (0.3, 0.25, 0.3)),
    "thumb": ((0.0, 0.0, 0.0), (0.15, 0.15, 0.2)),
    "finger": ((0.0, 0.0, -0.2), (0.06, 0.12, 0.4)),
}
_TWIST = 1.2
"""Radians that a forearm twists either way."""
EVENLY = 0.05
"""Radians by which neighbours of the spine are likely to differ."""
TWISTED = 0.15
"""σ_l: turn of a straight arm about its own length that is likely, radians."""
_BEYOND = 0.1
"""Radians past a limit that count as one standard deviation."""


class StraightTwist(NamedTuple):
    """A joint whose turn about the bone that it moves is held, a straight limb's most."""

    joint: int
    """Whose turn it is."""
    bend: int | None
    """The joint at the bone's end, whose bend tells the turn; where none does it is always held."""
    axis: tuple[float, float, float]
    """Of the bone in the zero pose, unit."""


@dataclass(frozen=True)
class PosePrior:
    """Of one skeleton."""

    mean: Float64[NumpyArray, "J 3"]
    """μ, radians."""
    spread: Float64[NumpyArray, "J 3"]
    """τ, radians."""
    low: Float64[NumpyArray, "J 3"]
    """Least turns, radians."""
    high: Float64[NumpyArray, "J 3"]
    """Greatest turns, radians."""
    alike: tuple[tuple[int, int], ...] = ()
    """Neighbours that bend alike: the spine's joints."""
    twists: tuple[StraightTwist, ...] = ()
    """Straight limbs whose turn about their length is held."""

    def excess(self, vectors: Float64[NumpyArray, "J 3"]) -> Float64[NumpyArray, "J 3"]:
        """How far rotation vectors are past their limits, signed, radians; the root never is."""
        over = np.maximum(vectors - self.high, 0.0) + np.minimum(vectors - self.low, 0.0)
        over[0] = 0.0
        return over

    def energy(self, pose: RotationPose) -> float:
        """E_θ: squares of standard deviations."""
        vectors = axis_angle_from_matrix(pose.rotations)
        gauss = np.sum(((vectors - self.mean) / self.spread) ** 2)
        apart = sum(
            float(np.sum((vectors[a] - vectors[b]) ** 2)) / EVENLY**2 for a, b in self.alike
        )
        held = [_held(one, pose.rotations) for one in self.twists]
        turned = sum(stiff * twist**2 for twist, stiff, _ in held)
        return float(gauss + apart + turned + np.sum((self.excess(vectors) / _BEYOND) ** 2))

    def add_to(
        self,
        matrix: Float64[NumpyArray, "P P"],
        right: Float64[NumpyArray, "P"],
        pose: RotationPose,
        frames: Float64[NumpyArray, "J 3 3"],
        start: int,
        weight: float,
        straight: float = 1.0,
    ) -> None:
        """Add ½ weight E_θ to normal equations whose rotations (world axes) begin at `start`.

        `frames` are the world rotations of the joints' parents; twists of straight limbs count
        `straight` times.
        """
        vectors = axis_angle_from_matrix(pose.rotations)
        over = self.excess(vectors)
        stiff = 1.0 / self.spread**2 + (over != 0) / _BEYOND**2
        pull = (vectors - self.mean) / self.spread**2 + over / _BEYOND**2
        # ∂log R/∂δ = S Pᵀ, δ the turn in the world's axes
        slopes = logarithm_derivative(vectors) @ np.swapaxes(frames, 1, 2)
        for joint, slope in enumerate(slopes):
            place = slice(start + 3 * joint, start + 3 * joint + 3)
            matrix[place, place] += weight * slope.T @ (stiff[joint][:, None] * slope)
            right[place] -= weight * slope.T @ pull[joint]
        for a, b in self.alike:
            row = np.zeros((3, len(right)))
            row[:, start + 3 * a : start + 3 * a + 3] = slopes[a]
            row[:, start + 3 * b : start + 3 * b + 3] = -slopes[b]
            matrix += (weight / EVENLY**2) * row.T @ row
            right -= (weight / EVENLY**2) * row.T @ (vectors[a] - vectors[b])
        for one in self.twists:
            twist, stiff, slope = _held(one, pose.rotations)
            slope = frames[one.joint] @ slope
            place = slice(start + 3 * one.joint, start + 3 * one.joint + 3)
            stiff *= straight * weight
            matrix[place, place] += stiff * np.outer(slope, slope)
            right[place] -= stiff * twist * slope


@cache
def pose_prior(names: tuple[str, ...]) -> PosePrior:
    """The prior of joints by their names."""
    rows = np.array([_LIKELY[_kind(name)] for name in names], np.float64)
    mirrored = np.array([name.startswith("right_") for name in names])[:, None]
    mean = np.where(mirrored & np.array([False, True, True]), -rows[:, 0], rows[:, 0])
    low, high = joint_limits(names)
    for joint, name in enumerate(names):
        if name.endswith("_elbow"):
            # forearms twist; the motions' table leaves that to the wrist
            low[joint, 0], high[joint, 0] = -_TWIST, _TWIST
    spine = [names.index(name) for name in ("spine1", "spine2", "spine3") if name in names]
    return PosePrior(mean, rows[:, 1], low, high, tuple(itertools.pairwise(spine)))


def _held(
    one: StraightTwist, rotations: Float64[NumpyArray, "J 3 3"]
) -> tuple[float, float, Float64[NumpyArray, "3"]]:
    """τ, (c/σ)², which is held during a step, and ∂τ by a turn in the parent's axes."""
    axis = np.array(one.axis)
    cosine = 1.0 if one.bend is None else max(float(axis @ rotations[one.bend] @ axis), 0.0)
    turn = rotations[one.joint]
    return float(twist_angles(turn, axis)), (cosine / TWISTED) ** 2, twist_slopes(turn, axis)


def with_straight_twists(
    prior: PosePrior, names: tuple[str, ...], joints: Float64[NumpyArray, "J 3"]
) -> PosePrior:
    """The prior with the turns of straight arms held; `joints` in the zero pose, metres.

    Upper arms are told by the bend of the elbow; forearms turn at the wrist, as motions have it.
    """
    held = []
    for side in ("left", "right"):
        shoulder, elbow, wrist = (
            names.index(f"{side}_{joint}") for joint in ("shoulder", "elbow", "wrist")
        )
        for joint, end, bend in ((shoulder, elbow, elbow), (elbow, wrist, None)):
            bone = joints[end] - joints[joint]
            x, y, z = (bone / np.linalg.norm(bone)).tolist()
            held.append(StraightTwist(joint, bend, (x, y, z)))
    return replace(prior, twists=tuple(held))


def _kind(name: str) -> str:
    stem = re.sub(r"^(left|right)_|\d+$", "", name)
    return "finger" if stem in ("index", "middle", "ring", "pinky") else stem
