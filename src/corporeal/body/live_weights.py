"""The weights of pose correctives as files and engines have them: from 0 to 1, for every pose."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.correctives import PoseCorrectives, pose_features, weight_bounds
from corporeal.runtime.pytree_dataclass import pytree_dataclass

BASE_NAME = "pose_base"
"""The morph target that carries the constant parts; its weight is always 1."""

_ROUNDING = 1e-12
"""Bounds below 0 by less than this share of their span are 0."""


@pytree_dataclass(static=("joint_names", "morph_names"))
class LiveWeights:
    """What a runtime script evaluates: weight = constant + Σ_n share_n f_n(θ), from 0 to 1.

    The signed weight w of a corrective lies between l and h whatever the pose (`weight_bounds`).
    As in `unsigned_weights`, it is played as (h − l) d · (w − l)/(h − l) + l d; but l and h are
    those of all poses, not of one take, so that no pose is ever clamped.
    """

    joint_names: tuple[str, ...]
    """Joints that drive."""
    morph_names: tuple[str, ...]
    """Morph targets in the file: the correctives, then the base where one is needed."""
    shares: Float64[NumpyArray, "B P"]
    """Share of every pose feature in every weight."""
    constants: Float64[NumpyArray, "B"]
    """Weights of the rest pose."""
    low: Float64[NumpyArray, "b"]
    """Smallest signed weight of every corrective."""
    span: Float64[NumpyArray, "b"]
    """Largest less smallest signed weight; 1 for a corrective that no pose moves."""

    def weights(
        self, driving_rotations_wxyz: Float64[NumpyArray, "*batch J 4"]
    ) -> Float64[NumpyArray, "*batch B"]:
        """Weights of poses given as local rotations of `joint_names`, in their order."""
        weights = self.constants + pose_features(driving_rotations_wxyz) @ self.shares.T
        return np.clip(weights, 0, 1)

    def targets(self, rows: Float64[NumpyArray, "b V 3"]) -> Float64[NumpyArray, "B V 3"]:
        """Rows a corrective at signed weight 1, as rows a morph target of the file at weight 1."""
        scaled = rows * self.span[:, None, None]
        if len(self.morph_names) == len(rows):
            return scaled
        return np.concatenate([scaled, np.tensordot(self.low, rows, axes=1)[None]])


def live_weights(correctives: PoseCorrectives) -> LiveWeights:
    """The correctives' weights on the scale of files.

    There is no base where no weight falls below 0: importers may drop an empty morph target.
    """
    low, high = weight_bounds(correctives)
    low = np.where(low < -_ROUNDING * (high - low), low, 0.0)
    span = np.where(high > low, high - low, 1.0)
    names = correctives.morph_names
    shares = np.asarray(correctives.feature_weights, np.float64) / span[:, None]
    constants = -low / span
    if low.any():
        names = (*names, BASE_NAME)
        shares = np.concatenate([shares, np.zeros((1, shares.shape[1]))])
        constants = np.append(constants, 1.0)
    return LiveWeights(correctives.joint_names, names, shares, constants, low, span)
