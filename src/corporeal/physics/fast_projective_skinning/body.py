"""One person's flesh under some settings: what a step needs; skin out, forces in."""

from functools import cached_property

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.pose import Pose
from corporeal.geometry.surface import mean_side
from corporeal.geometry.surface_tree import SurfaceTree
from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.contact.rules import RESTING
from corporeal.physics.contact.skin_contacts import SkinContacts
from corporeal.physics.contact.touching import Movement, Touching
from corporeal.physics.fast_projective_skinning.controls import LARGEST_STEP, ProjectiveControls
from corporeal.physics.fast_projective_skinning.parts import BodyParts, Integrator
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.integration import State
from corporeal.physics.upsampling.upsampling import Upsampler
from corporeal.physics.volumetric_mesh.model import VolumetricModel


class SimulatedBody:
    """Everything about an identity that does not change from step to step.

    `touchable` are the skin vertices that may meet the world; those that bones or joints carry do
    not. `touch_reach` is the distance, in metres, below which a contact is kept.
    """

    def __init__(self, preparation: BodyParts, settings: ProjectiveControls) -> None:
        self.settings = settings
        self.joints, self.skeleton = preparation.joints, preparation.skeleton
        self.stress_free = preparation.stress_free
        self.surface = preparation.surface
        self.rest = preparation.rest(settings)
        self.coupling = preparation.coupling(settings)
        self.system = preparation.system(settings)
        self.material = preparation.material(settings)
        self.gravity = np.array([0.0, -settings.gravity, 0.0])
        self.weight = self.system.masses[:, None] * self.gravity
        self.touchable = np.flatnonzero(~self.system.anchored[: self.surface.vertex_count])
        self.touch_reach = RESTING * mean_side(self.surface.vertices, self.surface.triangles)
        self._preparation = preparation
        self._latest: tuple[Float64[NumpyArray, "J 4 4"], Float64[NumpyArray, "n 3"]] | None = None

    @property
    def model(self) -> VolumetricModel:
        """The simulated skin over its bone lines."""
        return self._preparation.model(self.settings)

    @property
    def upsampler(self) -> Upsampler | None:
        """From the simulated skin to the full one; None where they are the same."""
        return self._preparation.upsampler

    @cached_property
    def rest_skin(self) -> Float64[NumpyArray, "W 3"]:
        """The full skin at rest, metres."""
        return np.asarray(self.skin(self.rest), np.float64)

    @cached_property
    def rest_tree(self) -> SurfaceTree:
        """The simulated skin at rest, for closest points."""
        return SurfaceTree(np.asarray(self.surface.vertices, np.float64), self.surface.triangles)

    @cached_property
    def reach(self) -> float:
        """From the root to the farthest joint in the zero pose, metres."""
        return float(np.linalg.norm(self.joints - self.joints[0], axis=1).max())

    @cached_property
    def _at_root(self) -> Int[NumpyArray, "r"]:
        """Vertices that bones hold nearest to the root; the nearest one of all where there is
        none."""
        joints = np.asarray(self.stress_free.skeleton.joints)
        away = np.linalg.norm(self.rest[:, None] - joints, axis=2)
        held = np.flatnonzero(self.system.anchored & (away.argmin(axis=1) == 0))
        return held if len(held) else away[:, 0].argmin(keepdims=True)

    def root_velocity(self, flesh: State) -> Float64[NumpyArray, "3"]:
        """How the root travels, m/s: the mean of the vertices that it holds."""
        return flesh.velocities[self._at_root].mean(axis=0)

    def solver(self, step: float, integrator: Integrator | None = None) -> CpuSolver:
        """The factored system for steps of `step` seconds; made when first asked for."""
        chosen: Integrator = integrator or ("bdf2" if self.settings.dynamics else "static")
        made = self._preparation.solver(self.settings, step, chosen)
        if chosen != "static" and self.settings.collisions != "off":
            made.expect_contacts()  # now, and not in the frame in which skin first meets skin
        return made

    def skin_contacts(self) -> SkinContacts:
        """What finds skin inside the body, anywhere."""
        return self._preparation.skin_contacts(self.settings)

    @property
    def meeting(self) -> Int[NumpyArray, "k"] | None:
        """Skin vertices that new contacts are looked for of: those that may meet at joints where
        collisions are local, None for all."""
        local = self.settings.collisions == "local"
        return self._preparation.meeting(self.settings) if local else None

    def self_contacts(
        self,
        flesh: State,
        world_from_joint: Float64[NumpyArray, "J 4 4"],
        movement: Movement | None = None,
    ) -> tuple[Contacts | None, Touching | None]:
        """Rows of skin on skin, and what the next ones go on from; none where collisions are off.

        Rows change as fast as a `movement` says; without one they are made anew.
        """
        if self.settings.collisions == "off":
            return None, None
        return self.skin_contacts().contacts(
            flesh.positions, world_from_joint, flesh.touching, self.meeting, movement
        )

    def frames(self, poses: Pose) -> Float64[NumpyArray, "*batch J 4 4"]:
        """World frames of poses, told from the stress-free one, as everything here takes them."""
        return self.stress_free.frames(poses)

    def carriers(
        self, world_from_joint: Float64[NumpyArray, "*batch J 4 4"]
    ) -> Float64[NumpyArray, "*batch n 3"]:
        """Where bones put every simulated vertex: anchored ones where they are (metres)."""
        return self.coupling.carriers(world_from_joint)

    def carriers_along(self, path: Float64[NumpyArray, "k J 4 4"]) -> Float64[NumpyArray, "k n 3"]:
        """`carriers` of frames one after the other; the first, which is where the path before
        ended, is kept from there."""
        known = self._latest
        if known is not None and np.array_equal(known[0], path[0]):
            found = np.concatenate([known[1][None], self.carriers(path[1:])])
        else:
            found = self.carriers(path)
        self._latest = path[-1].copy(), found[-1].copy()
        return found

    def carry(
        self,
        positions: Float64[NumpyArray, "n 3"],
        before: Float64[NumpyArray, "J 4 4"],
        after: Float64[NumpyArray, "J 4 4"],
    ) -> Float64[NumpyArray, "n 3"]:
        """The vertices moved with the bones they lie on, from one pose to the next."""
        return self.coupling.carry(positions, before, after)

    def skin(self, positions: Float64[NumpyArray, "*batch n 3"]) -> Float[NumpyArray, "*batch W 3"]:
        """The full skin of the simulated vertices, metres."""
        coarse = positions[..., : self.surface.vertex_count, :]
        return coarse.copy() if self.upsampler is None else self.upsampler.upsample(coarse)

    def pull(self, forces: Float64[NumpyArray, "W 3"]) -> Float64[NumpyArray, "n 3"]:
        """Forces on the full skin as forces on the simulated vertices, by equal work (newtons)."""
        count = self.surface.vertex_count
        spread = np.zeros_like(self.rest)
        if self.upsampler is None:
            spread[:count] = forces
        else:
            shares = self.upsampler.weights[..., None] * forces[:, None, :]
            np.add.at(spread, self.upsampler.neighbours, shares)
        return spread

    def step_count(self, duration: float) -> int:
        """Steps that a frame of `duration` seconds is divided into."""
        return max(1, int(np.ceil(duration / LARGEST_STEP - 1e-6)))
