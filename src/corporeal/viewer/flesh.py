"""Steppers for the bodies on the stage, made in a thread."""

from collections.abc import Callable

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.deformer import StatefulDeformer
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.body.tissue_maps import TissueMaps
from corporeal.pipelines.controls import read_controls
from corporeal.pipelines.deformers import make_stateful
from corporeal.viewer.document import View
from corporeal.viewer.players import Begun, begun


class FleshMaker:
    """Makes steppers; those of one person share what their controls do not touch."""

    def __init__(self, template: Template) -> None:
        self._template = template
        self._painted: NumpyArray | None = None
        self._weights: NumpyArray | None = None
        self._layers: Layers | None = None
        self._deformers: dict[str, StatefulDeformer] = {}

    def use_layers(self, layers: Layers | None) -> None:
        """Layers of the person for deformers that need them; None lets them fit some."""
        self._layers = layers
        self._deformers = {
            name: made for name, made in self._deformers.items() if not made.needs_layers
        }

    def work(
        self,
        view: View,
        identity: Identity,
        pose: Pose,
        painted: Float64[NumpyArray, "V"] | None,
        before: Begun | None,
        weights: Float64[NumpyArray, "V"] | None = None,
    ) -> Callable[[], Begun]:
        """What makes the stepper of a view in a pose, to be called in a thread; it goes on from
        `before` where that is the same person's. `painted` are factors of stiffness, `weights` of
        learned dynamics."""
        if not _same(weights, self._weights):
            self._weights = weights
            self._deformers = {
                name: made
                for name, made in self._deformers.items()
                if not made.accepts_local_weights
            }
        if not _same(painted, self._painted):
            self._painted = painted
            self._deformers.clear()
        deformer = self._deformer(view.deformer)
        controls = read_controls(view.deformer, view.controls)

        def make() -> Begun:
            return begun(deformer.stepper(controls), identity, pose, before)

        return make

    def _deformer(self, name: str) -> StatefulDeformer:
        if name not in self._deformers:
            maps = TissueMaps(stiffness=self._painted)
            self._deformers[name] = make_stateful(
                name,
                self._template,
                maps=maps,
                layers=self._layers,
                local_weights=self._weights,
            )
        return self._deformers[name]


def _same(one: NumpyArray | None, other: NumpyArray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
