"""Key angles and the radial basis functions between them (Allen 2006, section 2.3).

The distance of two rotations is d(R, R') = ‖R − R'‖_F / √2 = 2 sin(θ/2), θ the angle between them:
radians where they are close, smooth everywhere. Weights are cardinal (Sloan 2001): with the
multiquadric φ(d) = √(d² + ε²) and a constant,

    ω_k(R) = Σ_m a_km φ(d(R, R_m)) + a_k0,    ω_k(R_m) = δ_km,   Σ_k ω_k = 1.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.enveloping import DriverKind
from corporeal.body.twists import partly_twisted, skew_part, twist_angles, twist_slopes
from corporeal.errors import InputError
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle

SOFTNESS = 0.2
"""ε, radians."""
_SAME = 1e-6
_APART = 0.25
"""No key comes closer to another than this share of the distance asked for."""
_MIRROR = np.diag([-1.0, 1.0, 1.0])


def driver_rotations(
    kind: DriverKind, rotations: Float[NumpyArray, "*batch 3 3"], axis: Float[NumpyArray, "3"]
) -> Float64[NumpyArray, "*batch 3 3"]:
    """The part of a joint's rotation that drives: all, the swing S, or the twist T."""
    rotations = np.asarray(rotations, np.float64)
    if kind == "rotation":
        return rotations
    if kind == "swing":
        return partly_twisted(rotations, axis, 0.0)
    return matrix_from_axis_angle(
        twist_angles(rotations, axis)[..., None] * np.asarray(axis, np.float64)
    )


def driver_turns(
    kind: DriverKind, rotations: Float[NumpyArray, "*batch 3 3"], axis: Float[NumpyArray, "3"]
) -> Float64[NumpyArray, "*batch 3 3"]:
    """E: turned by exp(δ) R, the driver turns by exp(E δ); axes of the joint's parent."""
    shape = rotations.shape
    if kind == "rotation":
        return np.broadcast_to(np.eye(3), shape)
    slopes = twist_slopes(rotations, axis)
    about = np.asarray(axis, np.float64)
    if kind == "twist":
        return about[:, None] * slopes[..., None, :]
    turned = np.asarray(rotations, np.float64) @ about
    return np.eye(3) - turned[..., :, None] * slopes[..., None, :]


def squared_distances(
    rotations: Float[NumpyArray, "*batch 3 3"], keys: Float[NumpyArray, "K 3 3"]
) -> Float64[NumpyArray, "*batch K"]:
    """d² = 3 − tr(R_kᵀ R), at least 0."""
    traces = np.einsum("...ab,kab->...k", rotations, keys)
    return np.maximum(3 - traces, 0.0)


def angles_of(
    rotations: Float[NumpyArray, "*batch 3 3"], keys: Float[NumpyArray, "K 3 3"]
) -> Float64[NumpyArray, "*batch K"]:
    """Angle to every key, radians."""
    chord = np.sqrt(squared_distances(rotations, keys))
    return 2 * np.arcsin(np.clip(0.5 * chord, 0.0, 1.0))


def mirrored_rotations(
    rotations: Float[NumpyArray, "*batch 3 3"],
) -> Float64[NumpyArray, "*batch 3 3"]:
    """The same turn in a mirror at the sagittal plane."""
    return _MIRROR @ np.asarray(rotations, np.float64) @ _MIRROR


def greedy_keys(
    pool: Float[NumpyArray, "n 3 3"], distance: float, most: int, *, symmetric: bool = False
) -> Float64[NumpyArray, "K 3 3"]:
    """No rotation, then again and again the rotation of the pool that is farthest from all keys,
    until all are within `distance` radians of some key, or there are `most` keys.

    `symmetric` adds mirror images together: for joints on the sagittal plane.
    """
    if most < 1 or not distance > 0:
        raise InputError(
            f"key angles every {distance} rad, at most {most}, were asked for; expected a distance "
            f"above 0 and at least one key."
        )
    pool = np.asarray(pool, np.float64)
    keys = np.eye(3)[None]
    nearest = angles_of(pool, keys)[:, 0]
    while len(nearest) and nearest.max() > distance:
        farthest = int(nearest.argmax())
        new = _with_image(pool[farthest], distance) if symmetric else pool[farthest][None]
        new = new[angles_of(new, keys).min(axis=1) > _APART * distance]
        if len(keys) + len(new) > most:
            break
        keys = np.concatenate([keys, new])
        nearest = np.minimum(nearest, angles_of(pool, keys[-max(len(new), 1) :]).min(axis=1))
        nearest[farthest] = 0.0
    return keys


def _with_image(key: Float64[NumpyArray, "3 3"], distance: float) -> Float64[NumpyArray, "n 3 3"]:
    """A key and its mirror image; the key between them where they are close."""
    image = mirrored_rotations(key)
    if angles_of(key, image[None])[0] < distance:
        return matrix_from_axis_angle(axis_angle_from_matrix(key) * [1.0, 0.0, 0.0])[None]
    return np.stack([key, image])


def mirrored_order(keys: Float[NumpyArray, "K 3 3"]) -> Int[NumpyArray, "K"]:
    """The place of every key's mirror image among keys that are symmetric."""
    order = squared_distances(mirrored_rotations(keys), keys).argmin(axis=1)
    return order.astype(np.int64)


@dataclass(frozen=True)
class RadialBasis:
    """Cardinal weights of some key angles."""

    keys: Float64[NumpyArray, "K 3 3"]
    """Key angles; the first is no rotation."""
    matrix: Float64[NumpyArray, "K K+1"]
    """a: weights are this times (φ(d_1), …, φ(d_K), 1)."""
    softness: float
    """ε, radians."""

    @staticmethod
    def of(keys: Float[NumpyArray, "K 3 3"], softness: float = SOFTNESS) -> "RadialBasis":
        """Solve for the weights that are 1 at one key and 0 at the others."""
        keys = np.asarray(keys, np.float64)
        count = len(keys)
        square = squared_distances(keys, keys)
        if count > 1 and (square + 10 * np.eye(count)).min() < _SAME**2:
            raise InputError("two key angles are the same; expected different ones.")
        system = np.ones((count + 1, count + 1))
        system[:count, :count] = np.sqrt(square + softness**2)
        system[count, count] = 0.0
        return RadialBasis(keys, np.linalg.inv(system)[:count], softness)

    def weights(
        self, rotations: Float[NumpyArray, "*batch 3 3"]
    ) -> Float64[NumpyArray, "*batch K"]:
        """ω of all keys."""
        radial = np.sqrt(squared_distances(rotations, self.keys) + self.softness**2)
        return radial @ self.matrix[:, :-1].T + self.matrix[:, -1]

    def slopes(
        self, rotations: Float[NumpyArray, "*batch 3 3"]
    ) -> Float64[NumpyArray, "*batch K 3"]:
        """∂ω/∂δ for exp(δ) R."""
        radial = np.sqrt(squared_distances(rotations, self.keys) + self.softness**2)
        relative = np.einsum("...ab,kcb->...kac", rotations, self.keys)
        # d tr(R_kᵀ exp(δ) R) = −δ · vee(A − Aᵀ), A = R R_kᵀ;  dφ = −½ d tr / φ
        by_turn = 0.5 * skew_part(relative) / radial[..., None]
        return np.einsum("km,...mc->...kc", self.matrix[:, :-1], by_turn)
