"""How fast contacts of skin with skin change: as bones move their two sides against each other.

See `contact.touching` for what rates do.
"""

from typing import NamedTuple

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.physics.contact.blending_reference import BlendingReference
from corporeal.physics.contact.rules import ASLEEP, DOUBT, STALE
from corporeal.physics.contact.touching import Movement, Touching, seen_from_feet


class Reference(NamedTuple):
    """The skin where bones alone would put it."""

    positions: Float64[NumpyArray, "V 3"]
    """Metres."""
    doubts: Float64[NumpyArray, "V"]
    """Metres that they are uncertain by."""
    overlapping: Bool[NumpyArray, "V"]
    """Vertices that would be inside the body."""


class Feet(NamedTuple):
    """Pairs of vertices and triangles, as bones see them."""

    corners: Int[NumpyArray, "m 4"]
    """The vertex, then the triangle's."""
    shares: Float64[NumpyArray, "m 3"]
    """Barycentric coordinates of the foot."""


def pressed_together(reference: Reference, feet: Feet, push: float) -> Bool[NumpyArray, "m"]:
    """Which pairs bones press together, or may: they overlap where bones alone would put them, or
    it is not certain to a `push` (metres) where that is."""
    doubts = reference.doubts[feet.corners]
    doubt = DOUBT * (doubts[:, 0] + np.sum(feet.shares * doubts[:, 1:], axis=1))
    return reference.overlapping[feet.corners].any(axis=1) | (doubt > push)


def aged_rates(
    before: Touching,
    feet: Feet,
    positions: Float64[NumpyArray, "n 3"],
    movement: Movement,
    blending: BlendingReference,
    pressed: Bool[NumpyArray, "m"],
    push: float,
) -> Float64[NumpyArray, "m"]:
    """How much of what is new pairs of `before` take on, 0 to 1: all, where bones do not press them
    together (`pressed`)."""
    slips = seen_from_feet(positions, feet.corners, feet.shares) - before.places
    stale = np.linalg.norm(slips, axis=1) / push - STALE
    recent = movement.remembered * before.rates
    moved = _moved_apart(feet, positions, movement, blending) / push
    rates = np.clip(np.maximum(np.maximum(moved, recent), stale), 0.0, 1.0)
    return np.where(pressed, rates, 1.0)


def first_rates(
    feet: Feet,
    positions: Float64[NumpyArray, "n 3"],
    movement: Movement,
    blending: BlendingReference,
    push: float,
) -> tuple[Float64[NumpyArray, "m"], Float64[NumpyArray, "m"]]:
    """Of new pairs: rates as bones move them, and those at which bones or flesh bring them
    together; pairs that neither does are none."""
    bones = _moved_apart(feet, positions, movement, blending) / push
    flesh = seen_from_feet(movement.flesh, feet.corners, feet.shares)
    coming = np.maximum(bones, np.linalg.norm(flesh, axis=1) / push)
    return np.clip(bones, ASLEEP * movement.remembered, 1.0), coming


def _moved_apart(
    feet: Feet,
    positions: Float64[NumpyArray, "n 3"],
    movement: Movement,
    blending: BlendingReference,
) -> Float64[NumpyArray, "m"]:
    """How far bones move the sides of pairs against each other, metres."""
    points = positions[feet.corners[:, 0]]
    return blending.moved_apart(points, feet.corners, feet.shares, movement.moves)
