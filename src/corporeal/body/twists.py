"""Swing and twist of joint rotations, and helper joints that turn by a share of the twist.

A rotation R about a bone's axis a is split R = S T(τ): first the twist T by τ about a, then the
swing S, which turns a by the shortest way. A helper joint with the share φ turns by S T(φ τ) about
its joint's own centre (Allen 2006, section 2.2: 50 % and 100 % twist of shoulder and forearm).
"""

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.geometry.rotations import matrix_from_axis_angle

_LEAST = 1e-9


def twist_angles(
    rotations: Float[NumpyArray, "*batch 3 3"], axis: Float[NumpyArray, "3"]
) -> Float64[NumpyArray, "*batch"]:
    """τ, radians in (−π, π]: tan τ/2 = (a · vee(R − Rᵀ)) / (1 + tr R)."""
    along = np.einsum("...c,c->...", skew_part(rotations), np.asarray(axis, np.float64))
    angles = 2 * np.arctan2(along, 1 + np.trace(rotations, axis1=-2, axis2=-1))
    return np.where(angles > np.pi, angles - 2 * np.pi, np.where(angles <= -np.pi, np.pi, angles))


def partly_twisted(
    rotations: Float[NumpyArray, "*batch 3 3"], axis: Float[NumpyArray, "3"], share: float
) -> Float64[NumpyArray, "*batch 3 3"]:
    """S T(φ τ) = R T((φ − 1) τ); φ = 0 is the swing alone."""
    angles = twist_angles(rotations, axis)
    turn = matrix_from_axis_angle((share - 1) * angles[..., None] * np.asarray(axis, np.float64))
    return np.asarray(rotations, np.float64) @ turn


def twist_slopes(
    rotations: Float[NumpyArray, "*batch 3 3"], axis: Float[NumpyArray, "3"]
) -> Float64[NumpyArray, "*batch 3"]:
    """n = (a + R a) / (1 + a · R a): turned by exp(δ) R, the twist grows by n · δ."""
    axis = np.asarray(axis, np.float64)
    turned = np.asarray(rotations, np.float64) @ axis
    return (axis + turned) / np.maximum(1 + turned @ axis, _LEAST)[..., None]


def skew_part(rotations: Float[NumpyArray, "*batch 3 3"]) -> Float64[NumpyArray, "*batch 3"]:
    """vee(R − Rᵀ): twice the sine of the angle, along the axis."""
    r = np.asarray(rotations, np.float64)
    return np.stack(
        [
            r[..., 2, 1] - r[..., 1, 2],
            r[..., 0, 2] - r[..., 2, 0],
            r[..., 1, 0] - r[..., 0, 1],
        ],
        axis=-1,
    )
