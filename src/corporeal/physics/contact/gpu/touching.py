"""Skin on skin from one frame to the next, on a device: see `contact.touching`.

Every vertex has two slots for pairs; slot s is one of vertex s mod V. Rows that sleep are not
touched at all, so that they stay what they are to the last bit.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from corporeal._typing import Array, Bool, Float, Int
from corporeal.physics.contact.gpu.detection import DeviceSkin
from corporeal.physics.contact.gpu.feet import nearest_shares
from corporeal.physics.contact.rules import ASLEEP, STALE

SLOTS = 2
"""Pairs that a vertex may have at a time."""


class DeviceTouching(NamedTuple):
    """Pairs of skin on skin and their rows: S slots, two a vertex, or some of them."""

    triangles: Int[Array, "S"]
    """That vertices stay in front of; F for none."""
    shares: Float[Array, "3 S"]
    """Barycentric coordinates of the foot."""
    normals: Float[Array, "3 S"]
    """Unit vectors out of the triangle, as its bone sees them."""
    offsets: Float[Array, "S"]
    """Metres along the normal that the vertex is kept at."""
    places: Float[Array, "3 S"]
    """Where friction holds the vertex, from its foot, as the triangle's bone sees it (metres)."""
    rates: Float[Array, "S"]
    """Share of what is new that the last frame took on, 0 to 1; below `ASLEEP` it sleeps."""

    def chosen(self, slots: Int[Array, "C"]) -> "DeviceTouching":
        """Some of them, in the order given."""
        return jax.tree.map(lambda part: part[..., slots], self)


class DeviceMovement(NamedTuple):
    """How bones and flesh move in one frame, all seen from one origin."""

    frames: Float[Array, "J 4 4"]
    """World frames of the joints when contacts are asked for."""
    displacements: Float[Array, "J 3 4"]
    """By how much every joint displaces what it carries (`displacements`)."""
    flesh: Float[Array, "3 V"]
    """Metres that every skin vertex would go on by."""
    remembered: Float[Array, ""]
    """Share of a rate that is left a frame later, where bones do not move."""


def nothing_touches(vertex_count: int, triangle_count: int) -> DeviceTouching:
    """No pairs."""
    slots = SLOTS * vertex_count
    one, three = jnp.zeros(slots, jnp.float32), jnp.zeros((3, slots), jnp.float32)
    none = jnp.full(slots, triangle_count, jnp.int32)
    return DeviceTouching(none, three, three, one, three, one)


def displacements(
    before: Float[Array, "*batch J 4 4"], after: Float[Array, "*batch J 4 4"]
) -> Float[Array, "*batch J 3 4"]:
    """(A_after − A_before) A_before⁻¹ of rigid frames A: exactly 0 where nothing moves, as the
    difference of rounded products would not be."""
    turn, moved = after[..., :3, :3] - before[..., :3, :3], after[..., :3, 3] - before[..., :3, 3]
    # T_ij = Σ_k (R'_ik − R_ik) R_jk
    turn = jnp.sum(turn[..., :, None, :] * before[..., None, :3, :3], axis=-1)
    moved = moved - jnp.sum(turn * before[..., None, :3, 3], axis=-1)
    return jnp.concatenate([turn, moved[..., None]], axis=-1)


def moved_apart(
    skin: DeviceSkin,
    displacements: Float[Array, "J 3 4"],
    points: Float[Array, "3 C"],
    corners: Int[Array, "C 4"],
    shares: Float[Array, "3 C"],
) -> Float[Array, "C"]:
    """Metres between where the carriers of a vertex and those of a foot take one point; see
    `BlendingReference.moved_apart`."""
    signs = jnp.concatenate([jnp.ones_like(shares[:1]), -shares]).T
    weights = signs[..., None] * skin.carrier_shares[corners]
    each = displacements[skin.carriers[corners]]
    # m_i = Σ_j D_ij x_j + D_i4, a corner and a carrier
    moves = jnp.sum(each[..., :3] * points.T[:, None, None, None], axis=-1) + each[..., 3]
    away = jnp.sum(weights[..., None] * moves, axis=(1, 2))
    return jnp.sqrt(jnp.sum(away * away, axis=1))


def seen_from_feet(
    vectors: Float[Array, "3 V"], corners: Int[Array, "C 4"], shares: Float[Array, "3 C"]
) -> Float[Array, "3 C"]:
    """x_v − Σ_k b_k x_k: vertices, the first of `corners`, from their feet on the others."""
    return vectors[:, corners[:, 0]] - jnp.sum(shares * vectors[:, corners[:, 1:].T], axis=1)


