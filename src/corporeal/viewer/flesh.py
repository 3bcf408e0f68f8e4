"""Simulations for the flesh on the stage, made in a thread."""

from collections.abc import Callable

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning
from corporeal.physics.fast_projective_skinning.preparation import Maps
from corporeal.physics.fast_projective_skinning.simulation import (
    ProjectiveSimulation,
    SimulationState,
)
from corporeal.viewer.document import View
from corporeal.viewer.players import as_controls, begun

Made = tuple[ProjectiveSimulation, SimulationState | None]


class FleshMaker:
    """Makes simulations; those of one person share what their controls do not touch."""

    def __init__(self, template: Template) -> None:
        self._template = template
        self._painted: NumpyArray | None = None
        self._layers: Layers | None = None
        self._deformers: dict[str, ProjectiveSkinning | LayeredSkinning] = {}

    def use_layers(self, layers: Layers | None) -> None:
        """Layers of the person for the layered deformer; None lets it fit some."""
        self._layers = layers
        self._deformers.pop("layered", None)

    def work(
        self,
        view: View,
        identity: Identity,
        pose: Pose,
        painted: Float64[NumpyArray, "V"] | None,
        before: SimulationState | None,
    ) -> Callable[[], Made]:
        """What makes the flesh of a view in a pose, to be called in a thread; it goes on from
        `before` where that is the same person's."""
        if not _same(painted, self._painted):
            self._painted = painted
            self._deformers.clear()
        deformer = self._deformer(view.deformer)
        controls = as_controls(view.controls)

        def make() -> Made:
            return begun(deformer.simulation(controls), identity, pose, before)

        return make

    def _deformer(self, name: str) -> ProjectiveSkinning | LayeredSkinning:
        if name not in self._deformers:
            maps = Maps(stiffness=self._painted)
            self._deformers[name] = (
                LayeredSkinning(self._template, self._layers, maps)
                if name == "layered"
                else ProjectiveSkinning(self._template, maps)
            )
        return self._deformers[name]


def _same(one: NumpyArray | None, other: NumpyArray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
