"""The deformer that moves a person: prepared once, used for all sequences."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.body.animation import Animation
from corporeal.body.deformer import Deformer
from corporeal.body.layers import Layers
from corporeal.body.template import Template
from corporeal.capture.person import Person
from corporeal.capture.protocols.protocol import Recording
from corporeal.capture.tissue import Tissue, tissue_of
from corporeal.physics.projective.deformer import ProjectiveSkinning

DeformerName = Literal["projective", "layered"]
Touch = Literal["off", "local", "global"]
TOUCH: tuple[Touch, ...] = ("off", "local", "global")
"""Names of the numbers of the control `collisions`."""


@dataclass(frozen=True, eq=False)
class Flesh:
    """One person's deformer, and what it is told."""

    person: Person
    deformer: Deformer
    tissue: Tissue
    layers: Layers | None
    """None for two-layer flesh."""

    def controls(self, moving: bool, touch: Touch) -> dict[str, float]:
        """What the deformer is told, by the names in its table; SI units."""
        names = frozenset(control.name for control in self.deformer.controls)
        told = self.tissue.controls(names, self.person.measurements.mass)
        told["dynamics"] = float(moving)
        if "collisions" in names:
            told["collisions"] = float(TOUCH.index(touch))
        return told

    def perform(self, recording: Recording, touch: Touch) -> Animation:
        """Move the person through a recording."""
        told = self.controls(recording.moving, touch)
        return self.deformer.animate(
            self.person.identity,
            recording.motion,
            {name: np.asarray(value) for name, value in told.items()},
        )


def flesh_of(person: Person, template: Template, deformer: DeformerName, seed: int | None) -> Flesh:
    """Prepare a person; `seed` draws what composition does not say of the tissue, if not None."""
    tissue = tissue_of(person, seed)
    if deformer == "projective":
        return Flesh(person, ProjectiveSkinning(template), tissue, None)
    layers = fit_layers(person.identity, person.sex, person.composition)
    return Flesh(person, LayeredSkinning(template, layers), tissue, layers)
