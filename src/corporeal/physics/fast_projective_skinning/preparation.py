"""What is made once for a person and shared by all settings that do not touch it.

=============== =====================================================
part            made anew when these controls change
=============== =====================================================
model           bone_radii
coupling        bone_radii, sliding
system          bone_radii, stiffness, tissue, volume, mass, gravity, untangled
solver          those of the system, damping, iterations, length of step
=============== =====================================================

`dynamics`, `loop`, `ground` and `collisions` make nothing anew. Flesh that is free of stress in
another pose (`stress_free`) is another preparation: its rest shape, surface and upsampling are of
that pose.
"""

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.assets.coarse_surface import coarse_surface_of
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.tissue_maps import TissueMaps
from corporeal.errors import InputError
from corporeal.geometry.volume import enclosed_volume
from corporeal.physics.contact.skin_contacts import SkinContacts
from corporeal.physics.coupling.coupling import Coupling, node_positions
from corporeal.physics.coupling.loose_bones import follow_shares
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls, StressFree
from corporeal.physics.fast_projective_skinning.extreme_shapes import (
    ExtremeShapes,
    template_extremes,
)
from corporeal.physics.fast_projective_skinning.flesh_system import flesh_system
from corporeal.physics.fast_projective_skinning.kept_crowding import (
    crowding_key,
    keep_crowding,
    kept_crowding,
)
from corporeal.physics.fast_projective_skinning.lru_cache import LruCache
from corporeal.physics.fast_projective_skinning.parts import Integrator
from corporeal.physics.fast_projective_skinning.step_solver import kept_solver
from corporeal.physics.materials import Material
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.system import System
from corporeal.physics.stress_free_pose import stress_free_pose, stress_free_skin
from corporeal.physics.tissue import (
    has_known_parts,
    plain_factors,
    skeleton_scale,
    tissue_factors,
)
from corporeal.physics.upsampling.upsampling import Upsampler, build_upsampler
from corporeal.physics.volumetric_mesh.carried_parts import carried_parts
from corporeal.physics.volumetric_mesh.model import (
    VolumetricModel,
    bind_skin,
    build_volumetric_model,
)
from corporeal.physics.volumetric_mesh.simulation_mesh import (
    DEFAULT_VERTEX_COUNT,
    SimulationMesh,
    simulation_mesh,
)


