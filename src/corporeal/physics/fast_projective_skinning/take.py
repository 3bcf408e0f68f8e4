"""From a simulation and a motion to an animation, for every deformer that simulates flesh."""

from collections.abc import Iterator

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.clip import Clip, make_clip
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment, Environment
from corporeal.physics.fast_projective_skinning.simulation import (
    ProjectiveSimulation,
    require_identity,
)
from corporeal.physics.solver.integration import State
from corporeal.skinning.kinematics import forward_kinematics

DEEP = 0.01
"""Metres that skin is inside skin by, above which it is worth a note."""


def simulated_take(
    deformer: str,
    simulation: ProjectiveSimulation,
    environment: Environment,
    identity: Identity,
    motion: Motion,
    device: str,
) -> Animation:
    """The identity simulated through the motion, from quiet flesh in the first frame.

    `deformer` is the name that the animation carries; `device` is `cpu`, or `gpu` (`gpu:N`) to run
    through JAX.
    """
    template = simulation.template
    count, expected = motion.skeleton.joint_count, template.skeleton.joint_count
    if count != expected:
        raise InputError(
            f"motion has {count} joints; the template has {expected}. Retarget the motion first."
        )
    require_identity(template, identity)
    body, dtype = simulation.body(identity), motion.joint_rotations.dtype
    clip = make_clip(simulation, BoundEnvironment(body, environment), identity, motion)
    vertices, depths = _posed_vertices(clip, device)
    return Animation(
        deformer=deformer,
        template=template,
        identity=identity,
        motion=motion,
        vertices=vertices.astype(dtype),
        world_from_joint=_frames(body, motion).astype(dtype),
        notes=(*clip.notes, *depth_notes(depths)),
    )


def _frames(body: SimulatedBody, motion: Motion) -> Float64[NumpyArray, "N J 4 4"]:
    """World frames from the zero pose."""
    return forward_kinematics(
        np.asarray(motion.joint_rotations, np.float64),
        body.joints,
        body.skeleton.parents,
        np.asarray(motion.root_translation, np.float64),
    )


def _posed_vertices(
    clip: Clip, device: str
) -> tuple[Float64[NumpyArray, "N W 3"], Float64[NumpyArray, "N"]]:
    """The full skin at every frame, and how deep contacts leave skin inside skin, metres; the
    depths are those of the CPU alone, where collisions are on."""
    if device == "cpu":
        skins, depths = zip(
            *((clip.body.skin(f.positions), d) for f, d in _seen(clip)), strict=True
        )
        return np.stack(skins), np.array(depths)
    from corporeal.physics.fast_projective_skinning.gpu.take import device_posed_vertices

    vertices = device_posed_vertices(clip, device)
    return vertices, np.zeros(len(vertices))


def _seen(clip: Clip) -> Iterator[tuple[State, float]]:
    """The flesh at every frame, and its depth."""
    body = clip.body
    frames = body.frames(clip.poses)[:: clip.steps]
    for flesh, frame in zip(clip.states(), frames, strict=True):
        touches = flesh.touching is not None and body.settings.collisions != "off"
        depth = 0.0
        if touches:
            depth = body.skin_contacts().deepest(flesh.positions, frame, flesh.touching)
        yield flesh, depth


def depth_notes(depths: Float64[NumpyArray, "N"]) -> tuple[str, ...]:
    """What contacts leave of skin inside skin (metres a frame), in words; nothing below `DEEP`."""
    frames = np.flatnonzero(depths > DEEP)
    if len(frames) == 0:
        return ()
    return (
        f"skin is inside skin by up to {1e3 * depths.max():.0f} mm in {len(frames)} of "
        f"{len(depths)} frames, the deepest at frame {int(depths.argmax())}: contacts press it out "
        f"over frames, but not where bones carry it through what no flesh gives way to",
    )
