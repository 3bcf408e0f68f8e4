"""Sorting, running totals and lists of fixed length on a device, in a few programs each.

A library's running total is a ladder of small programs, each of which costs a start; here it is two
products with a triangle of ones. Sorting a few thousand keys by counting, for each, how many are
smaller is one program, and takes less time than a sorting network needs to start.
"""

import jax.numpy as jnp
from jax import lax

from corporeal._typing import Array, Bool, Int

_MOST_COUNTED = 16384
"""Keys above which a true sort is quicker than comparing all with all."""
_BLOCK = 512


def running_total(counts: Int[Array, "m"]) -> Int[Array, "m"]:
    """Σ_{j ≤ i} of counts, exact below 2²⁴."""
    blocks = -(-len(counts) // _BLOCK)
    padded = jnp.pad(counts, (0, blocks * _BLOCK - len(counts))).astype(jnp.float32)
    within = _summed(padded.reshape(blocks, _BLOCK))
    before = _summed(within[:, -1][None])[0] if blocks > 1 else within[:, -1]
    total = within + (before - within[:, -1])[:, None]
    return total.ravel()[: len(counts)].astype(jnp.int32)


def _summed(values: Array) -> Array:
    """Running totals along rows."""
    ones = jnp.tril(jnp.ones((values.shape[1], values.shape[1]), jnp.float32))
    # s_bi = Σ_{j ≤ i} x_bj
    return jnp.einsum("bj,ij->bi", values, ones, precision=lax.Precision.HIGHEST)


def sorted_order(keys: Int[Array, "m"]) -> Int[Array, "m"]:
    """Places of the keys in ascending order; equal ones keep theirs."""
    count = len(keys)
    if count > _MOST_COUNTED:
        return jnp.argsort(keys).astype(jnp.int32)
    place = jnp.arange(count, dtype=jnp.int32)
    smaller = keys[None, :] < keys[:, None]
    same = (keys[None, :] == keys[:, None]) & (place[None, :] < place[:, None])
    rank = jnp.sum(smaller | same, axis=1, dtype=jnp.int32)
    return jnp.zeros(count, jnp.int32).at[rank].set(place)


def listed(
    counts: Int[Array, "m"], most: int
) -> tuple[Int[Array, "s"], Int[Array, "s"], Int[Array, ""]]:
    """Owner and rank of `most` slots when every owner has so many slots, and how many are used."""
    ends = running_total(counts)
    slot = jnp.arange(most, dtype=jnp.int32)
    owner = jnp.minimum(placed(ends, slot, "right"), len(counts) - 1)
    return owner, slot - (ends[owner] - counts[owner]), ends[-1]


def placed(sorted_values: Int[Array, "m"], values: Int[Array, "s"], side: str) -> Int[Array, "s"]:
    """Where values would go into a sorted list, by bisection."""
    places = jnp.searchsorted(sorted_values, values, side=side, method="scan_unrolled")
    return places.astype(jnp.int32)


def chosen(flags: Bool[Array, "m"], most: int) -> tuple[Int[Array, "s"], Int[Array, ""]]:
    """Places of the first `most` flags that are set, m behind the last; and how many are set."""
    rank = running_total(flags.astype(jnp.int32))
    place = jnp.arange(len(flags), dtype=jnp.int32)
    slot = jnp.where(flags, rank - 1, most)
    return jnp.full(most, len(flags), jnp.int32).at[slot].set(place, mode="drop"), rank[-1]
