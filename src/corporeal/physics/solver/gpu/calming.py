"""Flesh around contacts that sleep is slow, on a device: see `solver.calming`."""

import jax.numpy as jnp
import numpy as np

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.physics.contact.gpu.rows import TouchingRows
from corporeal.physics.contact.rules import ASLEEP
from corporeal.physics.solver.calming import DROWSY, LEAST, SLOWING, neighbourhoods
from corporeal.physics.solver.gpu.elements import Elements
from corporeal.physics.solver.gpu.scatter import counted, scattered

_UNIT = 2.0**-20
"""Of the parts that are added up."""


def neighbour_table(elements: Elements, vertex_count: int) -> Int[NumpyArray, "f m"]:
    """Free vertices with those of all elements that they belong to; `vertex_count` behind the last
    of each."""
    free = len(elements.masses)
    near = neighbourhoods(np.asarray(elements.tetrahedra), vertex_count)[:free]
    counts = np.diff(near.indptr)
    table = np.full((free, max(1, int(counts.max()))), vertex_count, np.int32)
    slot = np.arange(near.nnz) - np.repeat(near.indptr[:-1], counts)
    table[np.repeat(np.arange(free), counts), slot] = near.indices
    return table


def calm_parts(rows: TouchingRows, near: Int[Array, "f m"], vertex_count: int) -> Float[Array, "f"]:
    """Part of the way that every free vertex goes in a step: the mean of those of sleeping contacts
    around it; 1 where there are none, and for the vertices of contacts that are awake."""
    used = rows.coefficients[:, 0] > 0.0
    asleep = used & (rows.rates < ASLEEP)
    parts = jnp.maximum(DROWSY * (rows.rates / ASLEEP) ** SLOWING, LEAST)
    places = rows.vertices.T.ravel()
    sums = scattered(jnp.tile(jnp.where(asleep, parts, 0.0), 4), places, vertex_count, _UNIT)
    counts = counted(jnp.tile(asleep, 4), places, vertex_count)
    awake = counted(jnp.tile(used & ~asleep, 4), places, vertex_count)[: len(near)]
    around = jnp.sum(jnp.pad(sums, (0, 1))[near], axis=1)
    many = jnp.sum(jnp.pad(counts, (0, 1))[near], axis=1)
    calm = (many > 0) & (awake == 0)
    return jnp.where(calm, around / jnp.maximum(many, 1), 1.0)
