"""What poses are likely behind markers: where few markers see a joint, how joints share a motion.

    E_θ = Σ_j ‖(log R_j − μ_j)/τ_j‖² + ‖excess over limits / 0.1‖²              (`pose_prior`)
        + Σ_s ‖log R_s − log R_s+1‖²/σ_s²        spine and neck bend evenly over their joints
        + Σ_c ‖log(R_c G(θ)ᵀ)‖²/σ_c²             collars follow the arms: scapulohumeral rhythm
        + Σ_f (y · Q_f x)²/σ_f²                  feet do not roll: they stand on level ground

G is `motions.girdle`'s turn of a collar under its arm, taken where the arm is now. Forearms twist
at the wrist, as the motions' own convention has it.
"""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.geometry.rotations import axis_angle_from_matrix, logarithm_derivative
from corporeal.motions.girdle import collar_turn
from corporeal.registration.person_model import BODY_JOINTS
from corporeal.registration.pose_prior import pose_prior

EVENLY = (
    ("spine1", "spine2", 0.02),
    ("spine2", "spine3", 0.02),
    ("neck", "head", 0.15),
)
"""Neighbours that bend alike, and the radians by which they are likely to differ."""
RHYTHM = 0.06
"""Radians by which a collar is likely to differ from its arm's rhythm."""
ROLL = 0.05
"""Sine of the angle by which a foot is likely to roll about its length, in the world."""
NARROWER = {
    "elbow": (0.1, 1.0, 0.2),
    "knee": (1.0, 0.4, 0.4),
    "ankle": (1.0, 0.8, 1.0),
    "collar": (10.0, 10.0, 10.0),
}
"""Factors on the spreads of `pose_prior` about x, y and z."""
UPRIGHT = "spine"
"""Joints whose mean is straight: markers hardly tell how a back is curved, and a back that is bent
by 3° a joint was made longer to reach as high."""
_BEYOND = 0.1
"""Radians past a limit that count as one standard deviation."""


class MarkerPrior:
    """The prior of a skeleton with the body's joints, of many poses at once."""

    def __init__(self, names: tuple[str, ...], joints: Float64[NumpyArray, "J 3"]) -> None:
        own = pose_prior(names)
        self.names = names
        self.mean, self.spread = own.mean[:BODY_JOINTS].copy(), own.spread[:BODY_JOINTS].copy()
        self.low, self.high = own.low[:BODY_JOINTS].copy(), own.high[:BODY_JOINTS].copy()
        self.low[0], self.high[0] = -np.inf, np.inf
        for joint, name in enumerate(names[:BODY_JOINTS]):
            if name.startswith(UPRIGHT):
                self.mean[joint] = 0.0
            for kind, factors in NARROWER.items():
                if kind in name:
                    self.spread[joint] *= factors
        self.arms = {
            side: joints[names.index(f"{side}_elbow")] - joints[names.index(f"{side}_shoulder")]
            for side in ("left", "right")
        }

    def add_to(
        self,
        matrix: Float64[NumpyArray, "N P P"],
        right: Float64[NumpyArray, "N P"],
        poses: RotationPose,
        start: int,
        weight: float,
    ) -> None:
        """Add ½ weight E_θ to normal equations whose turns, in parents' axes, begin at `start`."""
        rotations = poses.rotations[:, :BODY_JOINTS]
        vectors = axis_angle_from_matrix(rotations)
        slopes = logarithm_derivative(vectors)
        over = np.maximum(vectors - self.high, 0.0) + np.minimum(vectors - self.low, 0.0)
        stiff = 1.0 / self.spread**2 + (over != 0) / _BEYOND**2
        pull = (vectors - self.mean) / self.spread**2 + over / _BEYOND**2
        # ∂log R/∂ω = S: Sᵀ diag(stiff) S and Sᵀ pull
        blocks = np.einsum("njka,njk,njkb->njab", slopes, stiff, slopes)
        pulls = np.einsum("njka,njk->nja", slopes, pull)
        self._rhythm(rotations, blocks, pulls)
        self._level(rotations, blocks, pulls)
        for joint in range(BODY_JOINTS):
            place = slice(start + 3 * joint, start + 3 * joint + 3)
            matrix[:, place, place] += weight * blocks[:, joint]
            right[:, place] -= weight * pulls[:, joint]
        for first, second, spread in EVENLY:
            i, k = self.names.index(first), self.names.index(second)
            share = weight / spread**2
            apart = share * (vectors[:, i] - vectors[:, k])
            both = ((i, slopes[:, i], 1.0), (k, slopes[:, k], -1.0))
            for one, slope, sign in both:
                a = slice(start + 3 * one, start + 3 * one + 3)
                right[:, a] -= sign * np.einsum("nka,nk->na", slope, apart)
                for other, other_slope, other_sign in both:
                    b = slice(start + 3 * other, start + 3 * other + 3)
                    product = np.swapaxes(slope, 1, 2) @ other_slope
                    matrix[:, a, b] += sign * other_sign * share * product

    def _rhythm(self, rotations: NumpyArray, blocks: NumpyArray, pulls: NumpyArray) -> None:
        """Collars under their arms."""
        for side, bone in self.arms.items():
            collar = self.names.index(f"{side}_collar")
            arm = rotations[:, collar] @ rotations[:, self.names.index(f"{side}_shoulder")]
            wanted = collar_turn(arm @ bone, side)
            away = axis_angle_from_matrix(rotations[:, collar] @ np.swapaxes(wanted, -1, -2))
            blocks[:, collar] += np.eye(3) / RHYTHM**2
            pulls[:, collar] += away / RHYTHM**2

    def _level(self, rotations: NumpyArray, blocks: NumpyArray, pulls: NumpyArray) -> None:
        """Ankles, such that feet do not roll; the leg above is held."""
        for side in ("left", "right"):
            leg = rotations[:, 0]
            for joint in ("hip", "knee"):
                leg = leg @ rotations[:, self.names.index(f"{side}_{joint}")]
            ankle = self.names.index(f"{side}_ankle")
            across = (leg @ rotations[:, ankle])[:, :, 0]
            # d(y · Q x) = y · (L ω × Q x) = ω · Lᵀ (Q x × y)
            up = np.array([0.0, 1.0, 0.0])
            row = np.einsum("nba,nb->na", leg, np.cross(across, up))
            blocks[:, ankle] += row[:, :, None] * row[:, None, :] / ROLL**2
            pulls[:, ankle] += row * (across[:, 1] / ROLL**2)[:, None]
