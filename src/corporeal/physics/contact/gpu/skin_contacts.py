"""Skin on skin on a device: the rows of a frame, and what the next one goes on from; see
`contact.skin_contacts`."""

import jax
import jax.numpy as jnp

from corporeal._typing import Array, Bool, Float, Int
from corporeal.physics.contact.gpu.detection import Capacity, DeviceSkin, vertices_inside
from corporeal.physics.contact.gpu.pairs import Attached, attach
from corporeal.physics.contact.gpu.release import Reference, furthest_apart, pressed_together
from corporeal.physics.contact.gpu.rows import TouchingRows
from corporeal.physics.contact.gpu.touching import (
    SLOTS,
    DeviceMovement,
    DeviceTouching,
    aged_rates,
    corners_of,
    first_rates,
    go_on,
    nothing_touches,
    turned,
)
from corporeal.physics.contact.rules import ASLEEP, CLEARANCE, CLOSEST, FRICTION, WEIGHT


def skin_contacts(
    skin: DeviceSkin,
    positions: Float[Array, "3 V"],
    base_points: Float[Array, "3 V"],
    reference: Reference,
    movement: DeviceMovement,
    touching: DeviceTouching,
    capacity: Capacity,
) -> tuple[TouchingRows, DeviceTouching, Bool[Array, ""]]:
    """Rows, what the next frame goes on from, and whether something did not fit.

    `touching` are the pairs of before. Rows change as fast as a `movement` says.
    """
    count = positions.shape[1]
    hits, full = vertices_inside(skin, positions, base_points, capacity, everywhere=False)
    pairs = touching.triangles.reshape(SLOTS, count)
    made, crowded = attach(skin, positions, pairs, hits, capacity.contacts)
    anew, furthest, valid = _anew(skin, positions, reference, made)
    kept = touching.chosen(jnp.minimum(made.slot, SLOTS * count - 1))
    before = turned(skin, kept, movement.frames, into_world=True)
    corners = corners_of(skin, made.vertex, before.triangles)
    pressed = pressed_together(skin, reference, corners, before.shares)
    aged = aged_rates(skin, positions, made.vertex, before, movement, pressed)
    first, coming = first_rates(skin, positions, made.vertex, anew, movement)
    asleep = made.old & (aged < ASLEEP) & (made.slot < SLOTS * count)
    awake = valid & (jnp.where(made.old, aged, coming) >= ASLEEP)
    blends = jnp.where(made.old, aged, 1.0)
    now = go_on(skin, positions, made.vertex, made.old, before, anew, blends)
    now = now._replace(
        offsets=jnp.minimum(now.offsets, furthest), rates=jnp.where(made.old, aged, first)
    )
    seen, holds = turned(skin, now, movement.frames, into_world=False), asleep | awake
    current = _either(asleep, before._replace(rates=aged), now)
    rows = _rows(skin, reference, made.vertex, current, holds)
    after = _put(skin, made, _either(asleep, kept._replace(rates=aged), seen), holds)
    return rows, after, full | crowded


def _anew(
    skin: DeviceSkin, positions: Float[Array, "3 V"], reference: Reference, made: Attached
) -> tuple[DeviceTouching, Float[Array, "C"], Bool[Array, "C"]]:
    """Rows as they would be without a past, vectors of the world; metres that they may be pushed
    apart to; and which of them hold.

    As long as a vertex is inside and behind a triangle of before, nothing new counts for it.
    """
    foot = made.foot
    most = furthest_apart(
        skin, reference, positions, made.vertex, made.triangle, foot.shares, foot.normal
    )
    valid = made.valid & (most >= foot.gap - skin.push)
    behind = valid & made.old & made.inside & (foot.gap < 0.0)
    nowhere = jnp.zeros(positions.shape[1], bool)
    hidden = nowhere.at[jnp.where(behind, made.vertex, len(nowhere))].set(True, mode="drop")
    furthest = jnp.minimum(CLOSEST * made.apart, jnp.where(valid, most, 0.0))
    offsets = jnp.minimum(jnp.minimum(foot.gap + skin.push, CLEARANCE * skin.push), furthest)
    anew = DeviceTouching(
        made.triangle,
        foot.shares,
        foot.normal,
        offsets,
        jnp.zeros_like(foot.normal),
        jnp.zeros_like(foot.gap),
    )
    return anew, furthest, valid & (made.old | ~hidden[made.vertex])


def _either(
    first: Bool[Array, "C"], these: DeviceTouching, those: DeviceTouching
) -> DeviceTouching:
    """Rows of one list or of another."""
    return jax.tree.map(lambda one, other: jnp.where(first, one, other), these, those)


def _rows(
    skin: DeviceSkin,
    reference: Reference,
    vertex: Int[Array, "C"],
    now: DeviceTouching,
    holds: Bool[Array, "C"],
) -> TouchingRows:
    """What the solver is asked for, with friction where bones press; vectors are the world's."""
    ones, corners = jnp.ones_like(now.shares[:1]), corners_of(skin, vertex, now.triangles)
    pressed = pressed_together(skin, reference, corners, now.shares)
    return TouchingRows(
        corners,
        jnp.where(holds, jnp.concatenate([ones, -now.shares]), 0.0).T,
        now.normals,
        jnp.where(holds, now.offsets, 0.0),
        jnp.full_like(now.offsets, 1.0 / WEIGHT),
        jnp.where(pressed, FRICTION, jnp.zeros_like(now.offsets)),
        jnp.where(holds, now.places, 0.0),
        now.rates,
    )


def _put(
    skin: DeviceSkin, made: Attached, rows: DeviceTouching, holds: Bool[Array, "C"]
) -> DeviceTouching:
    """Rows in the slots of their vertices; a second one in the first where that is free."""
    count = len(skin.rest)
    taken = jnp.zeros(count, bool)
    taken = taken.at[jnp.where(holds & (made.slot < count), made.vertex, count)].set(
        True, mode="drop"
    )
    slot = jnp.where(taken[made.vertex], made.slot, made.vertex)
    slot = jnp.where(holds, slot, SLOTS * count)
    return jax.tree.map(
        lambda empty, part: empty.at[..., slot].set(part, mode="drop"),
        nothing_touches(count, len(skin.prisms)),
        rows,
    )
