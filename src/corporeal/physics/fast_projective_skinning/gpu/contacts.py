"""Global collisions of a clip on a device: found once a frame, honoured in all of its steps."""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp

from corporeal._typing import Array, Bool, Float, Int
from corporeal.physics.contact.gpu.detection import Capacity, DeviceSkin
from corporeal.physics.contact.gpu.pairs import Touching, skin_contacts
from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody
from corporeal.physics.solver.gpu.contacts import ContactRows, contact_rows


class Collisions(NamedTuple):
    """What a clip needs besides its body to keep skin out of skin."""

    skin: DeviceSkin
    """What finding contacts needs of the skin."""
    dense: Float[Array, "f f"]
    """The whole inverse of the global step, m/N."""
    pairs: Int[Array, "2 V"]
    """Triangles that every skin vertex touches; F for none."""


class Touched(NamedTuple):
    """What a clip tells about its contacts."""

    pairs: Int[Array, "2 V"] | None
    """Of skin with skin, at the end."""
    counts: Int[Array, "N"]
    """Contacts in every frame."""
    full: Bool[Array, "N"]
    """Frames whose contacts did not all fit: to be given to `require_room`."""


def no_pairs(body: DeviceBody) -> Int[Array, "2 V"]:
    """Nothing touches."""
    return jnp.full((2, len(body.skin_places)), len(body.surface.triangles), jnp.int32)


def base_points(skin: DeviceSkin, frames: Float[Array, "J 4 4"]) -> Float[Array, "3 V"]:
    """Base points on the posed bone lines, metres."""
    owners = frames[skin.base_joints]
    ends = owners[..., :3, 3] + jnp.sum(owners[..., :3, :3] * skin.base_offsets[:, :, None], axis=3)
    start, end = ends[:, 0], ends[:, 1]
    return (start + skin.base_places[:, None] * (end - start)).T


def found_pairs(
    body: DeviceBody,
    collisions: Collisions,
    positions: Float[Array, "3 n"],
    base: Float[Array, "3 V"],
    pairs: Int[Array, "2 V"],
    capacity: Capacity,
) -> tuple[Touching, Int[Array, "2 V"], Bool[Array, ""]]:
    """Rows of skin on skin at `positions`, the pairs, and whether all fit."""
    skin = positions[:, body.skin_places]
    touching, pairs, full = skin_contacts(collisions.skin, skin, base, pairs, capacity)
    return touching._replace(vertices=body.skin_places[touching.vertices]), pairs, full


def joined_rows(dense: Float[Array, "f f"], parts: Sequence[Touching]) -> ContactRows:
    """The rows of all parts, ready for the solver."""
    every = parts[0]
    for part in parts[1:]:
        along = Touching(0, 0, 1, 0, 0, 0)
        both = zip(every, part, along, strict=True)
        every = Touching(*(jnp.concatenate([a, b], axis) for a, b, axis in both))
    return contact_rows(dense, *every)


def row_count(touching: Touching) -> Int[Array, ""]:
    """Rows of contacts."""
    return jnp.sum(touching.coefficients[:, 0] > 0.0, dtype=jnp.int32)
