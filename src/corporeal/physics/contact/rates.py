"""How fast contacts of skin with skin change: as bones move their two sides against each other.

See `contact.touching` for what rates do.
"""

from typing import NamedTuple

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.physics.contact.blending_reference import BlendingReference
from corporeal.physics.contact.rules import ASLEEP, DOUBT, STALE
from corporeal.physics.contact.touching import Movement, Touching, TouchingEdges, seen_apart


class Reference(NamedTuple):
    """The skin where bones alone would put it."""

    positions: Float64[NumpyArray, "V 3"]
    """Metres."""
    doubts: Float64[NumpyArray, "V"]
    """Metres that they are uncertain by."""
    overlapping: Bool[NumpyArray, "V"]
    """Vertices that would be inside the body."""


class Sides(NamedTuple):
    """The two sides of pairs, as bones see them: Σ_k c_k x_k is one from the other."""

    corners: Int[NumpyArray, "m 4"]
    """Vertices of the skin."""
    coefficients: Float64[NumpyArray, "m 4"]
    """c: they sum to 1 on one side and to −1 on the other."""


def pressed_together(reference: Reference, sides: Sides, push: float) -> Bool[NumpyArray, "m"]:
    """Which pairs bones press together, or may: they overlap where bones alone would put them, or
    it is not certain to a `push` (metres) where that is."""
    overlapping = reference.overlapping[sides.corners].any(axis=1)
    return overlapping | (doubt_of(reference, sides) > push)


def doubt_of(reference: Reference, sides: Sides) -> Float64[NumpyArray, "m"]:
    """Metres that pairs may be from their reference without contact."""
    doubts = reference.doubts[sides.corners]
    return DOUBT * np.sum(np.abs(sides.coefficients) * doubts, axis=1)


def aged_rates(
    before: Touching | TouchingEdges,
    sides: Sides,
    positions: Float64[NumpyArray, "n 3"],
    movement: Movement,
    blending: BlendingReference,
    pressed: Bool[NumpyArray, "m"],
    push: float,
) -> Float64[NumpyArray, "m"]:
    """How much of what is new pairs of `before` take on, 0 to 1: all, where bones do not press them
    together (`pressed`)."""
    slips = seen_apart(positions, sides.corners, sides.coefficients) - before.places
    stale = np.linalg.norm(slips, axis=1) / push - STALE
    recent = movement.remembered * before.rates
    moved = _moved_apart(sides, positions, movement, blending) / push
    rates = np.clip(np.maximum(np.maximum(moved, recent), stale), 0.0, 1.0)
    return np.where(pressed, rates, 1.0)


def first_rates(
    sides: Sides,
    positions: Float64[NumpyArray, "n 3"],
    movement: Movement,
    blending: BlendingReference,
    push: float,
) -> tuple[Float64[NumpyArray, "m"], Float64[NumpyArray, "m"]]:
    """Of new pairs: rates as bones move them, and those at which bones or flesh bring them
    together; pairs that neither does are none."""
    bones = _moved_apart(sides, positions, movement, blending) / push
    flesh = seen_apart(movement.flesh, sides.corners, sides.coefficients)
    coming = np.maximum(bones, np.linalg.norm(flesh, axis=1) / push)
    return np.clip(bones, ASLEEP * movement.remembered, 1.0), coming


def _moved_apart(
    sides: Sides,
    positions: Float64[NumpyArray, "n 3"],
    movement: Movement,
    blending: BlendingReference,
) -> Float64[NumpyArray, "m"]:
    """How far bones move the sides of pairs against each other, metres."""
    # Σ c_k x_k over the first side
    first = np.maximum(sides.coefficients, 0.0)
    points = np.einsum("ck,ckj->cj", first, positions[sides.corners])
    return blending.moved_apart(points, sides.corners, sides.coefficients, movement.moves)
