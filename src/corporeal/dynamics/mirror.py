"""Left for right: a body that mirrors its movement swings in the mirror.

Bodies are symmetric about x = 0, and so is what their flesh does. With M = diag(−1, 1, 1), mirrored
motion has R' = M R M for the other side's joint and c' = M c, so that a bone's acceleration in its
own axes becomes M Rᵀc̈ and its angular acceleration, an axial vector, −M Rᵀω̇. Every take is thereby
two, and dynamic components are symmetric or antisymmetric.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.dynamics.neural.features import FLESHY, JOINT_COUNT

_VECTOR = np.array([-1.0, 1.0, 1.0])


class SignedOrder(NamedTuple):
    """How numbers of a row change places and signs."""

    order: Int[NumpyArray, "n"]
    """Where each comes from."""
    signs: Float64[NumpyArray, "n"]
    """What it is multiplied by."""

    def of(self, rows: NumpyArray) -> NumpyArray:
        """The mirrored rows."""
        return (rows[..., self.order] * self.signs).astype(rows.dtype)


def other_side(names: Sequence[str]) -> list[int]:
    """Place of every joint's twin of the other side; of its own in the middle."""
    known = list(names)
    swapped = [
        "right_" + n.removeprefix("left_") if n.startswith("left_")
        else "left_" + n.removeprefix("right_") if n.startswith("right_") else n
        for n in known
    ]  # fmt: skip
    return [known.index(name) for name in swapped]


def mirrored_controls(names: Sequence[str]) -> SignedOrder:
    """Of control vectors of bones (`control_vector.bone_controls`): all c̈, then all ω̇."""
    twins = np.asarray(other_side(names))
    count = len(twins)
    places = (3 * twins[:, None] + np.arange(3)).ravel()
    signs = np.tile(_VECTOR, count)
    return SignedOrder(
        np.concatenate([places, places + 3 * count]), np.concatenate([signs, -signs])
    )


def mirrored_movement(names: Sequence[str]) -> SignedOrder:
    """Of what flesh feels (`features.movement`): c̈ and ω̇ of bone after bone."""
    fleshy = [names[place] for place in FLESHY]
    twins = np.asarray(other_side(fleshy))
    places = (6 * twins[:, None] + np.arange(6)).ravel()
    return SignedOrder(places, np.tile(np.concatenate([_VECTOR, -_VECTOR]), len(twins)))


def mirrored_posture(names: Sequence[str]) -> SignedOrder:
    """Of the pose (`features.posture`): two columns of every joint but the root, and down."""
    twins = np.asarray(other_side(names[:JOINT_COUNT]))[1:] - 1
    places = (6 * twins[:, None] + np.arange(6)).ravel()
    columns = np.outer(_VECTOR, _VECTOR[:2]).ravel()
    last = len(places) + np.arange(3)
    return SignedOrder(
        np.concatenate([places, last]), np.concatenate([np.tile(columns, len(twins)), _VECTOR])
    )


def mirrored_offsets(rows: NumpyArray, mirror: Int[NumpyArray, "V"]) -> NumpyArray:
    """Offsets n × 3V of the other side; `mirror` is the mesh's map."""
    vertices = rows.reshape(len(rows), -1, 3)
    return (vertices[:, mirror] * _VECTOR.astype(rows.dtype)).reshape(rows.shape)
