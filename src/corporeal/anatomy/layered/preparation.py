"""One person's layers as a body that the projective simulation steps.

What has to do with the skin alone (the simulated surface, upsampling, contacts) is that of
two-layer flesh; elements, anchors and carriers are the layers'.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.anatomy.layered.bone_motion import bone_weights, held_by_bone, over_ribs
from corporeal.anatomy.layered.flesh import layer_skin, layer_volume, layered_system
from corporeal.anatomy.layered.mesh import LayeredMesh, layered_mesh
from corporeal.anatomy.layered.softness import fat_softness, muscle_firmness, skin_share
from corporeal.anatomy.template import layered_template
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.body.tissue_maps import TissueMaps
from corporeal.errors import InputError
from corporeal.physics.contact.skin_contacts import SkinContacts
from corporeal.physics.coupling.blended import BlendedCarrier
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls, StressFree
from corporeal.physics.fast_projective_skinning.extreme_shapes import ExtremeShapes
from corporeal.physics.fast_projective_skinning.lru_cache import LruCache
from corporeal.physics.fast_projective_skinning.parts import Integrator
from corporeal.physics.fast_projective_skinning.preparation import Preparation
from corporeal.physics.fast_projective_skinning.step_solver import kept_solver
from corporeal.physics.materials import Material
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.system import System
from corporeal.physics.stress_free_pose import StressFreePose
from corporeal.physics.upsampling.upsampling import Upsampler
from corporeal.physics.volume_preservation.regions import smooth_regions
from corporeal.physics.volumetric_mesh.carried_parts import is_carried
from corporeal.physics.volumetric_mesh.model import VolumetricModel
from corporeal.units import BODY_DENSITY

SAME_SKIN = 1e-3
"""Metres that the layers' skin may be from the body's."""


class LayeredPreparation:
    """The parts of one person's layered simulation, each made when first asked for.

    `two_layer` holds what belongs to the skin; `muscle_ratio` is how many times stiffer muscle is
    than fat, `skin_tension` what stretched skin pulls with, N/m.
    """

    def __init__(
        self,
        two_layer: Preparation,
        layers: Layers,
        sex: str,
        muscle_ratio: float,
        skin_tension: float,
        maps: TissueMaps | None = None,
    ) -> None:
        _require_same_skin(layers, two_layer)
        self.layers, self.muscle_ratio = layers, muscle_ratio
        self.skin_tension = skin_tension
        self.joints: Float64[NumpyArray, "J 3"] = two_layer.joints
        self.skeleton: Skeleton = two_layer.skeleton
        self.stress_free: StressFreePose = two_layer.stress_free
        self.surface: Mesh = two_layer.surface
        carried = is_carried(two_layer.template)[two_layer.coarse.vertex_indices]
        self.mesh: LayeredMesh = layered_mesh(layers, two_layer.coarse, carried)
        self._two_layer, self._sex, self._maps = two_layer, sex, maps or TissueMaps()
        self._kept = LruCache()

    def rest(self, settings: ProjectiveControls) -> Float64[NumpyArray, "n 3"]:
        """Skin, muscle and bone vertices at rest, metres."""
        return self.mesh.rest

    def model(self, settings: ProjectiveControls) -> VolumetricModel:
        """The skin over its bone lines; what has no layers is carried in it."""

        def make() -> VolumetricModel:
            return replace(self._two_layer.model(settings), carried=~self.mesh.layered)

        return self._kept.get("model", (), make)

    def coupling(self, settings: ProjectiveControls) -> BlendedCarrier:
        """Layers go with the bone beneath them; head, hands, front feet by the skin's weights."""
        return self._carrier

    def material(self, settings: ProjectiveControls) -> Material:
        """That of fat; the density is the whole body's."""
        return self._two_layer.material(settings)

    def system(self, settings: ProjectiveControls) -> System:
        """Masses and stiffness, in balance under gravity."""
        return self._kept.get("system", _system_key(settings), lambda: self._system(settings))

    def solver(
        self, settings: ProjectiveControls, step: float, integrator: Integrator
    ) -> CpuSolver:
        """The factored system for steps of `step` seconds."""
        key, system = _system_key(settings), self.system(settings)
        return kept_solver(self._kept, key, system, settings, step, integrator)

    def skin_contacts(self, settings: ProjectiveControls) -> SkinContacts:
        """What finds skin inside the body, anywhere."""

        def make() -> SkinContacts:
            return SkinContacts(self.model(settings), self.joints)

        return self._kept.get("skin contacts", (), make)

    def meeting(self, settings: ProjectiveControls) -> Int[NumpyArray, "k"]:
        """Simulated skin vertices that may meet others at joints."""
        return self._two_layer.meeting(settings)

    @property
    def upsampler(self) -> Upsampler | None:
        """From the simulated skin to the full one; None where they are the same."""
        return self._two_layer.upsampler

    @cached_property
    def _weights(self) -> Float64[NumpyArray, "V J"]:
        """Of every simulated skin vertex: those of the bone beneath it."""
        return bone_weights(layered_template(self._sex))[self._two_layer.coarse.vertex_indices]

    @cached_property
    def _carrier(self) -> BlendedCarrier:
        """Skin and muscle are carried where the bone beneath them is."""
        each, rest = csr_array(self._weights[self.mesh.skin_of]), self.mesh.rest
        return BlendedCarrier(each, rest[self.mesh.bone_of], self.joints)

    @cached_property
    def _crowded(self) -> Bool[NumpyArray, "V"] | None:
        """Skin vertices below which bone gets into the way of bone; None where it is most."""
        template, rest = self._two_layer.template, self._two_layer.whole_rest
        own = Identity(rest, self.joints, {})
        return ExtremeShapes(template, _Alone(self), own, "t-pose").crowded(self.mesh.skin_of)

    def _held(self, settings: ProjectiveControls) -> Bool[NumpyArray, "m"]:
        names = self.skeleton.names
        held = held_by_bone(self._weights, self.mesh.layered, names)[self.mesh.members]
        return held if settings.sliding else np.ones_like(held)

    @cached_property
    def _softness(self) -> tuple[Float64[NumpyArray, "V"], Float64[NumpyArray, "V"]]:
        """Of fat and of muscle."""
        template, kept = self._two_layer.template, self._two_layer.coarse.vertex_indices
        ribs = over_ribs(layered_template(self._sex))[kept]
        gap = np.asarray(self.layers.skin, np.float64) - np.asarray(self.layers.muscle, np.float64)
        thickness = np.linalg.norm(gap, axis=1)[kept]
        labels = template.part_labels[kept]
        fat = fat_softness(template, self.surface, labels, ribs, thickness)
        return fat, muscle_firmness(self.surface, ribs)

    @cached_property
    def _skin_share(self) -> Float64[NumpyArray, "V"]:
        """Of the skin's tension that is not in the flesh's modulus already."""
        kept = self._two_layer.coarse.vertex_indices
        template = self._two_layer.template
        return skin_share(template, self.surface, template.part_labels[kept])

    def _system(self, settings: ProjectiveControls) -> System:
        kept, maps = self._two_layer.coarse.vertex_indices, self._maps
        ones = np.ones(len(kept))
        fat, muscle = self._softness
        heavier = self.material(settings).density / BODY_DENSITY if settings.mass > 0 else 1.0
        system = layered_system(
            self.mesh,
            self._held(settings),
            settings.stiffness,
            self.muscle_ratio,
            settings.gravity,
            fat**settings.tissue,
            muscle**settings.tissue,
            ones if maps.stiffness is None else maps.stiffness[kept],
            heavier * (ones if maps.mass is None else maps.mass[kept]),
            self._crowded if settings.untangled else None,
        )
        if self.skin_tension > 0.0:
            share = self._skin_share**settings.tissue
            skin = layer_skin(self.mesh, system, self.skin_tension * share)
            system = replace(system, constraints=(*system.constraints, skin))
        if settings.volume == 0.0:
            return system
        shares = smooth_regions(self.model(settings))
        return replace(
            system, volume_preservation=layer_volume(self.mesh, system, shares, settings.volume)
        )


@dataclass(frozen=True, eq=False)
class _Alone:
    """A cast of one."""

    parts: LayeredPreparation

    def of(self, identity: Identity, stress_free: StressFree) -> LayeredPreparation:
        return self.parts


def _system_key(settings: ProjectiveControls) -> tuple[float, ...]:
    return (
        settings.stiffness,
        settings.tissue,
        settings.volume,
        settings.mass,
        settings.gravity,
        float(settings.sliding),
        float(settings.untangled),
    )


def _require_same_skin(layers: Layers, two_layer: Preparation) -> None:
    coarse = two_layer.coarse.surface(layers.skin)
    apart = np.abs(np.asarray(coarse.vertices) - np.asarray(two_layer.surface.vertices)).max()
    if apart > SAME_SKIN:
        raise InputError(
            f"the skin of the layers is up to {1e3 * apart:.3g} mm from the body's; expected "
            f"layers that were fitted into this body. Fit them anew, or give none."
        )
