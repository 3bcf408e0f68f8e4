"""Springs that draw points of one character to given places, on a device.

A spring of stiffness k on the point Σ_i b_i x_i adds k b bᵀ to the matrix of the global step, whose
inverse is made with it (`sprung`), and k (target − Σ_i b_i z_i) b to the right-hand side.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from scipy.sparse import csc_array, csr_array, diags_array

from corporeal._typing import Array, Float


class Springs(NamedTuple):
    """G springs over n vertices, of which the first f are free."""

    shares: Float[Array, "G n"]
    """b."""
    stiffness: Float[Array, "G"]
    """k, N/m."""
    targets: Float[Array, "3 G"]
    """Metres."""


def sprung(
    matrix: csc_array, shares: Float[Array, "G n"], stiffness: Float[Array, "G"]
) -> csc_array:
    """A + Σ k b bᵀ over the free vertices."""
    free = len(matrix.indptr) - 1
    rows = csr_array(np.asarray(shares, np.float64)[:, :free])
    return csc_array(matrix + rows.T @ diags_array(np.asarray(stiffness, np.float64)) @ rows)


def points(shares: Float[Array, "G n"], positions: Float[Array, "3 n 1"]) -> Float[Array, "3 G"]:
    """Σ_i b_i x_i, metres."""
    return jnp.matmul(positions[..., 0], shares.T, precision=lax.Precision.HIGHEST)


def spring_forces(
    springs: Springs, positions: Float[Array, "3 n 1"], free: int
) -> Float[Array, "3 f 1"]:
    """What the springs pull the free vertices with, newtons."""
    pulls = springs.stiffness * (springs.targets - points(springs.shares, positions))
    exact = lax.Precision.HIGHEST
    return jnp.matmul(pulls, springs.shares[:, :free], precision=exact)[..., None]
