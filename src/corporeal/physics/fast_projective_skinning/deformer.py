"""The deformer `projective`: a clip's skeleton goes through the simulation, frame by frame."""

from corporeal.body.controls import GivenControls
from corporeal.body.deformer import controls_for
from corporeal.body.template import Template
from corporeal.body.tissue_maps import TissueMaps
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.environment import Environment
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.fast_projective_skinning.simulated_flesh import SimulatedFlesh
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation


class ProjectiveSkinning(SimulatedFlesh):
    """Deformer `projective`: flesh between skin and bones moves by Projective Dynamics.

    Takes a mesh and a skeleton; skin weights play no part. Frames depend on the frames before.
    """

    name = "projective"
    title = "Projective flesh"
    summary = "flesh between skin and bones moves by Projective Dynamics"
    references = ("komaritzan2022layered", "bouaziz2014projective")
    Controls = ProjectiveControls
    tolerance = 2e-5

    def __init__(
        self,
        template: Template,
        maps: TissueMaps | None = None,
        environment: Environment | None = None,
        device: str = "cpu",
    ) -> None:
        """`maps` multiply stiffness and density around every vertex of the skin; `environment`
        are colliders, wind and grabs, whose time 0 is a clip's first frame. `device` is `cpu`, or
        `gpu` (`gpu:N`) to run clips through JAX."""
        super().__init__(template, environment, device)
        self._preparations = Preparations(template, maps=maps)

    def simulation(self, controls: GivenControls = None) -> ProjectiveSimulation:
        """The simulation with these controls; parts that they do not touch are made once."""
        settings = controls_for(self.name, ProjectiveControls, controls)
        return ProjectiveSimulation(self.template, settings, preparations=self._preparations)
