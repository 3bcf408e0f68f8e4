"""Contact release on a device: see `contact.cpu.release`."""

from typing import NamedTuple

import jax.numpy as jnp

from corporeal._typing import Array, Bool, Float, Int
from corporeal.physics.contact.gpu.detection import Capacity, DeviceSkin, vertices_inside
from corporeal.physics.contact.gpu.touching import corners_of, seen_from_feet
from corporeal.physics.contact.rules import DOUBT, TORN


class Reference(NamedTuple):
    """Where bones alone would put the skin."""

    points: Float[Array, "3 V"]
    """Blending reference positions, metres."""
    doubts: Float[Array, "V"]
    """Mean distance of the carriers' opinions from them, metres."""
    overlapping: Bool[Array, "V"]
    """Vertices whose reference positions are inside the body at its reference."""


def reference_at(
    skin: DeviceSkin,
    frames: Float[Array, "J 4 4"],
    base_points: Float[Array, "3 V"],
    capacity: Capacity,
) -> tuple[Reference, Bool[Array, ""]]:
    """The reference of a pose, and whether something did not fit."""
    points, doubts = blended(skin, frames)
    hits, full = vertices_inside(skin, points, base_points, capacity)
    return Reference(points, doubts, hits < len(skin.prisms)), full


def blended(
    skin: DeviceSkin, frames: Float[Array, "J 4 4"]
) -> tuple[Float[Array, "3 V"], Float[Array, "V"]]:
    """The rest skin moved by the mean of its carriers' frames, and the mean distance of those from
    it, metres."""
    each = frames[skin.carriers]
    off = skin.rest[:, None] - skin.joints[skin.carriers]
    places = jnp.sum(each[..., :3, :3] * off[..., None, :], axis=-1) + each[..., :3, 3]
    points = jnp.sum(skin.carrier_shares[..., None] * places, axis=1)
    away = jnp.sqrt(jnp.sum((places - points[:, None]) ** 2, axis=-1))
    return points.T, jnp.sum(skin.carrier_shares * away, axis=1)


def pressed_together(
    skin: DeviceSkin,
    reference: Reference,
    corners: Int[Array, "C 4"],
    shares: Float[Array, "3 C"],
) -> Bool[Array, "C"]:
    """Which pairs bones press together, or may: they overlap where bones alone would put them, or
    it is not certain where that is."""
    overlapping = jnp.any(reference.overlapping[corners], axis=1)
    return overlapping | (_doubt(reference, corners, shares) > skin.push)


def _doubt(
    reference: Reference, corners: Int[Array, "C 4"], shares: Float[Array, "3 C"]
) -> Float[Array, "C"]:
    """Metres that flesh may be from its reference without contact."""
    doubts = reference.doubts[corners]
    return DOUBT * (doubts[:, 0] + jnp.sum(shares * doubts[:, 1:].T, axis=0))


def furthest_apart(
    skin: DeviceSkin,
    reference: Reference,
    positions: Float[Array, "3 V"],
    vertex: Int[Array, "C"],
    triangle: Int[Array, "C"],
    shares: Float[Array, "3 C"],
    normals: Float[Array, "3 C"],
) -> Float[Array, "C"]:
    """Metres of gap that pairs may be pushed to: ∞ where flesh overlaps at its reference, −∞ where
    it does not and is torn away from it."""
    corners = corners_of(skin, vertex, triangle)
    there = seen_from_feet(reference.points, corners, shares)
    missed = there - seen_from_feet(positions, corners, shares)
    doubt = _doubt(reference, corners, shares)
    torn = jnp.sqrt(jnp.sum(missed * missed, axis=0)) > TORN * skin.thickness[triangle] + doubt
    most = jnp.where(torn, -jnp.inf, jnp.sum(normals * there, axis=0) + doubt)
    return jnp.where(jnp.any(reference.overlapping[corners], axis=1), jnp.inf, most)
