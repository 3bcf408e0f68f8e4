"""Vertices carried by joints through weights, on a device; see `blended_carrier`."""

import jax.numpy as jnp
import numpy as np

from corporeal._typing import Array, Float, Int
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class DeviceBlend:
    """What a `BlendedCarrier` knows: p points, each carried by up to w joints."""

    joints: Int[Array, "p w"]
    """Joints that carry each point."""
    shares: Float[Array, "p w 4"]
    """w_ij (x̄_i − j̄_j, 1): weighted places at rest, seen from the joint, metres; 0 for none."""

    def filled(self, count: int, width: int) -> "DeviceBlend":
        """With vertices and joints behind the last ones that nothing carries, and that carry
        nothing."""
        more = ((0, count - self.joints.shape[0]), (0, width - self.joints.shape[1]))
        return DeviceBlend(np.pad(self.joints, more), np.pad(self.shares, (*more, (0, 0))))


def blended_positions(blend: DeviceBlend, frames: Float[Array, "J 4 4"]) -> Float[Array, "3 n"]:
    """Where the joints put every vertex while they are at `frames` (metres)."""
    # x_i = Σ_j F_j w_ij (x̄_i − j̄_j, 1)
    each = (
        jnp.sum(frames[blend.joints[:, slot], :3] * blend.shares[:, slot, None], axis=2)
        for slot in range(blend.joints.shape[1])
    )
    return sum(each, jnp.zeros(())).T


def blended_moves(
    blend: DeviceBlend,
    vertices: Int[Array, "f"],
    displacements: Float[Array, "J 3 4"],
    positions: Float[Array, "3 f"],
) -> Float[Array, "3 f"]:
    """By how much joints move points on some vertices, metres: `BlendedCarrier.carry` less the
    points. Joints displace what they carry by `displacements` D."""
    joints, weights = blend.joints[vertices], blend.shares[vertices, :, 3]
    # Σ_j w_ij D_j (x_i, 1)
    each = (
        weights[:, slot, None] * displacements[joints[:, slot]].reshape(-1, 12)
        for slot in range(joints.shape[1])
    )
    blended = sum(each, jnp.zeros(())).reshape(-1, 3, 4)
    return jnp.sum(blended[:, :, :3] * positions.T[:, None], axis=2).T + blended[:, :, 3].T
