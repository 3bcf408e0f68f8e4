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
from corporeal.physics.contact.gpu.detection import Capacity, DeviceSkin
from corporeal.physics.contact.gpu.environment import DeviceWorld
from corporeal.physics.contact.gpu.touching import displacements
from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody
from corporeal.physics.fast_projective_skinning.gpu.contacts import Collisions, Touched, base_points
from corporeal.physics.fast_projective_skinning.gpu.frames import (
    Around,
    Bones,
    Engine,
    FramesTaken,
    Given,
    Rounds,
    frames_taken,
)
from corporeal.physics.solver.gpu.inverse import Inverse
from corporeal.physics.solver.gpu.step import SolverOptions, SolverState, StepInputs
from corporeal.physics.solver.integration import State, StepRule, rebased
from corporeal.physics.upsampling.gpu import full_normals, full_skin
from corporeal.physics.volume_preservation.gpu import DevicePreservation


class SkeletonFrames(NamedTuple):
    """The skeletons of B characters at every step; k steps after the start."""

    start: Float[Array, "B J 4 4"]
    """World frames before the first step."""
    path: Float[Array, "k B J 4 4"]
    """World frames, from the origin of the step."""
    shifts: Float[Array, "k 3 B"]
    """How far the origin moved in a step: whole metres."""


class PosedClip(NamedTuple):
    """What a clip gives: N frames of B characters, from the origins of the frames."""

    vertices: Float[Array, "N B W 3"] | None
    """The full skin, metres; None where not wanted, as those that follow."""
    normals: Float[Array, "N B W 3"] | None
    """Unit normals of the full skin."""
    simulated: Float[Array, "N 3 V B"] | None
    """The simulated skin, metres."""
    flesh: Float[Array, "N 3 f B"] | None
    """All free vertices, metres."""
    squares: Float[Array, "N B"]
    """‖δ‖² of the last iteration of every frame, m²: see `take_step`."""


class Wanted(NamedTuple):
    """What is made of every frame."""

    vertices: bool = True
    """The full skin."""
    normals: bool = False
    """Its unit normals."""
    simulated: bool = False
    """The simulated skin as well."""
    flesh: bool = False
    """All free vertices."""


SKIN, ACCELERATED, CAPACITY = Wanted(), SolverOptions(), Capacity()


def clip_frames(
    world_from_joint: Float64[NumpyArray, "k B J 4 4"],
) -> tuple[SkeletonFrames, Float64[NumpyArray, "k B 3"]]:
    """Frames for the device (float32) and their origins, metres."""
    origins = np.round(world_from_joint[:, :, 0, :3, 3])
    near = world_from_joint.copy()
    near[..., :3, 3] -= origins[:, :, None]
    near = near.astype(np.float32)
    shifts = np.diff(origins, axis=0).transpose(0, 2, 1).astype(np.float32)
    return SkeletonFrames(near[0], near[1:], shifts), origins


def device_state(
    body: DeviceBody, states: list[State], origins: Float64[NumpyArray, "B 3"], step: float
) -> SolverState:
    """The free vertices of some characters' states, laid out for the device."""
    chosen = np.asarray(body.order)[: body.free_count]
    pasts = [rebased(state, step) for state in states]

    def laid_out(parts: list[NumpyArray]) -> NumpyArray:
        return np.stack([part[chosen].T for part in parts], axis=-1).astype(np.float32)

    return SolverState(
        laid_out([p.positions - o for p, o in zip(pasts, origins, strict=True)]),
        laid_out([p.velocities for p in pasts]),
        laid_out([p.earlier_positions - o for p, o in zip(pasts, origins, strict=True)]),
        laid_out([p.earlier_velocities for p in pasts]),
        _pressures(body, pasts),
    )


def _pressures(body: DeviceBody, states: list[State]) -> Float[NumpyArray, "1 K B"]:
    """That the regions of the characters have, Pa."""
    count = 0 if body.volume is None else body.volume.volumes.shape[1]
    each = [np.zeros(count) if s.pressures is None else s.pressures for s in states]
    return np.stack(each, axis=-1)[None].astype(np.float32)


