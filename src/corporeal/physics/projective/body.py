"""One person's flesh, prepared once: simulation mesh, volumetric model, coupling, solvers."""

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.geometry.volume import enclosed_volume
from corporeal.physics.coupling import Coupling
from corporeal.physics.projective.flesh import flesh_system
from corporeal.physics.projective.settings import LARGEST_STEP, ProjectiveSettings
from corporeal.physics.projective_dynamics.fast import CpuSolver
from corporeal.physics.projective_dynamics.integration import StepRule
from corporeal.physics.simulation_mesh import DEFAULT_VERTEX_COUNT, simulation_mesh
from corporeal.physics.upsampling import build_upsampler
from corporeal.physics.volume.model import build_volumetric_model
from corporeal.physics.volume.rigid_parts import FEET, HEAD_PARTS, rigid_head_and_toes
from corporeal.skinning.kinematics import rest_to_world


class SimulatedBody:
    """Everything about an identity that does not change from step to step."""

    def __init__(
        self,
        template: Template,
        identity: Identity,
        settings: ProjectiveSettings,
        vertex_count: int = DEFAULT_VERTEX_COUNT,
        stiffness_map: Float64[NumpyArray, "W"] | None = None,
        mass_map: Float64[NumpyArray, "W"] | None = None,
    ) -> None:
        """The maps multiply stiffness and density around every vertex of the full skin."""
        self.settings = settings
        rest = np.asarray(identity.rest_vertices, np.float64)
        self.joints = np.asarray(identity.joints, np.float64)
        self.skeleton = Skeleton(template.skeleton.names, template.skeleton.parents, self.joints)
        skin = Mesh(rest, template.mesh.triangles)
        coarse = simulation_mesh(template, vertex_count)
        self._kept = coarse.vertex_indices
        self.upsampler = build_upsampler(skin, coarse) if len(self._kept) < len(rest) else None
        self.model = build_volumetric_model(
            coarse.surface(rest), self.skeleton, rigid_vertices=rigid_joints(template)[self._kept]
        )
        self.coupling = Coupling(self.model, self.skeleton, sliding=settings.sliding)
        self.gravity = np.array([0.0, -settings.gravity, 0.0])
        volume = abs(float(enclosed_volume(rest, np.asarray(template.mesh.triangles))))
        self.material = settings.material(volume)
        self.system = flesh_system(
            self.model,
            self.material,
            self.gravity,
            None if stiffness_map is None else stiffness_map[self._kept],
            None if mass_map is None else mass_map[self._kept],
        )
        self.weight = self.system.masses[:, None] * self.gravity
        self._bone_joints = self.model.bones.bone_joints[self.model.inner_bones]
        self._solvers: dict[tuple[str, int], CpuSolver] = {}

    def solver(self, step: float, integrator: str | None = None) -> CpuSolver:
        """The factored system for steps of `step` seconds; made when first asked for."""
        chosen = integrator or ("bdf2" if self.settings.dynamics else "static")
        key = (chosen, round(1e9 * step) if chosen != "static" else 0)
        if key not in self._solvers:
            iterations = self.settings.iterations * (2 if chosen == "static" else 1)
            rule = StepRule(step, iterations, self.material.damping, chosen)  # pyright: ignore[reportArgumentType]
            self._solvers[key] = CpuSolver(self.system, rule, accelerated=True)
        return self._solvers[key]

    def carriers(
        self, world_from_joint: Float64[NumpyArray, "*batch J 4 4"]
    ) -> Float64[NumpyArray, "*batch n 3"]:
        """Where bones put each of the 2V vertices: inner and rigid ones where they are, simulated
        skin where its inner copy is (metres)."""
        inner = self.coupling.inner_positions(world_from_joint)
        carried = np.concatenate([inner, inner], axis=-2)
        rigid = self.coupling.rigid_vertices
        carried[..., rigid, :] = self.coupling.rigid_positions(world_from_joint)
        return carried

    def carry(
        self,
        positions: Float64[NumpyArray, "n 3"],
        before: Float64[NumpyArray, "J 4 4"],
        after: Float64[NumpyArray, "J 4 4"],
    ) -> Float64[NumpyArray, "n 3"]:
        """The vertices moved rigidly with the bones they lie on, from one pose to another."""
        motion = rest_to_world(after, self.joints) @ np.linalg.inv(
            rest_to_world(before, self.joints)
        )
        each = motion[np.concatenate([self._bone_joints, self._bone_joints])]
        return np.einsum("nij,nj->ni", each[:, :3, :3], positions) + each[:, :3, 3]

    def skin(self, positions: Float64[NumpyArray, "*batch n 3"]) -> Float[NumpyArray, "*batch W 3"]:
        """The full skin of the simulated vertices, metres."""
        coarse = positions[..., : self.model.vertex_count, :]
        return coarse.copy() if self.upsampler is None else self.upsampler.upsample(coarse)

    def pull(self, forces: Float64[NumpyArray, "W 3"]) -> Float64[NumpyArray, "n 3"]:
        """Forces on the full skin as forces on the simulated vertices, by equal work (newtons)."""
        count = self.model.vertex_count
        spread = np.zeros((2 * count, 3))
        if self.upsampler is None:
            spread[:count] = forces
        else:
            shares = self.upsampler.weights[..., None] * forces[:, None, :]
            np.add.at(spread, self.upsampler.neighbours, shares)
        return spread

    def step_count(self, duration: float) -> int:
        """Steps that a frame of `duration` seconds is divided into."""
        return max(1, int(np.ceil(duration / LARGEST_STEP - 1e-6)))


def rigid_joints(template: Template) -> Int[NumpyArray, "W"]:
    """Joint that every vertex of face and toes follows; −1 elsewhere and on other bodies."""
    if {HEAD_PARTS[0], *FEET} <= set(template.part_names):
        return rigid_head_and_toes(template)
    return np.full(template.mesh.vertex_count, -1, np.int64)