def turned(
    skin: DeviceSkin,
    touching: DeviceTouching,
    frames: Float[Array, "J 4 4"],
    *,
    into_world: bool,
) -> DeviceTouching:
    """With vectors as the world sees them, or as the bones of the triangles do."""
    owners = skin.owners[jnp.minimum(touching.triangles, len(skin.owners) - 1)]
    rotations = jnp.moveaxis(frames[owners, :3, :3], 0, -1)

    def seen(vectors: Float[Array, "3 C"]) -> Float[Array, "3 C"]:
        if into_world:
            return jnp.sum(rotations * vectors, axis=1)  # x_i = Σ_j R_ij y_j
        return jnp.sum(rotations * vectors[:, None], axis=0)  # y_j = Σ_i R_ij x_i

    return touching._replace(normals=seen(touching.normals), places=seen(touching.places))


def aged_rates(
    skin: DeviceSkin,
    positions: Float[Array, "3 V"],
    vertex: Int[Array, "C"],
    before: DeviceTouching,
    movement: DeviceMovement,
    pressed: Bool[Array, "C"],
) -> Float[Array, "C"]:
    """How much of what is new pairs of before take on: all, where they are not `pressed` together
    by bones. Vectors are the world's."""
    corners = corners_of(skin, vertex, before.triangles)
    slips = seen_from_feet(positions, corners, before.shares) - before.places
    stale = jnp.sqrt(jnp.sum(slips * slips, axis=0)) / skin.push - STALE
    recent = movement.remembered * before.rates
    points = positions[:, vertex]
    away = moved_apart(skin, movement.displacements, points, corners, before.shares)
    rates = jnp.maximum(jnp.maximum(away / skin.push, recent), stale)
    return jnp.where(pressed, jnp.clip(rates, 0.0, 1.0), 1.0)


def first_rates(
    skin: DeviceSkin,
    positions: Float[Array, "3 V"],
    vertex: Int[Array, "C"],
    anew: DeviceTouching,
    movement: DeviceMovement,
) -> tuple[Float[Array, "C"], Float[Array, "C"]]:
    """Of new pairs: rates as bones move them, and those at which bones or flesh bring them
    together; pairs that neither does are none."""
    corners = corners_of(skin, vertex, anew.triangles)
    points = positions[:, vertex]
    bones = moved_apart(skin, movement.displacements, points, corners, anew.shares) / skin.push
    flesh = seen_from_feet(movement.flesh, corners, anew.shares)
    coming = jnp.maximum(bones, jnp.sqrt(jnp.sum(flesh * flesh, axis=0)) / skin.push)
    return jnp.clip(bones, ASLEEP * movement.remembered, 1.0), coming


def go_on(
    skin: DeviceSkin,
    positions: Float[Array, "3 V"],
    vertex: Int[Array, "C"],
    old: Bool[Array, "C"],
    before: DeviceTouching,
    anew: DeviceTouching,
    rates: Float[Array, "C"],
) -> DeviceTouching:
    """Rows between what they were and what they would be anew, as `contact.cpu.touching.go_on`: one
    of rate a takes the share a of foot, normal and offset, and forgets the share a of its slip.

    Rows that are not `old` are taken as they are, with the places that they have now.
    """
    blends = old & (rates < 1.0)
    then = seen_from_feet(positions, corners_of(skin, vertex, before.triangles), before.shares)
    now = seen_from_feet(positions, corners_of(skin, vertex, anew.triangles), anew.shares)
    foot = positions[:, vertex] - (then + rates * (now - then))
    on = jnp.where(blends & (rates < 0.5), before.triangles, anew.triangles)
    corners = corners_of(skin, vertex, on)
    _, second, third = nearest_shares(foot, positions, corners[:, 1:])
    between = jnp.stack([1.0 - second - third, second, third])
    shares = jnp.where(blends, between, anew.shares)
    normals = before.normals + rates * (anew.normals - before.normals)
    length = jnp.sqrt(jnp.sum(normals * normals, axis=0))
    normals = normals / jnp.where(length > 0.0, length, 1.0)
    offsets = before.offsets + rates * (anew.offsets - before.offsets)
    slipped = jnp.where(blends, (1.0 - rates) * (then - before.places), 0.0)
    return DeviceTouching(
        on,
        shares,
        jnp.where(blends, normals, anew.normals),
        jnp.where(blends, offsets, anew.offsets),
        seen_from_feet(positions, corners, shares) - slipped,
        anew.rates,
    )


def corners_of(
    skin: DeviceSkin, vertex: Int[Array, "C"], triangles: Int[Array, "C"]
) -> Int[Array, "C 4"]:
    """Vertices and the corners of their triangles; of no triangle, those of the last."""
    listed = skin.surface.triangles[jnp.minimum(triangles, len(skin.owners) - 1)]
    return jnp.concatenate([vertex[:, None], listed], axis=1)
