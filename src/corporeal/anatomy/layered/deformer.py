"""The deformer `layered`: fat and muscle over a skeleton that moves bone by bone."""

from dataclasses import dataclass, field

from corporeal.anatomy.layered.bodies import LayeredBodies, LayeredCast
from corporeal.body.controls import GivenControls, control, inherited_control
from corporeal.body.deformer import controls_for
from corporeal.body.layers import Layers
from corporeal.body.template import Template
from corporeal.body.tissue_maps import TissueMaps
from corporeal.body.tissues import FAT, MUSCLE, SKIN_TENSION
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls, StressFree
from corporeal.physics.fast_projective_skinning.environment import Environment
from corporeal.physics.fast_projective_skinning.simulated_flesh import SimulatedFlesh
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.volumetric_mesh.simulation_mesh import DEFAULT_VERTEX_COUNT


@dataclass(frozen=True, kw_only=True)
class LayeredControls(ProjectiveControls):
    """Controls of three-layer flesh: those of two layers but the bones' radii, told in the words
    of layers."""

    stiffness: float = inherited_control(
        ProjectiveControls, "stiffness", default=FAT.modulus, help="Young's modulus of fat"
    )
    mass: float = inherited_control(
        ProjectiveControls,
        "mass",
        help="mass of the whole body; 0: by the densities of its layers",
    )
    volume: float = inherited_control(
        ProjectiveControls,
        "volume",
        default=100.0,
        help="volume preservation: bulk modulus over that of the layer around; 0: none",
    )
    tissue: float = inherited_control(
        ProjectiveControls,
        "tissue",
        help="1: fat is softer in breasts, firmer over ribs; 0: the same everywhere",
    )
    sliding: bool = inherited_control(
        ProjectiveControls,
        "sliding",
        help="the bone surface stretches at joints",
        off="it is held there",
    )
    muscle: float = control(
        MUSCLE.modulus / FAT.modulus,
        low=1.0,
        high=100.0,
        help="how many times stiffer muscle is than fat",
    )
    skin_tension: float = control(
        SKIN_TENSION,
        low=0.0,
        high=1e4,
        slider=(0.0, 2000.0),
        unit="N/m",
        help="tension of stretched skin, its modulus times its thickness; 0: none",
    )
    age: float = control(
        40.0,
        low=18.0,
        high=80.0,
        unit="years",
        advanced=True,
        help="for the composition, where no layers were given",
    )
    bone_radii: float = field(default=1.0, init=False)
    """No control: layers hold their bones."""
    stress_free: StressFree = field(default="t-pose", init=False)
    """No control: layers are fitted in the T-pose."""


class LayeredSkinning(SimulatedFlesh):
    """Deformer `layered`. Without `layers` it fits them to each body's predicted composition."""

    name = "layered"
    title = "Layered flesh"
    summary = "fat and muscle move over a skeleton of bones by Projective Dynamics"
    references = (
        "komaritzan2022layered",
        "bouaziz2014projective",
        "musclemimic2026models",
        "caggiano2022myosuite",
        "rajagopal2016fullbody",
    )
    Controls = LayeredControls
    needs_layers = True
    accepts_custom_mesh = False
    tolerance = 5e-5

    def __init__(
        self,
        template: Template,
        layers: Layers | None = None,
        maps: TissueMaps | None = None,
        environment: Environment | None = None,
        device: str = "cpu",
        vertex_count: int = DEFAULT_VERTEX_COUNT,
    ) -> None:
        """`maps` multiply stiffness and density around every vertex of the skin; `environment`
        are colliders, wind and grabs; `device` is `cpu`, or `gpu` (`gpu:N`). `vertex_count` is how
        many skin vertices are simulated; the others follow by upsampling."""
        super().__init__(template, environment, device)
        self._bodies = LayeredBodies(template, layers, maps, vertex_count)

    def simulation(self, controls: GivenControls = None) -> ProjectiveSimulation:
        """The simulation with these controls, to be started, stepped and saved; parts that they
        do not touch are made once."""
        settings = controls_for(self.name, LayeredControls, controls)
        cast = LayeredCast(self._bodies, settings.muscle, settings.age, settings.skin_tension)
        return ProjectiveSimulation(self.template, settings, preparations=cast)
