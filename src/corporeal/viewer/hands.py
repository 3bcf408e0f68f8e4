"""A hand that holds skin: a patch of points, drawn together to where the mouse is."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float32, Float64, Int, NumpyArray
from corporeal.body.grab import Grab
from corporeal.errors import InputError

_REACH = 0.035
"""Metres around the held point that the fingers take."""
_FINGERS = 8
_STRENGTH = 500.0
"""N/m of each finger."""


@dataclass(frozen=True, eq=False)
class Hand:
    """Vertices that are held, and where they are drawn to."""

    vertices: Int[NumpyArray, "k"]
    """Of the full skin."""
    offsets: Float64[NumpyArray, "k 3"]
    """From the held point, metres, as they were when taken."""
    target: Float64[NumpyArray, "3"]
    """Where the held point is drawn to, metres."""

    def grabs(self) -> tuple[Grab, ...]:
        """One spring a finger."""
        return tuple(
            Grab(np.array([vertex]), np.ones(1), self.target + offset, _STRENGTH)
            for vertex, offset in zip(self.vertices, self.offsets, strict=True)
        )

    def drawn(self, target: Float64[NumpyArray, "3"]) -> "Hand":
        """The same hold, drawn elsewhere."""
        return Hand(self.vertices, self.offsets, target)

    def only(self, fingers: list[int]) -> "Hand":
        """Some of the fingers."""
        return Hand(self.vertices[fingers], self.offsets[fingers], self.target)


def take(
    skin: Float32[NumpyArray, "V 3"],
    corners: Int[NumpyArray, "3"],
    point: Float64[NumpyArray, "3"],
) -> Hand:
    """Take the skin around a point (metres) in the triangle of `corners`.

    Fingers are the nearest corner, then ever the vertex within reach that is furthest from those
    before, so that they spread.
    """
    if not (int(corners.min()) >= 0 and int(corners.max()) < len(skin)):
        raise InputError(f"vertices {corners.tolist()} were touched; the skin has {len(skin)}.")
    near = np.flatnonzero(np.linalg.norm(skin - point, axis=1) < _REACH)
    first = corners[np.argmin(np.linalg.norm(skin[corners] - point, axis=1))]
    chosen = [int(first)]
    apart = _distances(skin[near], skin[first])
    while len(chosen) < _FINGERS and len(near) and float(apart.max()) > 0.3 * _REACH:
        chosen.append(int(near[np.argmax(apart)]))
        apart = np.minimum(apart, _distances(skin[near], skin[chosen[-1]]))
    held = np.array(chosen)
    return Hand(held, skin[held].astype(np.float64) - point, point)


def _distances(
    points: Float32[NumpyArray, "k 3"], place: Float32[NumpyArray, "3"]
) -> Float[NumpyArray, "k"]:
    return np.linalg.norm(points - place, axis=1)