@partial(jax.jit, static_argnames=("rule", "steps", "piece", "wanted", "options", "capacity"))
def run_clip(
    body: DeviceBody,
    inverse: Inverse,
    rule: StepRule,
    solver_state: SolverState,
    frames: SkeletonFrames,
    collisions: Collisions | None = None,
    world: DeviceWorld | None = None,
    preservation: DevicePreservation | None = None,
    rounds: Rounds | None = None,
    *,
    steps: int = 1,
    piece: int = 1,
    wanted: Wanted = SKIN,
    options: SolverOptions = ACCELERATED,
    capacity: Capacity = CAPACITY,
) -> tuple[SolverState, PosedClip, Touched | None]:
    """All frames after the first, `steps` steps each, `piece` frames at a time.

    Gives the last state as well, to go on from. With `collisions` or a `world` (of one character)
    also what touched; give its `full` to `require_room`. A static rule seeks the balance of every
    frame, in so many `rounds`; a frame has one step then. `preservation` is
    `body.preservation(rule)`.
    """
    if (preservation is None) != (body.volume is None):
        raise InputError(
            f"the body {'does not preserve' if preservation else 'preserves'} volume, and run_clip "
            f"was given {'what does' if preservation else 'nothing for it'}. "
            f"Give preservation=body.preservation(rule)."
        )
    count = frames.path.shape[0]
    engine = Engine(
        body,
        inverse,
        preservation,
        rule,
        options,
        capacity,
        steps,
        collisions,
        world,
        rounds,
    )
    if count % (steps * piece) or (engine.touching and frames.path.shape[1] != 1):
        raise InputError(
            f"a clip of {count} steps and {frames.path.shape[1]} characters came in pieces of "
            f"{piece} frames of {steps} steps; expected whole pieces, and one character if it "
            f"collides."
        )

    def pieces(values: Array) -> Array:
        return values.reshape(count // (piece * steps), piece * steps, *values.shape[1:])

    def by_frame(values: Array) -> Array:
        return values.reshape(piece, steps, *values.shape[1:])

    def go(carry: tuple, given: tuple) -> tuple[tuple, tuple]:
        solver_state, frame, touching = carry
        path, shifts, placed = given
        whole = jnp.concatenate([frame[None], path])
        carriers = _carriers(body, whole)
        step_inputs, bones = _step_inputs(body, rule, carriers, shifts)
        bones_now = None
        if collisions is not None:
            each = _bones(collisions.skin, rule, whole[:, 0], shifts[..., 0])
            bones_now = jax.tree.map(by_frame, each)
        (solver_state, touching), told = frames_taken(
            engine,
            (solver_state, touching),
            Given(
                jax.tree.map(by_frame, step_inputs),
                by_frame(shifts),
                None if placed is None else jax.tree.map(by_frame, Around(bones, *placed)),
                bones_now,
                by_frame(_displacements(whole, shifts)) if not rule.moving else None,
            ),
        )
        posed_vertices = _posed_vertices(
            body, told, step_inputs.anchors[steps - 1 :: steps], wanted
        )
        return (solver_state, path[-1], touching), (posed_vertices, told.counts, told.full)

    start = (solver_state, frames.start, None if collisions is None else collisions.touching)
    placed = None
    if world is not None:
        targets = None if world.grabs is None else world.grabs.targets
        placed = jax.tree.map(pieces, (world.before, world.after, targets))
    (solver_state, _, touching), (posed_vertices, counts, full) = lax.scan(
        go, start, (pieces(frames.path), pieces(frames.shifts), placed)
    )
    joined = PosedClip(
        *(None if s is None else s.reshape(-1, *s.shape[2:]) for s in posed_vertices)
    )
    if not engine.touching:
        return solver_state, joined, None
    return solver_state, joined, Touched(touching, counts.ravel(), full.ravel())


def _bones(
    skin: DeviceSkin,
    rule: StepRule,
    whole: Float[Array, "k1 J 4 4"],
    shifts: Float[Array, "k 3"],
) -> Bones:
    """The skeleton of every step, from the steps' ends; their origins move by `shifts`."""
    before, after = whole[:-1], whole[1:]
    if rule.integrator == "static":
        at = after
        before = before.at[..., :3, 3].add(-shifts[:, None])
    else:
        at = before
        after = after.at[..., :3, 3].add(shifts[:, None])
    base = jax.vmap(partial(base_points, skin))(at)
    return Bones(base, at, displacements(before, after))


def _displacements(
    whole: Float[Array, "k1 B J 4 4"], shifts: Float[Array, "k 3 B"]
) -> Float[Array, "k B J 3 4"]:
    """By how much joints displace what they carry in every step, seen from its end's origin."""
    moved = shifts.transpose(0, 2, 1)[:, :, None]
    return displacements(whole[:-1].at[..., :3, 3].add(-moved), whole[1:])


def _carriers(body: DeviceBody, path: Float[Array, "k B J 4 4"]) -> Float[Array, "k 3 c B"]:
    """What bones carry at every step, metres."""
    each = jax.vmap(jax.vmap(body.carried))(path)
    return each.transpose(0, 2, 3, 1)


def _step_inputs(
    body: DeviceBody,
    rule: StepRule,
    carriers: Float[Array, "k1 3 c B"],
    shifts: Float[Array, "k 3 B"],
) -> tuple[StepInputs, Float[Array, "k 3 f B"]]:
    """What every step is given, steps along the first axis, and where bones put the free vertices
    when it ends; `carriers` begin a step before."""
    free, count = body.free_count, len(shifts)
    earlier, now = carriers[:-1] - shifts[:, :, None], carriers[1:]
    speeds = (now - earlier) / rule.step
    weight = jnp.broadcast_to(body.weight[None, :, :, None], (count, 3, free, carriers.shape[-1]))
    own, fixed = body.sources[:free], body.sources[free:]
    bones = now[:, :, own]
    inputs = StepInputs(
        now[:, :, fixed],
        weight,
        speeds[:, :, own],
        earlier[:, :, fixed],
        None if body.flesh.springs is None else bones,
    )
    return inputs, bones


def _posed_vertices(
    body: DeviceBody, told: FramesTaken, fixed: Float[Array, "N 3 b B"], wanted: Wanted
) -> PosedClip:
    """Full skins of simulated vertices."""
    simulated = jnp.concatenate([told.positions, fixed], axis=2)[:, :, body.skin_places]
    each = simulated.transpose(0, 3, 1, 2)
    skin = jax.vmap(jax.vmap(partial(full_skin, body.upsampler)))
    normals = jax.vmap(jax.vmap(partial(full_normals, body.upsampler, body.surface)))
    return PosedClip(
        skin(each) if wanted.vertices else None,
        normals(each) if wanted.normals else None,
        simulated if wanted.simulated else None,
        told.positions if wanted.flesh else None,
        told.squares,
    )
