"""A clip played through a simulation: how it begins, passes and closes into a loop."""

import itertools
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.geometry.transforms import invert_rigid
from corporeal.motions.cuts import find_cuts
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.cuts import (
    Crossing,
    cut_notes,
    moved_frame,
    sampled_between_cuts,
)
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.solver.damping import slowest_decay
from corporeal.physics.solver.integration import State, resting

_FORGOTTEN = 1e-3
"""Share of a swing that may be left when a loop begins."""
_OVERLAP = 2
"""Frames that interpolation looks beyond the ends of a loop."""
_LONGEST_RUN_UP = 10.0
"""Seconds run before a loop at most, however little damping there is."""

Passing: TypeAlias = Callable[[State, Float64[NumpyArray, "k J 4 4"], int], State]
"""From a state at a frame of a path to the state at its end."""


@dataclass(frozen=True)
class Clip:
    """A motion divided into steps, for one body in its environment."""

    simulation: ProjectiveSimulation
    """Takes the steps."""
    outside: BoundEnvironment
    """What acts on the body, and the body itself."""
    identity: Identity
    """Whose clip it is."""
    poses: Pose
    """Of every step."""
    steps: int
    """Steps a frame."""
    step: float
    """Seconds."""
    crossings: Mapping[int, Crossing] = field(default_factory=dict)
    """The cuts, by the first frame after each, in order."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Where the motion is cut, in words."""
        cuts = [crossing.cut for crossing in self.crossings.values()]
        return cut_notes(cuts, self.body.skeleton.names)

    @property
    def body(self) -> SimulatedBody:
        """The simulated body."""
        return self.outside.body

    @property
    def frame_count(self) -> int:
        """Number of frames, the first included."""
        return (len(self.poses.joint_rotations) - 1) // self.steps + 1

    def posed_vertices(self) -> Float64[NumpyArray, "N W 3"]:
        """The full skin at every frame, metres."""
        return np.stack([self.body.skin(state.positions) for state in self.states()])

    def states(self) -> Iterator[State]:
        """The flesh at every frame, the first included, one after the other."""
        path = self.body.frames(self.poses)
        looped = self.simulation.settings.loop and self.frame_count > 1
        flesh = self.run_up(path, self._last) if looped else self.beginning(path)
        return itertools.chain([flesh], self._passing(flesh, path, 0))

    def beginning(self, path: Float64[NumpyArray, "k J 4 4"], frame: int = 0) -> State:
        """Flesh in static balance at a frame, given the velocity that its bones have there."""
        place = frame * self.steps
        pose = Pose(self.poses.joint_rotations[place], self.poses.root_translation[place])
        moment = place * self.step
        quiet = self.simulation.start(self.identity, pose, self.outside.environment, moment).flesh
        goes_on = place + 1 < len(path) and frame + 1 not in self.crossings
        after = path[place + 1 if goes_on else place]
        ahead = self.body.carry(quiet.positions, path[place], after)
        moving = resting(quiet.positions, self.step, (ahead - quiet.positions) / self.step)
        return replace(moving, touching=quiet.touching, pressures=quiet.pressures)

    def run_up(self, path: Float64[NumpyArray, "k J 4 4"], last: Passing) -> State:
        """Flesh at the first frame of a loop: as it ends when it has long been running.

        `last` gives the state at the end of the path, from one at a frame of it.
        """
        frames = self.frame_count - 1
        needed = max(1, math.ceil(self._run_up_time() / (self.step * self.steps)))
        passes = -(-needed // frames)
        first = frames - needed if passes == 1 else 0
        flesh = self.beginning(path, first)
        for _ in range(passes):
            ended = last(flesh, path, first)
            flesh, first = _carried(self.body, ended, path[-1], path[0]), 0
        return flesh

    def _run_up_time(self) -> float:
        """Seconds until the slowest swing has died down."""
        if not self.simulation.settings.dynamics:
            return 0.0
        decay = slowest_decay(self.simulation.settings.damping_ratio)
        return -math.log(_FORGOTTEN) / max(decay, -math.log(_FORGOTTEN) / _LONGEST_RUN_UP)

    def _last(self, flesh: State, path: Float64[NumpyArray, "k J 4 4"], first: int) -> State:
        return deque(self._passing(flesh, path, first), maxlen=1)[0]

    def _passing(
        self, flesh: State, path: Float64[NumpyArray, "k J 4 4"], first: int
    ) -> Iterator[State]:
        """The flesh at every frame after `first`."""
        for frame in range(first, self.frame_count - 1):
            start = frame * self.steps
            way = path[start : start + self.steps + 1]
            crossing = self.crossings.get(frame + 1)
            if crossing is not None and crossing.start is None:
                flesh = self.beginning(path, frame + 1)
                yield flesh
                continue
            if crossing is not None:
                flesh, virtual = self.crossed(flesh, path, frame + 1)
                way = np.concatenate([virtual[None], way[1:]])
            flesh = self.simulation.advance(self.outside, flesh, way, self.step, start * self.step)
            yield flesh

    def crossed(
        self, flesh: State, path: Float64[NumpyArray, "k J 4 4"], frame: int
    ) -> tuple[State, Float64[NumpyArray, "J 4 4"]]:
        """Flesh before a cut to `frame` whose pose goes on, put where the virtual pose has its
        root; and the world frames of that pose, from which the way goes on."""
        start, place = self.crossings[frame].start, (frame - 1) * self.steps
        assert start is not None, "flesh begins anew here"
        virtual = self.body.frames(start)
        root, ahead = virtual[0], path[place + 1, 0]
        earlier = root @ np.asarray(invert_rigid(ahead)) @ root
        before = np.stack([self._step_before(path, place), path[place, 0]])
        return moved_frame(flesh, before, np.stack([earlier, root])), virtual

    def _step_before(
        self, path: Float64[NumpyArray, "k J 4 4"], place: int
    ) -> Float64[NumpyArray, "4 4"]:
        """The root's frame a step before one of a path: a loop comes to its first from its end, as
        seen from there; any other clip begins at rest."""
        if place > 0:
            return path[place - 1, 0]
        if not self.simulation.settings.loop:
            return path[0, 0]
        return path[0, 0] @ np.asarray(invert_rigid(path[-1, 0])) @ path[-2, 0]


def make_clip(
    simulation: ProjectiveSimulation,
    outside: BoundEnvironment,
    identity: Identity,
    motion: Motion,
    finer: int = 1,
) -> Clip:
    """The clip of a motion; frames are divided into equal steps that physics can take, `finer`
    times as many as it needs."""
    dynamic = simulation.settings.dynamics
    steps = finer * outside.body.step_count(1.0 / motion.fps) if dynamic else 1
    places = np.arange((motion.frame_count - 1) * steps + 1) / steps
    looped, last = simulation.settings.loop and motion.frame_count > 1, motion.frame_count - 1
    first = _OVERLAP if looped else 0
    if looped:
        motion = _wrapped(motion)
    body, fps = outside.body, motion.fps
    cuts = ()
    if simulation.cuts:
        frames = body.frames(motion.poses)
        cuts = find_cuts(frames, fps, body.skeleton.parents, body.reach)
    poses, virtual = sampled_between_cuts(motion, places + first, cuts)
    crossings = {
        cut.frame - first: Crossing(replace(cut, frame=cut.frame - first), virtual.get(cut.frame))
        for cut in cuts
        if first < cut.frame <= first + last
    }
    return Clip(simulation, outside, identity, poses, steps, 1.0 / (fps * steps), crossings)


def _wrapped(motion: Motion) -> Motion:
    """A loop with frames of its end before its beginning and the other way round, so that it is
    interpolated across its seam as elsewhere; it may travel."""
    last = motion.frame_count - 1
    frames = np.arange(-_OVERLAP, motion.frame_count + _OVERLAP)
    laps, inside = np.divmod(frames, last)
    laps, inside = np.where(frames == last, 0, laps), np.where(frames == last, last, inside)
    root = np.asarray(motion.root_translation, np.float64)
    return replace(
        motion,
        joint_rotations=np.asarray(motion.joint_rotations)[inside],
        root_translation=root[inside] + laps[:, None] * (root[last] - root[0]),
    )


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
        flesh.touching,
        flesh.pressures,
    )