class Preparation:
    """The parts of one person's simulation, each made when first asked for.

    `joints` and `skeleton` are those of the zero pose; surface, model and all that comes of them
    are of the pose in which flesh is free of stress: the sculpted one, or the zero pose.
    """

    def __init__(
        self,
        template: Template,
        identity: Identity,
        vertex_count: int,
        maps: TissueMaps,
        extremes: ExtremeShapes,
        stress_free: StressFree,
    ) -> None:
        self.template, self.extremes = template, extremes
        self._repose = template.repose if stress_free == "sculpted" else None
        self.joints = np.asarray(identity.joints, np.float64)
        self.skeleton = Skeleton(template.skeleton.names, template.skeleton.parents, self.joints)
        self.stress_free = stress_free_pose(self.skeleton, self._repose)
        self._zero = np.asarray(identity.rest_vertices, np.float64)
        self._rest = stress_free_skin(self._zero, self.skeleton, self._repose)
        self._maps = maps
        self._kept = LruCache()
        self.coarse: SimulationMesh = simulation_mesh(template, vertex_count)
        self.volume = abs(float(enclosed_volume(self._rest, np.asarray(template.mesh.triangles))))

    @property
    def upsampler(self) -> Upsampler | None:
        """From the simulated skin to the full one; None where they are the same."""
        if self.coarse.vertex_count == len(self._rest):
            return None
        mesh = self.template.mesh
        skin = Mesh(self._rest, mesh.triangles, mirror=mesh.mirror)
        return self._kept.get("upsampler", (), lambda: build_upsampler(skin, self.coarse))

    @property
    def whole_rest(self) -> Float64[NumpyArray, "W 3"]:
        """The full skin at rest, metres."""
        return self._rest

    @property
    def surface(self) -> Mesh:
        """The simulated skin at rest, metres."""
        return self.coarse.surface(self._rest)

    def rest(self, settings: ProjectiveControls) -> Float64[NumpyArray, "n 3"]:
        """Skin and inner vertices at rest, metres."""
        return np.asarray(self.model(settings).vertices, np.float64)

    def model(self, settings: ProjectiveControls) -> VolumetricModel:
        """Tetrahedra between skin and bones."""

        def make() -> VolumetricModel:
            return self._shrunk(self._zero, self.skeleton, settings.bone_radii)

        return self._kept.get("model", (settings.bone_radii,), make)

    def coupling(self, settings: ProjectiveControls) -> Coupling:
        """How bones carry the inner vertices."""

        def make() -> Coupling:
            shares = follow_shares(self.template.weights, self.skeleton)
            return Coupling(
                self.model(settings),
                self.stress_free.skeleton,
                sliding=settings.sliding,
                follow_shares={k: v[self.coarse.vertex_indices] for k, v in shares.items()},
            )

        return self._kept.get("coupling", (settings.bone_radii, settings.sliding), make)

    def skin_contacts(self, settings: ProjectiveControls) -> SkinContacts:
        """What finds skin inside the body, anywhere."""

        def make() -> SkinContacts:
            joints = np.asarray(self.stress_free.skeleton.joints, np.float64)
            return SkinContacts(self.model(settings), joints)

        return self._kept.get("skin contacts", (settings.bone_radii,), make)

    def meeting(self, settings: ProjectiveControls) -> Int[NumpyArray, "k"]:
        """Simulated skin vertices that may meet others at joints."""

        def make() -> NumpyArray:
            return self.extremes.meeting(self.skin_contacts(settings))

        return self._kept.get("meeting", (settings.bone_radii,), make)

    def material(self, settings: ProjectiveControls) -> Material:
        """Stiffness, density and damping of the whole body."""
        return settings.material(self.volume)

    def system(self, settings: ProjectiveControls) -> System:
        """Masses and stiffness, in balance under gravity."""
        return self._kept.get("system", _system_key(settings), lambda: self._system(settings))

    def solver(
        self, settings: ProjectiveControls, step: float, integrator: Integrator
    ) -> CpuSolver:
        """The factored system for steps of `step` seconds."""
        key, system = _system_key(settings), self.system(settings)
        return kept_solver(self._kept, key, system, settings, step, integrator)

    def tissue(self, settings: ProjectiveControls) -> Float64[NumpyArray, "V"]:
        """Factors on the stiffness by body part and depth."""

        def make() -> NumpyArray:
            if not has_known_parts(self.template):
                return plain_factors(self.model(settings))
            usual = np.asarray(self.template.mesh.vertices, np.float64)
            return tissue_factors(
                self.template,
                self.template.part_labels[self.coarse.vertex_indices],
                self.model(settings),
                self._shrunk(usual, self.template.skeleton, settings.bone_radii),
                skeleton_scale(self.skeleton, self.template.skeleton),
            )

        return self._kept.get("tissue", (settings.bone_radii,), make)

    def _system(self, settings: ProjectiveControls) -> System:
        stiffness = self.tissue(settings) ** settings.tissue
        kept, painted, mass = self.coarse.vertex_indices, self._maps.stiffness, self._maps.mass
        return flesh_system(
            self.model(settings),
            self.material(settings),
            np.array([0.0, -settings.gravity, 0.0]),
            stiffness if painted is None else stiffness * painted[kept],
            None if mass is None else mass[kept],
            settings.volume,
            self._crowded() if settings.untangled else None,
        )

    def _crowded(self) -> Bool[NumpyArray, "V"] | None:
        """Skin vertices whose inner copies get into each other's way; None where most do. Those of
        the default body's plain flesh ship."""

        def make() -> NumpyArray | None:
            plain = self._maps.stiffness is None and self._maps.mass is None
            shipped = coarse_surface_of(self.template) if plain and self._repose else None
            kept = self.coarse.vertex_indices
            if shipped is not None and np.array_equal(kept, shipped.vertex_indices):
                return shipped.crowded
            key = crowding_key(self.template, self._maps, self.coarse, self.extremes.stress_free)
            if (found := kept_crowding(key, self.coarse.vertex_count)) is not None:
                return found[0]
            made = self.extremes.crowded(np.tile(np.arange(self.coarse.vertex_count), 2))
            keep_crowding(key, made)
            return made

        return self._kept.get("crowded", (), make)

    def _shrunk(
        self, skin: Float64[NumpyArray, "W 3"], skeleton: Skeleton, radius_factor: float
    ) -> VolumetricModel:
        """The volumetric model of a skin of this template, given in the zero pose.

        Bones and base points are found there, with limbs apart, and go along to the stress-free
        pose: there an arm that hangs is nearer to the flank than the spine is.
        """
        binding = bind_skin(self.coarse.surface(skin), skeleton, radius_factor=radius_factor)
        pose = stress_free_pose(skeleton, self._repose)
        if not pose.is_zero:
            joints = np.asarray(skeleton.joints, np.float64)
            nodes = node_positions(pose.world_from_joint, joints, binding.bones)
            binding = replace(binding, bones=replace(binding.bones, nodes=nodes))
        return build_volumetric_model(
            self.coarse.surface(stress_free_skin(skin, skeleton, self._repose)),
            pose.skeleton,
            carriers=csr_array(carried_parts(self.template)[self.coarse.vertex_indices]),
            binding=binding,
        )


class Preparations:
    """The preparation of every person met, kept while the identity lives."""

    def __init__(
        self,
        template: Template,
        vertex_count: int = DEFAULT_VERTEX_COUNT,
        maps: TissueMaps | None = None,
    ) -> None:
        self.template = template
        self._vertex_count = vertex_count
        self._maps = maps or TissueMaps()
        self._extremes: dict[StressFree, ExtremeShapes] = {}
        _require_maps(self._maps, template.mesh.vertex_count)
        self._of: WeakKeyDictionary[Identity, dict[StressFree, Preparation]] = WeakKeyDictionary()

    def of(self, identity: Identity, stress_free: StressFree) -> Preparation:
        """That of one person, whose flesh is free of stress in this pose."""
        known = self._of.setdefault(identity, {})
        if stress_free not in known:
            if stress_free not in self._extremes:
                found = template_extremes(self.template, self, stress_free)
                self._extremes[stress_free] = found
            extremes = self._extremes[stress_free]
            known[stress_free] = Preparation(
                self.template, identity, self._vertex_count, self._maps, extremes, stress_free
            )
        return known[stress_free]


def _system_key(settings: ProjectiveControls) -> tuple[float, ...]:
    return (
        settings.bone_radii,
        settings.stiffness,
        settings.tissue,
        settings.volume,
        settings.mass,
        settings.gravity,
        float(settings.untangled),
    )


def _require_maps(maps: TissueMaps, vertex_count: int) -> None:
    """Refuse maps that do not have a finite factor above 0 for every vertex of the skin."""
    for name in ("stiffness", "mass"):
        values = getattr(maps, name)
        if values is None:
            continue
        if len(values) != vertex_count or not (np.isfinite(values) & (values > 0.0)).all():
            raise InputError(
                f"the {name} map has {len(values)} values from {values.min():g} to "
                f"{values.max():g}; expected {vertex_count}, one a vertex of the skin, finite and "
                f"above 0."
            )
