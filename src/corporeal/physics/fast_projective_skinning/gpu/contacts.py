"""Global collisions of a clip on a device: found once a frame, honoured in all of its steps."""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from corporeal._typing import Array, Bool, Float, Int, NumpyArray
from corporeal.physics.contact.gpu.detection import Capacity, DeviceSkin
from corporeal.physics.contact.gpu.release import Reference
from corporeal.physics.contact.gpu.rows import TouchingRows
from corporeal.physics.contact.gpu.skin_contacts import skin_contacts
from corporeal.physics.contact.gpu.touching import (
    SLOTS,
    DeviceMovement,
    DeviceTouching,
    nothing_touches,
)
from corporeal.physics.contact.touching import Touching
from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody
from corporeal.physics.solver.gpu.calming import calm_parts, neighbour_table
from corporeal.physics.solver.gpu.contacts import contact_rows
from corporeal.physics.solver.gpu.step import Contact


class Collisions(NamedTuple):
    """What a clip needs besides its body to keep skin out of skin."""

    skin: DeviceSkin
    """What finding contacts needs of the skin."""
    dense: Float[Array, "f f"]
    """The whole inverse of the global step, m/N."""
    near: Int[Array, "f m"]
    """Free vertices and those that they share elements with (`solver.gpu.calming`)."""
    touching: DeviceTouching
    """What touches when the clip begins."""


class Touched(NamedTuple):
    """What a clip tells about its contacts."""

    touching: DeviceTouching | None
    """Of skin with skin, at the end."""
    counts: Int[Array, "N"]
    """Contacts in every frame."""
    full: Bool[Array, "N"]
    """Frames whose contacts did not all fit: to be given to `require_room`."""


def collisions_of(
    body: DeviceBody,
    skin: DeviceSkin,
    dense: Float[Array, "f f"],
    touching: Touching | None = None,
) -> Collisions:
    """Collisions of a clip that begins with what is `touching`: up to two pairs a vertex."""
    near = neighbour_table(body.elements, len(body.order))
    return Collisions(skin, dense, near, device_touching(body, touching))


def device_touching(body: DeviceBody, touching: Touching | None) -> DeviceTouching:
    """Pairs in the slots of their vertices, the first two of each, float32."""
    count = len(body.skin_places)
    empty = nothing_touches(count, len(body.surface.triangles))
    if touching is None or len(touching) == 0:
        return empty
    vertices = touching.pairs[:, 0]
    order = np.argsort(vertices, kind="stable")
    rank = np.arange(len(order)) - np.searchsorted(vertices[order], vertices[order])
    rows = order[rank < SLOTS]
    slots = rank[rank < SLOTS] * count + vertices[rows]
    chosen = touching.chosen(rows)
    parts = (
        chosen.pairs[:, 1], chosen.shares.T, chosen.normals.T, chosen.offsets, chosen.places.T,
        chosen.rates,
    )  # fmt: skip
    made = [np.array(part) for part in empty]
    for slot_part, part in zip(made, parts, strict=True):
        slot_part[..., slots] = part
    return DeviceTouching(*made)


def host_touching(body: DeviceBody, touching: DeviceTouching) -> Touching:
    """The pairs that are there, as the CPU has them."""
    parts = [np.asarray(part) for part in touching]
    slots = np.flatnonzero(parts[0] < len(body.surface.triangles))
    triangles, shares, normals, offsets, places, rates = (part[..., slots] for part in parts)

    def listed(part: NumpyArray) -> NumpyArray:
        return np.ascontiguousarray(part.T, np.float64)

    return Touching(
        np.stack([slots % len(body.skin_places), triangles], axis=1).astype(np.int64),
        listed(shares),
        listed(normals),
        listed(offsets),
        listed(places),
        listed(rates),
    )


def base_points(skin: DeviceSkin, frames: Float[Array, "J 4 4"]) -> Float[Array, "3 V"]:
    """Base points on the posed bone lines, metres."""
    owners = frames[skin.base_joints]
    ends = owners[..., :3, 3] + jnp.sum(owners[..., :3, :3] * skin.base_offsets[:, :, None], axis=3)
    start, end = ends[:, 0], ends[:, 1]
    return (start + skin.base_places[:, None] * (end - start)).T


def found_touching(
    body: DeviceBody,
    collisions: Collisions,
    positions: Float[Array, "3 n"],
    base: Float[Array, "3 V"],
    reference: Reference,
    movement: DeviceMovement,
    touching: DeviceTouching,
    capacity: Capacity,
) -> tuple[TouchingRows, DeviceTouching, Bool[Array, ""]]:
    """Rows of skin on skin at `positions`, what the next frame goes on from, and whether some did
    not fit."""
    skin = positions[:, body.skin_places]
    rows, touching, full = skin_contacts(
        collisions.skin, skin, base, reference, movement, touching, capacity
    )
    return rows._replace(vertices=body.skin_places[rows.vertices]), touching, full


def joined_contact(
    dense: Float[Array, "f f"],
    parts: Sequence[TouchingRows],
    near: Int[Array, "f m"] | None,
    vertex_count: int,
) -> Contact:
    """The rows of all parts, ready for the solver; without `near` nothing is slowed down."""
    every = parts[0]
    for part in parts[1:]:
        along = TouchingRows(0, 0, 1, 0, 0, 0, 1, 0)
        both = zip(every, part, along, strict=True)
        every = TouchingRows(*(jnp.concatenate([a, b], axis) for a, b, axis in both))
    calm = None if near is None else calm_parts(every, near, vertex_count)
    return Contact(contact_rows(dense, *every[:6]), every.held, calm)


def row_count(rows: TouchingRows) -> Int[Array, ""]:
    """Rows of contacts."""
    return jnp.sum(rows.coefficients[:, 0] > 0.0, dtype=jnp.int32)
