"""A grab: a point of the skin held by a spring, dragged, and released."""

import math

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.checks import require_finite
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("stiffness",))
class Grab:
    """A point between up to three vertices of the full skin, drawn to `target`."""

    vertices: Int[NumpyArray, "k"]
    """Of the full skin."""
    shares: Float64[NumpyArray, "k"]
    """Barycentric coordinates: they sum to 1."""
    target: Float64[NumpyArray, "3"]
    """Metres."""
    stiffness: float = 500.0
    """N/m: the pull for every metre that the point is off."""

    def check(self) -> None:
        """Raise `InputError` unless one to three vertices have shares that sum to 1."""
        require_finite("grab target", self.target)
        if not 1 <= len(self.vertices) <= 3 or abs(float(self.shares.sum()) - 1.0) > 1e-6:
            raise InputError(
                f"grab has {len(self.vertices)} vertices and shares {self.shares}; expected one to "
                f"three vertices with shares that sum to 1."
            )
        if not (math.isfinite(self.stiffness) and self.stiffness > 0.0):
            raise InputError(f"grab has stiffness {self.stiffness} N/m; expected more than 0.")

    def point(self, skin: Float64[NumpyArray, "W 3"]) -> Float64[NumpyArray, "3"]:
        """Where the held point is on a full skin, metres."""
        if int(self.vertices.min()) < 0 or int(self.vertices.max()) >= len(skin):
            raise InputError(
                f"grab holds vertices {self.vertices.tolist()}; the skin has {len(skin)}."
            )
        return self.shares @ skin[self.vertices]


def grab_vertex(vertex: int, target: Float64[NumpyArray, "3"], stiffness: float = 500.0) -> Grab:
    """A vertex of the full skin drawn to `target` (metres) by a spring (N/m)."""
    return Grab(np.array([vertex]), np.ones(1), np.asarray(target, np.float64), stiffness)
