"""SMPL whose pose blend shapes depend on the person: B_P(θ, β) = Σ_c y_c(β) Σ_n f_n(θ) P_cn.

Loper 2015, section 7, names it as a limit that pose blend shapes are the same for everybody. Here
they are linear in the first shape coefficients, y = (1, β_1, …, β_m), and kept as k morph targets
whose weights depend on both: offsets = Σ_b (Σ_cn y_c B_cbn f_n(θ)) d_b. For one person these are
plain pose correctives.
"""

from weakref import WeakKeyDictionary

import numpy as np

from corporeal._typing import Array, Float, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.controls import GivenControls
from corporeal.body.correctives import PoseCorrectives
from corporeal.body.deformer import Traits, controls_for
from corporeal.body.identity import Identity
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.shape_correctives import ShapeCorrectives
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.models.smpl.corrected import CorrectedSkinning
from corporeal.models.smpl.model import SHAPE, SmplModel


class ShapeDependentSmpl(Traits):
    """A body model whose people bend differently."""

    name = "smpl"
    title = "SMPL, shape-dependent"
    summary = "linear blending with pose correctives that are linear in the shape coefficients"
    references = ("loper2015smpl",)

    def __init__(
        self,
        data: LinearBodyModel,
        correctives: ShapeCorrectives,
        template: Template | None = None,
    ) -> None:
        if len(correctives.shares) > data.shape_count + 1:
            raise InputError(
                f"correctives depend on {len(correctives.shares) - 1} shape coefficients; the "
                f"model has {data.shape_count}."
            )
        self._people = SmplModel(data, template)
        self.data, self.dependent = data, correctives
        self.template, self.parameters = self._people.template, self._people.parameters
        self._own: WeakKeyDictionary[Identity, CorrectedSkinning] = WeakKeyDictionary()

    def prepare(self, betas: Float[Array, "s"] | None = None) -> Identity:
        """The person with these shape coefficients; those not given are 0."""
        return self._people.prepare(betas)

    def correctives_of(self, identity: Identity) -> PoseCorrectives:
        """The person's own pose correctives; those of β = 0 for one that no β made."""
        betas = np.asarray(identity.parameters.get(SHAPE, np.zeros(0)), np.float64)
        return self.dependent.at(betas)

    def skinning_of(self, identity: Identity) -> CorrectedSkinning:
        """What moves one person; prepared once."""
        if identity not in self._own:
            self._own[identity] = CorrectedSkinning(
                self.template, self.correctives_of(identity), self.data.blending
            )
        return self._own[identity]

    def vertices(
        self, identity: Identity, pose: Pose, out: NumpyArray | None = None
    ) -> Float[Array, "*batch V 3"]:
        """Posed skin, metres."""
        return self.skinning_of(identity).vertices(identity, pose, out)

    def animate(
        self, identity: Identity, motion: Motion, controls: GivenControls = None
    ) -> Animation:
        """Pose the identity by every frame of the motion; there are no controls."""
        controls_for(self.name, self.Controls, controls)
        return self.skinning_of(identity).animate(identity, motion)
