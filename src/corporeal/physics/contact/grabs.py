"""Grabs as the solver sees them: rows that draw a point of the skin to its target."""

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.physics.contact.contacts import Contacts


def grab_rows(
    corners: Int[NumpyArray, "3"],
    shares: Float64[NumpyArray, "3"],
    target: Float64[NumpyArray, "3"],
    stiffness: float,
) -> Contacts:
    """Three equations: Σ_k b_k x_k = target, along the axes."""
    return Contacts(
        np.tile(np.append(corners, corners[0]), (3, 1)),
        np.tile(np.append(shares, 0.0), (3, 1)),
        np.eye(3),
        np.asarray(target, np.float64),
        np.full(3, stiffness),
        np.ones(3, bool),
    )
