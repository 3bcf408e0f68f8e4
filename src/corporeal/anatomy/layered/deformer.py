"""The deformer `layered`: fat and muscle over a skeleton that moves bone by bone."""

from collections.abc import Mapping
from dataclasses import replace

from corporeal._typing import Array
from corporeal.anatomy.layered.bodies import LayeredBodies, LayeredCast
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.motion import Motion
from corporeal.body.parameter import Parameter
from corporeal.body.template import Template
from corporeal.physics.fast_projective_skinning.environment import Environment
from corporeal.physics.fast_projective_skinning.preparation import Maps
from corporeal.physics.fast_projective_skinning.settings import CONTROLS as TWO_LAYER_CONTROLS
from corporeal.physics.fast_projective_skinning.settings import ProjectiveSettings, control_numbers
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.fast_projective_skinning.take import simulated_take
from corporeal.physics.volumetric_mesh.simulation_mesh import DEFAULT_VERTEX_COUNT

_SHARED = (
    "stiffness", "mass", "damping", "gravity", "iterations", "tissue", "volume", "sliding",
    "dynamics", "ground", "collisions", "loop",
)  # fmt: skip
"""Controls that two-layer flesh has, too."""
_MEANINGS = {
    "stiffness": "Young's modulus of fat",
    "mass": "mass of the whole body; 0: by the densities of its layers",
    "tissue": "1: fat is softer in breasts, firmer over ribs; 0: the same everywhere",
    "sliding": "1: the bone surface stretches at joints; 0: it is held",
}
"""What some of them mean here."""


def _shared(row: Parameter) -> Parameter:
    """A control of two-layer flesh, as it is here. Layers lose so little volume (0.5 % of the body
    in a twist) that nothing keeps it unless asked for."""
    default = 0.0 if row.name == "volume" else row.default
    return replace(row, default=default, meaning=_MEANINGS.get(row.name, row.meaning))


CONTROLS = (
    *(_shared(row) for row in TWO_LAYER_CONTROLS if row.name in _SHARED),
    Parameter("muscle", 1.0, 100.0, 3.0, "how many times stiffer muscle is than fat"),
    Parameter("age", 18.0, 80.0, 40.0, "for the composition, where no layers were given", "years"),
)


class LayeredSkinning:
    """Deformer `layered`. Without `layers` it fits them to each body's predicted composition."""

    name = "layered"
    controls: tuple[Parameter, ...] = CONTROLS

    def __init__(
        self,
        template: Template,
        layers: Layers | None = None,
        maps: Maps | None = None,
        environment: Environment | None = None,
        device: str = "cpu",
        vertex_count: int = DEFAULT_VERTEX_COUNT,
    ) -> None:
        """`maps` multiply stiffness and density around every vertex of the skin; `environment`
        are colliders, wind and grabs; `device` is `cpu`, or `gpu` (`gpu:N`). `vertex_count` is how
        many skin vertices are simulated; the others follow by upsampling."""
        self.template = template
        self.device = device
        self.environment = environment or Environment()
        self._bodies = LayeredBodies(template, layers, maps, vertex_count)

    def simulation(self, controls: Mapping[str, Array] | None = None) -> ProjectiveSimulation:
        """The simulation with these controls, to be started, stepped and saved; parts that they
        do not touch are made once."""
        defaults = {row.name: row.default for row in CONTROLS}
        given = defaults | control_numbers(self.name, CONTROLS, controls)
        cast = LayeredCast(self._bodies, given.pop("muscle"), given.pop("age"))
        settings = ProjectiveSettings.from_numbers(given)
        return ProjectiveSimulation(self.template, settings, preparations=cast)

    def animate(
        self, identity: Identity, motion: Motion, controls: Mapping[str, Array] | None = None
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
