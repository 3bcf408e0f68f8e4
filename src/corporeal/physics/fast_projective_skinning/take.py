"""From a simulation and a motion to an animation, for every deformer that simulates flesh."""

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
from corporeal.skinning.kinematics import forward_kinematics


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
    return Animation(
        deformer=deformer,
        template=template,
        identity=identity,
        motion=motion,
        vertices=_posed_vertices(clip, device).astype(dtype),
        world_from_joint=_frames(body, motion).astype(dtype),
        notes=clip.notes,
    )


def _frames(body: SimulatedBody, motion: Motion) -> Float64[NumpyArray, "N J 4 4"]:
    """World frames from the zero pose."""
    return forward_kinematics(
        np.asarray(motion.joint_rotations, np.float64),
        body.joints,
        body.skeleton.parents,
        np.asarray(motion.root_translation, np.float64),
    )


def _posed_vertices(clip: Clip, device: str) -> Float64[NumpyArray, "N W 3"]:
    if device == "cpu":
        return clip.posed_vertices()
    from corporeal.physics.fast_projective_skinning.gpu.take import device_posed_vertices

    return device_posed_vertices(clip, device)
