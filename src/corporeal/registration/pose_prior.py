"""What poses are likely: a Gaussian a joint, and the joints' limits (Pons-Moll 2015, eq. 7).

    E_θ = Σ_j ‖(log R_j − μ_j)/τ_j‖² + Σ_j ‖excess of log R_j over its limits / 0.1‖²
        + Σ_s ‖log R_s − log R_s+1‖²/0.05²

Spreads τ cover the poses of the motion library and everyday ones (standing, sitting, arms raised);
limits are those of `motions.limits`, but forearms may twist at the elbow. The spine s bends evenly
over its joints. The root turns freely.
"""

import itertools
import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.pose import RotationPose
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
_BEYOND = 0.1
"""Radians past a limit that count as one standard deviation."""


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
        return float(gauss + apart + np.sum((self.excess(vectors) / _BEYOND) ** 2))

    def add_to(
        self,
        matrix: Float64[NumpyArray, "P P"],
        right: Float64[NumpyArray, "P"],
        pose: RotationPose,
        frames: Float64[NumpyArray, "J 3 3"],
        start: int,
        weight: float,
    ) -> None:
        """Add ½ weight E_θ to normal equations whose rotations (world axes) begin at `start`.

        `frames` are the world rotations of the joints' parents.
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


def _kind(name: str) -> str:
    stem = re.sub(r"^(left|right)_|\d+$", "", name)
    return "finger" if stem in ("index", "middle", "ring", "pinky") else stem
