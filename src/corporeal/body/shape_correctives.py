"""Pose correctives that depend on a person's shape coefficients."""

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.body.correctives import FEATURES, PoseCorrectives
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("joint_names",))
class ShapeCorrectives:
    """Morph targets whose weights are bilinear in shape coefficients and pose features."""

    joint_names: tuple[str, ...]
    """Joints that drive, unique, without the root."""
    shares: Float[NumpyArray, "n B P"]
    """Share of every pose feature in every weight: for β = 0, then what each β adds."""
    offsets: Float[NumpyArray, "B V 3"]
    """Rest-pose displacement of every vertex at weight 1, metres."""

    def check(self) -> None:
        """Raise `InputError` unless counts agree and numbers are finite."""
        if self.shares.shape[2] != FEATURES * len(self.joint_names) or not len(self.shares):
            raise InputError(
                f"shape correctives have shares of the shape {self.shares.shape} for "
                f"{len(self.joint_names)} joints; expected {FEATURES} columns a joint."
            )
        if self.shares.shape[1] != len(self.offsets):
            raise InputError(
                f"shape correctives have {self.shares.shape[1]} weights and {len(self.offsets)} "
                f"offsets; expected as many."
            )
        require_finite("shape correctives shares", self.shares)
        require_finite("shape correctives offsets", self.offsets)

    def at(self, betas: Float[NumpyArray, "s"]) -> PoseCorrectives:
        """Those of one person; coefficients that are not given are 0."""
        y = np.zeros(len(self.shares))
        y[0] = 1.0
        used = min(len(betas), len(y) - 1)
        y[1 : used + 1] = np.asarray(betas)[:used]
        digits = max(2, len(str(len(self.offsets) - 1)))
        names = tuple(f"pose_{b:0{digits}d}" for b in range(len(self.offsets)))
        shares = np.tensordot(y, np.asarray(self.shares, np.float64), axes=1)
        return PoseCorrectives(self.joint_names, names, shares, self.offsets)
