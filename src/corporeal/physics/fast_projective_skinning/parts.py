"""What a simulation asks of a body: any flesh that offers this can be stepped.

Two-layer flesh (`preparation`) and layered flesh (`anatomy.layered`) do. Simulated vertices come in
one order everywhere: the V of the simulated skin first, then those beneath.
"""

from typing import Literal, Protocol, runtime_checkable

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.physics.contact.skin_contacts import SkinContacts
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls, StressFree
from corporeal.physics.materials import Material
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.system import System
from corporeal.physics.stress_free_pose import StressFreePose
from corporeal.physics.upsampling.upsampling import Upsampler
from corporeal.physics.volumetric_mesh.model import VolumetricModel

Integrator = Literal["bdf2", "implicit-euler", "static"]


@runtime_checkable
class Carrier(Protocol):
    """How a skeleton carries simulated vertices along; frames are told from the rest shape."""

    def carriers(
        self, world_from_joint: Float64[NumpyArray, "*batch J 4 4"]
    ) -> Float64[NumpyArray, "*batch n 3"]:
        """Where the joints put every vertex: anchored ones where they are, free ones where they
        would be without physics (metres)."""
        ...

    def carry(
        self,
        positions: Float64[NumpyArray, "n 3"],
        before: Float64[NumpyArray, "J 4 4"],
        after: Float64[NumpyArray, "J 4 4"],
    ) -> Float64[NumpyArray, "n 3"]:
        """The vertices moved with the bones they lie on, from one pose to the next."""
        ...


@runtime_checkable
class BodyParts(Protocol):
    """The parts of one person's simulation; each is made when asked for, and kept."""

    @property
    def joints(self) -> Float64[NumpyArray, "J 3"]:
        """In the zero pose, metres."""
        ...

    @property
    def skeleton(self) -> Skeleton:
        """The person's joints in the zero pose, metres."""
        ...

    @property
    def stress_free(self) -> StressFreePose:
        """The pose of the rest shape, from which carriers and contacts are told frames."""
        ...

    @property
    def upsampler(self) -> Upsampler | None:
        """From the simulated skin to the full one; None where they are the same."""
        ...

    @property
    def surface(self) -> Mesh:
        """The simulated skin at rest, metres."""
        ...

    def rest(self, settings: ProjectiveControls) -> Float64[NumpyArray, "n 3"]:
        """All simulated vertices at rest, metres."""
        ...

    def model(self, settings: ProjectiveControls) -> VolumetricModel:
        """The skin over its bone lines, by which contacts of skin with skin are found."""
        ...

    def coupling(self, settings: ProjectiveControls) -> Carrier:
        """How bones carry the vertices."""
        ...

    def material(self, settings: ProjectiveControls) -> Material:
        """Stiffness, density and damping of the whole body."""
        ...

    def system(self, settings: ProjectiveControls) -> System:
        """Masses and stiffness, in balance under gravity."""
        ...

    def solver(
        self, settings: ProjectiveControls, step: float, integrator: Integrator
    ) -> CpuSolver:
        """The factored system for steps of `step` seconds."""
        ...

    def meeting(self, settings: ProjectiveControls) -> Int[NumpyArray, "k"]:
        """Simulated skin vertices that may meet others at joints."""
        ...

    def skin_contacts(self, settings: ProjectiveControls) -> SkinContacts:
        """What finds skin inside the body, anywhere."""
        ...


@runtime_checkable
class Bodies(Protocol):
    """Where a simulation takes its bodies from."""

    def of(self, identity: Identity, stress_free: StressFree) -> BodyParts:
        """The parts of one person, free of stress in this pose where flesh leaves the choice."""
        ...
