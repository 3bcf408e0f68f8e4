"""The deformer that moves a person: prepared once, used for all sequences."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal

import numpy as np

from corporeal._typing import Float32, NumpyArray
from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.body.controls import Controls
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.capture.person import Person
from corporeal.capture.protocols.protocol import Recording
from corporeal.capture.tissue import SPREAD, PersonTissue, tissue_of
from corporeal.errors import InputError
from corporeal.motions.resample import resample
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.clip import make_clip
from corporeal.physics.fast_projective_skinning.controls import COLLISIONS
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment
from corporeal.physics.fast_projective_skinning.flesh_frames import (
    ClipEngine,
    CpuClips,
    FleshFrame,
)
from corporeal.physics.fast_projective_skinning.simulation import (
    ProjectiveSimulation,
    StaticRounds,
)
from corporeal.physics.solver.integration import Patience
from corporeal.skinning.kinematics import forward_kinematics

DeformerName = Literal["projective", "layered", "dqs"]
Touch = Literal["off", "local", "global"]
TWIN_ROUNDS: Final = StaticRounds(most=1)
"""Of ten iterations each, from one frame of a twin to the next: more bring it no nearer to the cold
static solve, which differs from itself by as much (`docs/design/capture.md`)."""


TWIN_STEP, TWIN_STEPS = 0.02, 3
"""Metres that knees and elbows move in a step of a twin at most, and the most steps
a frame: without, a thigh that a runner raises went 66 mm into her belly, with three steps 2 to 24
(`docs/design/capture.md`)."""
_FAST: Final = ("knee", "elbow")
SETTLED: Final = Patience(settled=2e-6, most=24)
"""Steps of a capture go on until they settle: real time may stop early, a capture may not
(`docs/evaluation/convergence.md`), on the CPU and on a device."""


@dataclass(frozen=True, eq=False)
class PersonFlesh:
    """One person's deformer, and what it is told."""

    person: Person
    """Whose flesh it is."""
    deformer: ProjectiveSkinning | LayeredSkinning
    """Prepared for this person alone."""
    tissue: PersonTissue
    """Stiffness and its spread, drawn for this person."""
    layers: Layers | None
    """None for two-layer flesh."""
    clips: ClipEngine = field(default_factory=CpuClips)
    """Simulates movements and their twins; held poses are the CPU's."""

    def controls(self, moving: bool, touch: Touch) -> Controls:
        """What the deformer is told."""
        tissue = self._tissue()
        given = {**tissue, "dynamics": moving, "collisions": touch}
        return self.deformer.Controls.from_mapping(given, self.deformer.name)

    def materials(self, moving: bool, touch: Touch) -> dict[str, float]:
        """The same as numbers, SI units, as registrations keep them: 0 and 1 for off and on;
        collisions from 0 on."""
        tissue = self._tissue()
        return {**tissue, "dynamics": float(moving), "collisions": float(COLLISIONS.index(touch))}

    def body(self, moving: bool, touch: Touch) -> SimulatedBody:
        """The flesh that is simulated."""
        simulation = self.deformer.simulation(self.controls(moving, touch))
        return simulation.body(self.person.identity)

    def _tissue(self) -> dict[str, float]:
        return self.tissue.controls(self.person.measurements.mass, self.layers is not None)

    def perform(self, recording: Recording, touch: Touch) -> Float32[NumpyArray, "N V 3"]:
        """The skin of the person in every frame of a recording, metres."""
        body = self.body(recording.moving, touch)
        frames = self.frames(recording, touch)
        return np.stack([body.skin(frame.positions).astype(np.float32) for frame in frames])

    def frames(self, recording: Recording, touch: Touch, finer: int = 1) -> Iterator[FleshFrame]:
        """The flesh in every frame of a recording; steps and turns are `finer` times as small as
        usual."""
        simulation = self.deformer.simulation(self.controls(recording.moving, touch))
        simulation.patience = SETTLED
        if recording.moving:
            return self._play(simulation, recording.motion, finer)
        return self._hold(simulation, recording.motion, finer)

    def twin_frames(
        self, recording: Recording, touch: Touch, finer: int = 1
    ) -> Iterator[FleshFrame]:
        """The flesh of the quasi-static twin of a movement: the same poses, without momentum.

        Every frame goes on from the one before, moved with its bones, in `TWIN_ROUNDS`; where bones
        move fast, by way of poses between (`poses_between`), so that skin meets skin before it is
        deep inside.
        """
        simulation = self.deformer.simulation(self.controls(False, touch))
        simulation.following = TWIN_ROUNDS
        motion = recording.motion
        steps = finer * poses_between(motion, self.person.identity)
        if steps > 1:
            motion = resample(motion, steps * motion.fps)
        return islice(self._play(simulation, motion, 1), 0, None, steps)

    def _play(
        self, simulation: ProjectiveSimulation, motion: Motion, finer: int
    ) -> Iterator[FleshFrame]:
        """A movement, frame after frame."""
        who = self.person.identity
        outside = BoundEnvironment(simulation.body(who), self.deformer.environment)
        return self.clips.frames(make_clip(simulation, outside, who, motion, finer))

    def _hold(
        self, simulation: ProjectiveSimulation, motion: Motion, finer: int
    ) -> Iterator[FleshFrame]:
        """Every pose for itself, in static balance, reached from rest in small turns.

        So skin meets skin before it is deep inside; a jump from one pose to the next would carry
        limbs through each other.
        """
        who = self.person.identity
        rotations = np.asarray(motion.joint_rotations, np.float64)
        roots = np.asarray(motion.root_translation, np.float64)
        for pose in zip(rotations, roots, strict=True):
            state = simulation.start(who, Pose(*pose), finer=finer)
            residual = simulation.body(who).solver(1.0, "static").residual
            yield FleshFrame(state.flesh.positions, residual)


