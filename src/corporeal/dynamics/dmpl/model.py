"""Deformer `dmpl`: SMPL with dynamic blend shapes that the movement drives (Loper 2015, 6)."""

from corporeal._typing import Float, NumpyArray
from corporeal.assets.learned_dynamics import learned_dmpl
from corporeal.body.dynamics import DynamicBlendShapes, Predictors
from corporeal.body.template import Template
from corporeal.dynamics.blend_shapes import BlendShapeDynamics
from corporeal.dynamics.deformer import AutoregressiveDynamics
from corporeal.errors import InputError


class DmplSkinning(BlendShapeDynamics, AutoregressiveDynamics):
    """SMPL's skin with rest-pose displacements by velocities, accelerations and their own past."""

    name = "dmpl"
    title = "DMPL"
    summary = "SMPL with dynamic blend shapes that velocities and accelerations drive"
    references = ("loper2015smpl", "ponsmoll2015dyna")

    def __init__(
        self,
        template: Template,
        trained: DynamicBlendShapes | None = None,
        local_weights: Float[NumpyArray, "V"] | None = None,
    ) -> None:
        """`trained` is the model, the one that ships if None; `local_weights` scale dynamics at
        every vertex (1 leaves it as it is)."""
        model = learned_dmpl() if trained is None else trained
        if model.predictors is None:
            raise InputError(
                "the DMPL file holds shapes and nothing that predicts them (files of others do); "
                "expected one of `corporeal train dmpl`."
            )
        self.model = model
        super().__init__(template, model.vertex_count, local_weights)

    @property
    def shapes(self) -> Float[NumpyArray, "D V 3"]:
        """Dynamic blend shapes, metres a coefficient."""
        return self.model.shapes

    @property
    def mean(self) -> Float[NumpyArray, "V 3"]:
        """μ_D, metres."""
        return self.model.mean

    @property
    def predictors(self) -> Predictors:
        """From motion to coefficients."""
        assert self.model.predictors is not None
        return self.model.predictors
