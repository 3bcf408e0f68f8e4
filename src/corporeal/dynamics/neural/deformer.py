"""Deformer `neural`: SMPL with soft tissue that a network predicts (Casas 2018, eq. 3)."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float32, NumpyArray
from corporeal.assets.learned_neural import learned_neural
from corporeal.body.controls import GivenControls, control
from corporeal.body.deformer import controls_for
from corporeal.body.identity import Identity
from corporeal.body.neural_flesh import NeuralFlesh
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.dynamics.blend_shapes import BlendShapeDynamics
from corporeal.dynamics.body_mass import body_mass_index
from corporeal.dynamics.controls import LearnedControls, known_gender
from corporeal.dynamics.neural.clock import NeuralClock
from corporeal.dynamics.neural.model import NeuralModel
from corporeal.dynamics.neural.person import Tissue


@dataclass(frozen=True, kw_only=True)
class NeuralControls(LearnedControls):
    """Of a body with neural soft tissue."""

    fat_stiffness: float = control(
        Tissue().stiffness,
        low=500.0,
        high=50000.0,
        slider=(1500.0, 8000.0),
        logarithmic=True,
        unit="Pa",
        help="Young's modulus of fat; people in the captures spread by a tenth or two",
    )
    damping_ratio: float = control(
        Tissue().damping_ratio,
        low=0.01,
        high=1.0,
        slider=(0.05, 0.4),
        help="of swings, over critical damping",
    )


class NeuralSkinning(BlendShapeDynamics):
    """SMPL's skin with offsets of a network that remembers the movement."""

    name = "neural"
    title = "Neural flesh"
    summary = "SMPL with soft tissue that a recurrent network predicts from the movement"
    references = ("casas2018learning", "loper2015smpl")
    Controls = NeuralControls

    def __init__(
        self,
        template: Template,
        trained: NeuralFlesh | None = None,
        local_weights: Float[NumpyArray, "V"] | None = None,
    ) -> None:
        """`trained` is the model, the one that ships if None; `local_weights` scale dynamics at
        every vertex (1 leaves it as it is)."""
        self.model = NeuralModel(learned_neural() if trained is None else trained)
        super().__init__(template, self.model.trained.vertex_count, local_weights)

    @property
    def shapes(self) -> Float[NumpyArray, "D V 3"]:
        """Rest-pose offset of every dynamic coefficient, metres."""
        return self.model.trained.dynamic_basis

    @property
    def mean(self) -> Float[NumpyArray, "V 3"]:
        """None: without movement there is no dynamic offset."""
        return np.zeros((self.model.trained.vertex_count, 3), np.float32)

    def clock(self, identity: Identity, controls: GivenControls = None) -> NeuralClock:
        """The network, run along with a body's poses."""
        settings = controls_for(self.name, NeuralControls, controls)
        tissue = Tissue(settings.fat_stiffness, damping_ratio=settings.damping_ratio)
        return self._clock(identity, tissue)

    def pose_extra(self, identity: Identity, poses: Pose) -> Float32[NumpyArray, "N V 3"] | None:
        """What the network says that poses do beyond SMPL's correctives, metres."""
        if not len(self.model.trained.static_basis):
            return None
        return self.model.static_offsets(self._clock(identity, Tissue()).static(poses))

    def _clock(self, identity: Identity, tissue: Tissue) -> NeuralClock:
        joints = np.asarray(identity.joints)
        return NeuralClock(
            self.model, self.person(identity, tissue), joints, self.template.skeleton
        )

    def person(self, identity: Identity, tissue: Tissue) -> Float32[NumpyArray, "q"]:
        """What the network is told of a body."""
        index = None
        if self.model.trained.experts is not None:
            index = body_mass_index(identity, self.template.mesh.triangles)
        rest = np.asarray(identity.rest_vertices)
        return self.model.person(rest, tissue, index, known_gender(identity))
