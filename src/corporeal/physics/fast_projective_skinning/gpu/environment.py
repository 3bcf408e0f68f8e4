"""The environment of a clip as arrays for a device."""

import numpy as np

from corporeal._typing import Array, Float, Float64, NumpyArray
from corporeal.errors import InputError
from corporeal.physics.contact.colliders.box import Box
from corporeal.physics.contact.colliders.capsule import Capsule
from corporeal.physics.contact.colliders.collider import Collider, Touch
from corporeal.physics.contact.colliders.ground import Ground
from corporeal.physics.contact.colliders.sphere import Sphere
from corporeal.physics.contact.gpu.environment import DeviceGrabs, DeviceWorld
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment
from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody


def device_world(
    outside: BoundEnvironment,
    prepared: DeviceBody,
    dense: Float[Array, "f f"],
    times: Float64[NumpyArray, "k1"],
    origins: Float64[NumpyArray, "k1 3"],
    static: bool,
) -> DeviceWorld | None:
    """Colliders, wind and grabs at the ends of all steps (`times` in seconds, from the first on),
    seen from the `origins` of the steps; None where there are none. Nothing rubs in static balance.
    """
    colliders, wind = outside.colliders, outside.wind
    if not colliders and not outside.grabs and wind is None:
        return None
    sizes = [_size(collider) for collider in colliders]
    path = np.array([[collider.at(time) for collider in colliders] for time in times])
    path = path.reshape(len(times), len(colliders), 4, 4)
    after = _seen(path[1:], origins[1:])
    before = after if static else _seen(path[:-1], origins[1:])
    places = np.asarray(prepared.skin_places)
    touch = Touch(reach=outside.body.touch_reach)
    rubbing = 0.0 if static else 1.0
    return DeviceWorld(
        np.array([half for half, _, _ in sizes], np.float32).reshape(-1, 3),
        np.array([radius for _, radius, _ in sizes], np.float32),
        np.array([flat for _, _, flat in sizes], bool),
        np.array([rubbing * collider.friction for collider in colliders], np.float32),
        before,
        after,
        np.asarray(np.zeros(3) if wind is None else wind.velocity, np.float32),
        np.float32(0.0 if wind is None else 0.5 * wind.density * wind.drag),
        places[places < prepared.free_count].astype(np.int32),
        np.float32(touch.reach),
        np.float32(1.0 / touch.stiffness),
        dense,
        _device_grabs(outside, prepared, origins[1:]) if outside.grabs else None,
    )


def grab_shares(outside: BoundEnvironment, prepared: DeviceBody) -> Float[NumpyArray, "G n"]:
    """Shares of the vertices, in the device's order, in the held points of the simulated skin."""
    shares = np.zeros((len(outside.grabs), len(prepared.order)), np.float32)
    places = np.asarray(prepared.skin_places)
    for row, (corners, weights) in zip(shares, outside.grips, strict=True):
        row[places[corners]] = weights
    return shares


def grab_stiffness(outside: BoundEnvironment) -> Float[NumpyArray, "G"]:
    """Of the springs, N/m."""
    return np.array([grab.stiffness for grab in outside.grabs], np.float32)


def _device_grabs(
    outside: BoundEnvironment, prepared: DeviceBody, origins: Float64[NumpyArray, "k 3"]
) -> DeviceGrabs:
    """Held points, and their targets seen from the steps' origins."""
    targets = np.array([grab.target for grab in outside.grabs])
    seen = (targets - origins[:, None]).transpose(0, 2, 1).astype(np.float32)
    places, upsampler = np.asarray(prepared.skin_places), prepared.upsampler
    on_skin = np.zeros((len(outside.grabs), len(prepared.order)), np.float32)
    for row, grab in zip(on_skin, outside.grabs, strict=True):
        near = places[np.asarray(upsampler.neighbours)[grab.vertices]]
        weights = grab.shares[:, None] * np.asarray(upsampler.weights)[grab.vertices]
        np.add.at(row, near, weights)
    shares = grab_shares(outside, prepared)
    return DeviceGrabs(shares, on_skin, grab_stiffness(outside), seen)


def _size(collider: Collider) -> tuple[tuple[float, ...], float, bool]:
    """Half edges and radius of a collider's box, and whether it is the ground."""
    shape = collider.shape
    if isinstance(shape, Ground):
        return (0.0, 0.0, 0.0), 0.0, True
    if isinstance(shape, Box):
        return tuple(0.5 * edge for edge in shape.size), 0.0, False
    if isinstance(shape, Sphere):
        return (0.0, 0.0, 0.0), shape.radius, False
    if isinstance(shape, Capsule):
        return (0.0, 0.5 * shape.length, 0.0), shape.radius, False
    raise InputError(
        f"a collider is a {type(shape).__name__}; the GPU knows ground, box, sphere and capsule. "
        f"Use --device cpu."
    )


def _seen(
    placed: Float64[NumpyArray, "k c 4 4"], origins: Float64[NumpyArray, "k 3"]
) -> Float[NumpyArray, "k c 4 4"]:
    """Placements seen from the steps' origins."""
    moved = placed.copy()
    moved[..., :3, 3] -= origins[:, None]
    return moved.astype(np.float32)
