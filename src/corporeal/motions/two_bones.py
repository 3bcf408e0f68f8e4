"""The bend of two bones: how far apart their outer ends are over the angle between them."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, NumpyArray


@dataclass(frozen=True)
class Bend:
    """|t + R_k(φ) s|² = a + r cos(φ − φ₀): root-to-end distance over extra flexion φ about k."""

    hinge: Float[NumpyArray, "N 3"]
    """k, unit axis in the frame of the upper bone."""
    constant: Float[NumpyArray, "N"]
    """a, m²."""
    amplitude: Float[NumpyArray, "N"]
    """r, m²."""
    straight: Float[NumpyArray, "N"]
    """φ₀, radians."""

    @property
    def longest(self) -> Float[NumpyArray, "N"]:
        """Distance from root to end with the middle joint straight, metres."""
        return np.sqrt(self.constant + self.amplitude)

    def flexion(self, distance: Float[NumpyArray, "N"]) -> Float[NumpyArray, "N"]:
        """φ that brings root and end `distance` metres apart, on the side to which k bends."""
        cosine = (distance**2 - self.constant) / self.amplitude
        return self.straight + np.arccos(np.clip(cosine, -1.0, 1.0))


def bend_of(
    upper: Float[NumpyArray, "3"],
    lower: Float[NumpyArray, "3"],
    middle: Float[NumpyArray, "N 3 3"],
    hinge: Float[NumpyArray, "N 3"],
) -> Bend:
    """How a limb's length depends on turning its lower bone further about `hinge`.

    `upper` and `lower` are the bones at rest (metres), `middle` the rotation between them.
    """
    t, s = upper, middle @ lower
    along = (hinge @ t) * np.sum(hinge * s, axis=-1)
    constant = t @ t + np.sum(s * s, axis=-1) + 2 * along
    cosine = 2 * (s @ t - along)
    sine = 2 * np.cross(hinge, s) @ t
    return Bend(hinge, constant, np.hypot(cosine, sine), np.arctan2(sine, cosine))
