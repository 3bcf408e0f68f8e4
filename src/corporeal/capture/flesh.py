"""The deformer that moves a person: prepared once, used for all sequences."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from corporeal._typing import Float32, NumpyArray
from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.body.controls import Controls
from corporeal.body.layers import Layers
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.capture.person import Person
from corporeal.capture.protocols.protocol import Recording
from corporeal.capture.tissue import PersonTissue, tissue_of
from corporeal.physics.fast_projective_skinning.controls import COLLISIONS
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning

DeformerName = Literal["projective", "layered"]
Touch = Literal["off", "local", "global"]


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

    def _tissue(self) -> dict[str, float]:
        return self.tissue.controls(self.person.measurements.mass, self.layers is not None)

    def perform(self, recording: Recording, touch: Touch) -> Float32[NumpyArray, "N V 3"]:
        """The skin of the person in every frame of a recording, metres."""
        values = self.controls(recording.moving, touch)
        if recording.moving:
            moved = self.deformer.animate(self.person.identity, recording.motion, values)
            return np.asarray(moved.vertices, np.float32)
        return self._hold(recording.motion, values)

    def _hold(self, motion: Motion, values: Controls) -> Float32[NumpyArray, "N V 3"]:
        """Every pose for itself, in static balance, reached from rest in small turns.

        So skin meets skin before it is deep inside; a jump from one pose to the next would carry
        limbs through each other.
        """
        simulation, who = self.deformer.simulation(values), self.person.identity
        rotations, roots = (
            np.asarray(motion.joint_rotations, np.float64),
            np.asarray(motion.root_translation, np.float64),
        )
        states = (simulation.start(who, Pose(*pose)) for pose in zip(rotations, roots, strict=True))
        return np.stack([simulation.skin(state).astype(np.float32) for state in states])


def flesh_of(
    person: Person, template: Template, deformer: DeformerName, seed: int | None
) -> PersonFlesh:
    """Prepare a person; `seed` draws what composition does not say of the tissue, if not None."""
    tissue = tissue_of(person, seed)
    if deformer == ProjectiveSkinning.name:
        return PersonFlesh(person, ProjectiveSkinning(template), tissue, None)
    layers = fit_layers(person.identity, person.sex, person.composition)
    return PersonFlesh(person, LayeredSkinning(template, layers), tissue, layers)
