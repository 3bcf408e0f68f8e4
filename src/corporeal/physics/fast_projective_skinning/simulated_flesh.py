"""What all deformers share that simulate flesh through a clip."""

from abc import ABC, abstractmethod

from corporeal.body.animation import Animation
from corporeal.body.controls import GivenControls
from corporeal.body.deformer import Traits
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.template import Template
from corporeal.physics.fast_projective_skinning.environment import Environment
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.fast_projective_skinning.take import simulated_take


class SimulatedFlesh(Traits, ABC):
    """A deformer whose frames come from a `ProjectiveSimulation`; which one, a subclass says."""

    stateful = True
    devices = ("cpu", "gpu")
    accepts_maps = True
    accepts_environment = True

    def __init__(self, template: Template, environment: Environment | None, device: str) -> None:
        """`environment` are colliders, wind and grabs, whose time 0 is a clip's first frame;
        `device` is `cpu`, or `gpu` (`gpu:N`) to run clips through JAX."""
        self.template = template
        self.device = device
        self.environment = environment or Environment()

    @abstractmethod
    def simulation(self, controls: GivenControls = None) -> ProjectiveSimulation:
        """The simulation with these controls, to be started, stepped and saved; parts that they
        do not touch are made once."""

    def stepper(self, controls: GivenControls = None) -> ProjectiveSimulation:
        """What moves a body live."""
        return self.simulation(controls)

    def animate(
        self, identity: Identity, motion: Motion, controls: GivenControls = None
    ) -> Animation:
        """Simulate the identity through the motion, from quiet flesh in the first frame."""
        return simulated_take(
            self.name,
            self.simulation(controls),
            self.environment,
            identity,
            motion,
            self.device,
        )
