"""The deformer `projective`: a clip's skeleton goes through the simulation, frame by frame."""

import itertools
from collections import deque
from collections.abc import Iterator, Mapping

import numpy as np

from corporeal._typing import Array, Float64, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.parameter import Parameter
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.motions.resample import sampled
from corporeal.physics.projective.body import SimulatedBody
from corporeal.physics.projective.outside import Outside, Surroundings
from corporeal.physics.projective.preparation import Maps, Preparations
from corporeal.physics.projective.settings import CONTROLS, ProjectiveSettings
from corporeal.physics.projective.simulation import ProjectiveSimulation, require_identity
from corporeal.physics.projective_dynamics.integration import State, resting
from corporeal.skinning.kinematics import forward_kinematics


class ProjectiveSkinning:
    """Deformer `projective`: flesh between skin and bones moves by Projective Dynamics.

    Takes a mesh and a skeleton; skin weights play no part. Frames depend on the frames before.
    """

    name = "projective"
    controls: tuple[Parameter, ...] = CONTROLS

    def __init__(
        self,
        template: Template,
        maps: Maps | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        """`maps` multiply stiffness and density around every vertex of the skin; `surroundings`
        are colliders, wind and grabs, whose time 0 is a clip's first frame."""
        self.template = template
        self.surroundings = surroundings or Surroundings()
        self._preparations = Preparations(template, maps=maps)

    def simulation(self, controls: Mapping[str, Array] | None = None) -> ProjectiveSimulation:
        """The simulation with these controls; parts that they do not touch are made once."""
        settings = ProjectiveSettings.from_controls(controls)
        return ProjectiveSimulation(self.template, settings, preparations=self._preparations)

    def animate(
        self, identity: Identity, motion: Motion, controls: Mapping[str, Array] | None = None
    ) -> Animation:
        """Simulate the identity through the motion, from quiet flesh in the first frame."""
        count = motion.skeleton.joint_count
        if count != self.template.skeleton.joint_count:
            raise InputError(
                f"motion has {count} joints; the template has "
                f"{self.template.skeleton.joint_count}. Retarget the motion first."
            )
        require_identity(self.template, identity)
        simulation = self.simulation(controls)
        body, dtype = simulation.body(identity), motion.joint_rotations.dtype
        outside = Outside(body, self.surroundings)
        return Animation(
            deformer=self.name,
            template=self.template,
            identity=identity,
            motion=motion,
            vertices=_simulate(simulation, outside, identity, motion).astype(dtype),
            world_from_joint=frames_of(body, motion.poses).astype(dtype),
        )


def frames_of(body: SimulatedBody, poses: Pose) -> Float64[NumpyArray, "N J 4 4"]:
    """World frames of the joints in float64."""
    return forward_kinematics(
        np.asarray(poses.joint_rotations, np.float64),
        body.joints,
        body.skeleton.parents,
        np.asarray(poses.root_translation, np.float64),
    )


def _simulate(
    simulation: ProjectiveSimulation, outside: Outside, identity: Identity, motion: Motion
) -> Float64[NumpyArray, "N W 3"]:
    """The full skin at every frame, metres."""
    body = outside.body
    steps = body.step_count(1.0 / motion.fps) if simulation.settings.dynamics else 1
    places = np.arange((motion.frame_count - 1) * steps + 1) / steps
    frames = frames_of(body, sampled(motion, places, motion.fps * steps).poses)
    first = Pose(
        np.asarray(motion.joint_rotations[0], np.float64),
        np.asarray(motion.root_translation[0], np.float64),
    )
    quiet = simulation.start(identity, first, outside.surroundings)
    step = 1.0 / (motion.fps * steps)
    flesh = _moving(body, quiet.flesh, frames[:2], step)
    if simulation.settings.loop and motion.frame_count > 1:
        unseen = deque(_passing(simulation, outside, flesh, frames, steps, step), maxlen=1)
        flesh = _carried(body, unseen[0], frames[-1], frames[0])
    states = itertools.chain([flesh], _passing(simulation, outside, flesh, frames, steps, step))
    return np.stack([body.skin(state.positions) for state in states])


def _passing(
    simulation: ProjectiveSimulation,
    outside: Outside,
    flesh: State,
    frames: Float64[NumpyArray, "k J 4 4"],
    steps: int,
    step: float,
) -> Iterator[State]:
    """The flesh at every frame after the first, `steps` steps apart."""
    for start in range(0, len(frames) - 1, steps):
        way = frames[start : start + steps + 1]
        flesh = simulation.advance(outside, flesh, way, step, start * step)
        yield flesh


def _carried(
    body: SimulatedBody,
    flesh: State,
    before: Float64[NumpyArray, "J 4 4"],
    after: Float64[NumpyArray, "J 4 4"],
) -> State:
    """The flesh with its movement, moved rigidly with its bones from one pose to another."""

    def place(positions: NumpyArray) -> NumpyArray:
        return body.carry(positions, before, after)

    now, earlier = place(flesh.positions), place(flesh.earlier_positions)
    return State(
        now,
        place(flesh.positions + flesh.velocities) - now,
        earlier,
        place(flesh.earlier_positions + flesh.earlier_velocities) - earlier,
        flesh.step,
    )


def _moving(
    body: SimulatedBody, flesh: State, frames: Float64[NumpyArray, "k J 4 4"], step: float
) -> State:
    """Quiet flesh given the velocity that its bones have at the start of a clip."""
    ahead = body.carry(flesh.positions, frames[0], frames[-1])
    return resting(flesh.positions, step, (ahead - flesh.positions) / step)
