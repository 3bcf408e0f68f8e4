"""Global collisions of a clip on a device: found once a frame, honoured in all of its steps."""

from typing import NamedTuple

import jax.numpy as jnp

from corporeal._typing import Array, Bool, Float, Int
from corporeal.physics.collisions.gpu_detection import DeviceSkin, Room
from corporeal.physics.collisions.gpu_pairs import skin_contacts
from corporeal.physics.coupling_gpu import DeviceCoupling, posed_nodes
from corporeal.physics.projective.gpu_body import DeviceBody
from corporeal.physics.projective_dynamics.gpu_contacts import ContactRows, contact_rows


class Collisions(NamedTuple):
    """What a clip needs besides its body to keep skin out of skin."""

    skin: DeviceSkin
    dense: Float[Array, "f f"]
    """The whole inverse of the global step, m/N."""
    pairs: Int[Array, "2 V"]
    """Triangles that every skin vertex touches; F for none."""


class Touched(NamedTuple):
    """What a clip tells about its contacts."""

    pairs: Int[Array, "2 V"]
    """At the end."""
    counts: Int[Array, "N"]
    """Contacts in every frame."""
    full: Bool[Array, "N"]
    """Frames whose contacts did not all fit: to be given to `require_room`."""


def no_pairs(body: DeviceBody) -> Int[Array, "2 V"]:
    """Nothing touches."""
    return jnp.full((2, len(body.skin_places)), len(body.surface.triangles), jnp.int32)


def base_points(
    coupling: DeviceCoupling, skin: DeviceSkin, frames: Float[Array, "J 4 4"]
) -> Float[Array, "3 V"]:
    """Base points on the posed bone lines, metres."""
    nodes = posed_nodes(coupling, frames)
    ends = coupling.bones[skin.base_bones]
    start, end = nodes[ends[:, 0]], nodes[ends[:, 1]]
    return (start + skin.base_places[:, None] * (end - start)).T


def found_rows(
    body: DeviceBody,
    collisions: Collisions,
    positions: Float[Array, "3 n"],
    base: Float[Array, "3 V"],
    pairs: Int[Array, "2 V"],
    room: Room,
) -> tuple[ContactRows, Int[Array, "2 V"], Int[Array, ""], Bool[Array, ""]]:
    """Rows of all contacts at `positions`, the pairs, how many there are, whether all fit."""
    skin = positions[:, body.skin_places]
    touching, pairs, full = skin_contacts(collisions.skin, skin, base, pairs, room)
    rows = contact_rows(
        collisions.dense,
        body.skin_places[touching.vertices],
        touching.coefficients,
        touching.normals,
        touching.offsets,
    )
    count = jnp.sum(touching.coefficients[:, 0] > 0.0, dtype=jnp.int32)
    return rows, pairs, count, full
