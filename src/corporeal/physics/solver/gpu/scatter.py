"""Sums over lists that a device adds up in any order: whole numbers of a small unit, so that they
are the same to the last bit however they are added."""

import jax.numpy as jnp

from corporeal._typing import Array, Float, Int


def scattered(
    values: Float[Array, "*batch m"], places: Int[Array, "m"], count: int, unit: float
) -> Float[Array, "*batch count"]:
    """Sums of values by place, to half a `unit` each; places from `count` on are left out.

    Sums must stay below 2³¹ units.
    """
    whole = jnp.round(values / unit).astype(jnp.int32)
    sums = jnp.zeros((*values.shape[:-1], count), jnp.int32)
    return unit * sums.at[..., places].add(whole, mode="drop").astype(values.dtype)


def counted(flags: Array, places: Int[Array, "m"], count: int) -> Int[Array, "count"]:
    """How many flags are set at every place; places from `count` on are left out."""
    return jnp.zeros(count, jnp.int32).at[places].add(flags.astype(jnp.int32), mode="drop")
