"""A whole clip on a device as one program: coupling, steps, upsampling and normals.

Frames go in pieces: the coupling of a piece is one batch, then its steps are taken one after the
other, then its skins are made in one batch. Nothing goes back to the host before the clip ends, and
the results stay on the device until they are asked for.

Positions are kept relative to a whole number of metres near the character (an origin for every
frame), so that float32 is as good a kilometre away as at home.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from corporeal._typing import Array, Float, Float64, NumpyArray
from corporeal.errors import InputError
from corporeal.physics.coupling_gpu import carried_positions
from corporeal.physics.projective.gpu_body import DeviceBody
from corporeal.physics.projective_dynamics.gpu import Drive, Moving, Way, take_step
from corporeal.physics.projective_dynamics.gpu_inverse import Inverse
from corporeal.physics.projective_dynamics.integration import State, StepRule, rebased
from corporeal.physics.upsampling_gpu import full_normals, full_skin


class Frames(NamedTuple):
    """The skeletons of B characters at every step; k steps after the start."""

    start: Float[Array, "B J 4 4"]
    path: Float[Array, "k B J 4 4"]
    """World frames, from the origin of the step."""
    shifts: Float[Array, "k 3 B"]
    """How far the origin moved in a step: whole metres."""


class Skins(NamedTuple):
    """What a clip gives: N frames of B characters, from the origins of the frames."""

    vertices: Float[Array, "N B W 3"]
    """Metres."""
    normals: Float[Array, "N B W 3"] | None
    simulated: Float[Array, "N 3 V B"] | None
    """The simulated skin, metres."""


class Wanted(NamedTuple):
    """What is made of every frame."""

    vertices: bool = True
    normals: bool = False
    simulated: bool = False


SKIN, ACCELERATED = Wanted(), Way()


def clip_frames(
    world_from_joint: Float64[NumpyArray, "k B J 4 4"],
) -> tuple[Frames, Float64[NumpyArray, "k B 3"]]:
    """Frames for the device (float32) and their origins, metres."""
    origins = np.round(world_from_joint[:, :, 0, :3, 3])
    near = world_from_joint.copy()
    near[..., :3, 3] -= origins[:, :, None]
    near = near.astype(np.float32)
    shifts = np.diff(origins, axis=0).transpose(0, 2, 1).astype(np.float32)
    return Frames(near[0], near[1:], shifts), origins


def device_state(
    body: DeviceBody, states: list[State], origins: Float64[NumpyArray, "B 3"], step: float
) -> Moving:
    """The free vertices of some characters' states, laid out for the device."""
    chosen = np.asarray(body.order)[: body.free_count]
    pasts = [rebased(state, step) for state in states]

    def laid_out(parts: list[NumpyArray]) -> NumpyArray:
        return np.stack([part[chosen].T for part in parts], axis=-1).astype(np.float32)

    return Moving(
        laid_out([p.positions - o for p, o in zip(pasts, origins, strict=True)]),
        laid_out([p.velocities for p in pasts]),
        laid_out([p.earlier_positions - o for p, o in zip(pasts, origins, strict=True)]),
        laid_out([p.earlier_velocities for p in pasts]),
    )


@partial(jax.jit, static_argnames=("rule", "steps", "piece", "wanted", "way"))
def run_clip(
    body: DeviceBody,
    inverse: Inverse,
    rule: StepRule,
    moving: Moving,
    frames: Frames,
    *,
    steps: int = 1,
    piece: int = 1,
    wanted: Wanted = SKIN,
    way: Way = ACCELERATED,
) -> tuple[Moving, Skins]:
    """All frames after the first, `steps` steps each, `piece` frames at a time.

    Gives the last state as well, to go on from.
    """
    count = frames.path.shape[0]
    if count % (steps * piece):
        raise InputError(
            f"a clip of {count} steps came in pieces of {piece} frames of {steps} steps; expected "
            f"whole pieces."
        )

    def pieces(values: Array) -> Array:
        return values.reshape(-1, piece * steps, *values.shape[1:])

    def go(carry: tuple[Moving, Array], given: tuple[Array, Array]) -> tuple:
        path, shifts = given
        moving, before = carry
        carriers = _carriers(body, path)
        drives = _drives(body, rule, before, carriers, shifts)
        moving, free = _taken(body, inverse, rule, moving, drives, shifts, steps, way)
        fixed = drives.anchors[steps - 1 :: steps]
        return (moving, carriers[-1]), _skins(body, free, fixed, wanted)

    start = (moving, _carriers(body, frames.start[None])[0])
    (moving, _), skins = lax.scan(go, start, (pieces(frames.path), pieces(frames.shifts)))
    joined = [None if s is None else s.reshape(-1, *s.shape[2:]) for s in skins]
    return moving, Skins(*joined)


def _carriers(body: DeviceBody, path: Float[Array, "k B J 4 4"]) -> Float[Array, "k 3 c B"]:
    """Inner vertices and rigid skin at every step, metres."""
    each = jax.vmap(jax.vmap(partial(carried_positions, body.coupling)))(path)
    return each.transpose(0, 2, 3, 1)


def _drives(
    body: DeviceBody,
    rule: StepRule,
    before: Float[Array, "3 c B"],
    carriers: Float[Array, "k 3 c B"],
    shifts: Float[Array, "k 3 B"],
) -> Drive:
    """What every step is given, steps along the first axis."""
    free = body.free_count
    earlier = jnp.concatenate([before[None], carriers[:-1]]) - shifts[:, :, None]
    speeds = (carriers - earlier) / rule.step
    weight = jnp.broadcast_to(
        body.weight[None, :, :, None], (len(carriers), 3, free, before.shape[-1])
    )
    return Drive(carriers[:, :, body.sources[free:]], weight, speeds[:, :, body.sources[:free]])


def _taken(
    body: DeviceBody,
    inverse: Inverse,
    rule: StepRule,
    moving: Moving,
    drives: Drive,
    shifts: Float[Array, "k 3 B"],
    steps: int,
    way: Way,
) -> tuple[Moving, Float[Array, "N 3 f B"]]:
    """The steps of some frames; the free vertices at the end of each frame."""

    def frame(moving: Moving, given: tuple[Drive, Array]) -> tuple[Moving, Array]:
        for number in range(steps):
            drive = Drive(*(part[number] for part in given[0]))
            shift = given[1][number][:, None]
            moving = moving._replace(
                positions=moving.positions - shift,
                earlier_positions=moving.earlier_positions - shift,
            )
            moving = take_step(body.flesh, inverse, rule, moving, drive, way)
        return moving, moving.positions

    def by_frame(values: Array) -> Array:
        return values.reshape(-1, steps, *values.shape[1:])

    return lax.scan(frame, moving, (Drive(*map(by_frame, drives)), by_frame(shifts)))


def _skins(
    body: DeviceBody, free: Float[Array, "N 3 f B"], fixed: Float[Array, "N 3 b B"], wanted: Wanted
) -> Skins:
    """Full skins of simulated vertices."""
    simulated = jnp.concatenate([free, fixed], axis=2)[:, :, body.skin_places]
    each = simulated.transpose(0, 3, 1, 2)
    skin = jax.vmap(jax.vmap(partial(full_skin, body.upsampler)))
    normals = jax.vmap(jax.vmap(partial(full_normals, body.upsampler, body.surface)))
    return Skins(
        skin(each) if wanted.vertices else None,
        normals(each) if wanted.normals else None,
        simulated if wanted.simulated else None,
    )
