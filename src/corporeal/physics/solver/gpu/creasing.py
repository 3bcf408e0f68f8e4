"""What damps creases of the skin on a device (`solver.membrane`), seen from free vertices."""

import jax.numpy as jnp

from corporeal._typing import Array, Float
from corporeal.physics.solver.gpu.elements import DeviceFlesh
from corporeal.physics.solver.membrane import CREASING


def creasing_forces(flesh: DeviceFlesh, moved: Float[Array, "3 f B"]) -> Float[Array, "3 f B"]:
    """−b Lᵀ K L u for displacements u of the free vertices, metres, while anchored ones stay;
    newtons, nothing where no creases are damped."""
    ends, lengths, stiffness = flesh.ends, flesh.lengths, flesh.creasing
    if ends is None or lengths is None or stiffness is None:
        return jnp.zeros_like(moved)
    free = moved.shape[1]
    near = lengths > 0.0
    degrees = jnp.maximum(jnp.sum(near, axis=1), 1).astype(moved.dtype)[:, None]
    loose, there = (near & (ends < free))[..., None], jnp.minimum(ends, free - 1)

    def around(values: Array) -> Array:
        return jnp.sum(jnp.where(loose, values[:, there], 0.0), axis=2)

    pulls = CREASING * stiffness[:, None] * (moved - around(moved) / degrees)
    return around(pulls / degrees) - pulls
