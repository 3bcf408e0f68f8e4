"""What a scanner sees: points with holes and noise, before anybody knows which vertex they are."""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("landmark_names",))
class Scan:
    """One moment."""

    points: Float[NumpyArray, "P 3"]
    """Metres."""
    confidence: Float[NumpyArray, "P"]
    """From 0 to 1: how squarely the surface was seen."""
    cameras: Int[NumpyArray, "P"]
    """Which camera pair saw every point."""
    landmarks: Float[NumpyArray, "L 3"]
    """Places that were marked on the skin, metres; none where no marks were put."""
    landmark_names: tuple[str, ...] = ()
    """One a landmark, in order."""

    def check(self) -> None:
        """Raise `InputError` unless counts agree, numbers are finite and confidences from 0 to
        1."""
        require_finite("scan points", self.points)
        require_finite("scan landmarks", self.landmarks)
        if not len(self.points) == len(self.confidence) == len(self.cameras):
            raise InputError(
                f"scan has {len(self.points)} points, {len(self.confidence)} confidences and "
                f"{len(self.cameras)} cameras; expected as many of each."
            )
        if np.any((self.confidence < 0) | (self.confidence > 1)):
            raise InputError("scan has confidences outside 0 to 1.")
        if len(self.landmark_names) != len(self.landmarks):
            raise InputError(
                f"scan has {len(self.landmarks)} landmarks and {len(self.landmark_names)} names; "
                f"expected one a landmark."
            )
