"""Flesh around contacts that sleep is slow: between what presses it and what keeps its elements
open it would else be tossed to and fro.

In a step it goes only a part of the way from where bones carried it to where it should be. The part
becomes smaller while the contact sleeps on, so that what is tossed about comes to rest, and what
leads somewhere still gets there. Halfway between two shapes elements may be inside out, where bones
move the flesh around: untangling follows.
"""

from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Bool, Float32, Float64, Int, NumpyArray
from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.contact.rules import ASLEEP
from corporeal.physics.solver.constraints.strain import StrainConstraint
from corporeal.physics.solver.system import System

DROWSY, LEAST = 0.3, 0.05
"""Part of the way in a step beside a contact that has just fallen asleep, and at least."""
SLOWING = 0.25
"""The part falls off as this power of a sleeping contact's rate."""

Calm: TypeAlias = tuple[Int[NumpyArray, "k"], Float32[NumpyArray, "k 1"]]
"""Vertices, and their parts of the way."""


def part_of_way(rates: Float64[NumpyArray, "C"]) -> Float64[NumpyArray, "C"]:
    """Of the vertices of contacts with rates below `ASLEEP`, which fall off while they sleep."""
    return np.maximum(DROWSY * (rates / ASLEEP) ** SLOWING, LEAST)


def neighbours_in(system: System) -> csr_array:
    """`neighbourhoods` of all elements of a system."""
    strains = [c for c in system.constraints if isinstance(c, StrainConstraint)]
    corners = np.concatenate([strain.tetrahedra for strain in strains])
    return neighbourhoods(corners, system.vertex_count)


def neighbourhoods(corners: Int[NumpyArray, "T 4"], count: int) -> csr_array:
    """Vertices with those of all elements that they belong to, V × V."""
    places = np.repeat(corners, 4, axis=1).ravel(), np.tile(corners, (1, 4)).ravel()
    near = csr_array((np.ones(len(places[0]), np.float32), places), shape=(count, count))
    near.data[:] = 1.0
    return near


def calm_vertices(contacts: Contacts, near: csr_array, free: Bool[NumpyArray, "V"]) -> Calm:
    """Free vertices of sleeping contacts and around them, with the mean of their parts, but for
    those of contacts that are awake."""
    rates, awake = contacts.waking_rates(), np.zeros(len(free), bool)
    asleep = rates < ASLEEP
    if not asleep.any():
        return np.zeros(0, np.int64), np.zeros((0, 1), np.float32)
    vertices = contacts.vertices[asleep]
    parts, counts = np.zeros((2, len(free)), np.float32)
    np.add.at(parts, vertices, part_of_way(rates[asleep]).astype(np.float32)[:, None])
    np.add.at(counts, vertices, np.float32(1.0))
    awake[contacts.vertices[~asleep]] = True
    sums, many = near @ parts, near @ counts
    chosen = np.flatnonzero((many > 0.0) & free & ~awake)
    return chosen, (sums[chosen] / many[chosen])[:, None]


def calmed(
    positions: Float64[NumpyArray, "k 3"],
    carried: Float64[NumpyArray, "k 3"],
    parts: Float32[NumpyArray, "k 1"],
) -> Float64[NumpyArray, "k 3"]:
    """The `parts` of the way to `positions` from where bones carried vertices, metres."""
    return carried + parts * (positions - carried)