def poses_between(motion: Motion, identity: Identity) -> int:
    """Steps from one frame of a twin to the next: as many as keep knees and elbows within
    `TWIN_STEP` of where they were, seen from the pelvis; at most `TWIN_STEPS`."""
    skeleton = motion.skeleton
    chosen = [i for i, name in enumerate(skeleton.names) if name.split("_")[-1] in _FAST]
    if not chosen or motion.frame_count < 2:
        return 1
    turns = np.array(motion.joint_rotations, np.float64)
    turns[:, 0] = 0.0
    joints = np.asarray(identity.joints, np.float64)
    still = np.zeros((motion.frame_count, 3))
    frames = forward_kinematics(turns, joints[None], skeleton.parents, still)
    places = frames[..., :3, 3][:, chosen]
    fastest = float(np.linalg.norm(np.diff(places, axis=0), axis=2).max())
    return int(np.clip(np.ceil(fastest / TWIN_STEP), 1, TWIN_STEPS))


def flesh_of(
    person: Person,
    template: Template,
    deformer: DeformerName,
    seed: int | None,
    device: str = "cpu",
    tissue_spread: float = SPREAD,
) -> PersonFlesh:
    """Prepare a person; `seed` draws what composition does not say of the tissue, if not None, as
    widely as `tissue_spread` says (standard deviation of ln(modulus)).
    Movements are simulated by the `device`: `cpu`, or `gpu` (`gpu:N`) through JAX."""
    tissue, clips = tissue_of(person, seed, tissue_spread), clips_on(device)
    if deformer == ProjectiveSkinning.name:
        return PersonFlesh(person, ProjectiveSkinning(template), tissue, None, clips)
    if deformer != LayeredSkinning.name:
        raise InputError(f"{deformer} has no flesh; expected layered or projective.")
    layers = fit_layers(person.identity, person.sex, person.composition, age=person.age)
    return PersonFlesh(person, LayeredSkinning(template, layers), tissue, layers, clips)


def clips_on(device: str) -> ClipEngine:
    """What simulates movements on the device called `cpu`, `gpu` or `gpu:N`."""
    if device == "cpu":
        return CpuClips()
    from corporeal.physics.fast_projective_skinning.gpu.flesh_frames import DeviceClips

    return DeviceClips(device)
