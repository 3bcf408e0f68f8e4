"""Where the cameras stand: pairs around the subject, at three heights."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.errors import InputError

_RINGS: Final = ((0.45, 7), (1.15, 8), (2.05, 7))
"""Height over the ground, metres, and how many of 22 pairs stand at it."""
_AIM: Final = np.array([0.0, 0.95, 0.0])
"""What all look at, metres."""


@dataclass(frozen=True, eq=False)
class Ring:
    """Pairs of cameras; a point is measured where both of a pair see it."""

    left: Float64[NumpyArray, "c 3"]
    """Metres."""
    right: Float64[NumpyArray, "c 3"]
    """Metres."""

    @property
    def count(self) -> int:
        """Number of camera pairs."""
        return len(self.left)


def ring(pairs: int = 22, radius: float = 2.2, baseline: float = 0.25) -> Ring:
    """`pairs` of cameras `baseline` metres apart on a circle of `radius` metres.

    22 pairs are what the scanner of Pons-Moll 2015 has (section 3.1).
    """
    if not 1 <= pairs <= 255 or not 0.5 <= radius <= 20.0 or not 0.0 < baseline < radius:
        raise InputError(
            f"a ring of {pairs} camera pairs at {radius} m, {baseline} m apart, was asked for; "
            f"expected 1 to 255 pairs at 0.5 to 20 m, nearer to each other than to the subject."
        )
    shares = np.cumsum([0, *(count for _, count in _RINGS)]) / sum(c for _, c in _RINGS)
    edges = np.round(shares * pairs).astype(int)
    left, right = [], []
    for level, (height, _) in enumerate(_RINGS):
        count = edges[level + 1] - edges[level]
        for turn in 2 * np.pi * (np.arange(count) + 0.5 * (level % 2)) / max(count, 1):
            out = np.array([np.sin(turn), 0.0, np.cos(turn)])
            aside = np.array([np.cos(turn), 0.0, -np.sin(turn)])
            place = radius * out + height * np.array([0.0, 1.0, 0.0])
            left.append(place - 0.5 * baseline * aside)
            right.append(place + 0.5 * baseline * aside)
    return Ring(np.array(left), np.array(right))


def rays_towards(
    place: Float64[NumpyArray, "3"],
    points: Float64[NumpyArray, "n 3"],
    spacing: float,
    random: np.random.Generator,
) -> Float64[NumpyArray, "r 3"]:
    """Directions of a camera's pixels that may see `points`, `spacing` metres apart at the aim.

    The grid starts anywhere, so that two scans do not sample the same places.
    """
    forward = _AIM - place
    distance = float(np.linalg.norm(forward))
    forward = forward / distance
    aside = np.cross(forward, [0.0, 1.0, 0.0])
    aside /= np.linalg.norm(aside)
    upward = np.cross(aside, forward)
    seen = points - place
    depth = np.maximum(seen @ forward, 1e-3)
    across, up = (seen @ aside) / depth, (seen @ upward) / depth
    step = spacing / distance
    start = random.uniform(size=2) * step
    columns = np.arange(across.min() - step + start[0], across.max() + step, step)
    rows = np.arange(up.min() - step + start[1], up.max() + step, step)
    x, y = (grid.ravel() for grid in np.meshgrid(columns, rows))
    directions = forward + x[:, None] * aside + y[:, None] * upward
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)
