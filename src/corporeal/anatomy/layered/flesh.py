"""The system that is solved: skin and muscle surface free, bone surface carried."""

import numpy as np
from scipy.sparse import csr_array, vstack

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.anatomy.fit.balance import FAT_DENSITY, MUSCLE_DENSITY
from corporeal.anatomy.layered.mesh import LayeredMesh
from corporeal.physics.fast_projective_skinning.flesh_system import (
    attachment_springs,
    balanced_strain,
)
from corporeal.physics.solver.constraints.skin_tension import SkinTension, skin_tension
from corporeal.physics.solver.constraints.strain import (
    StrainConstraint,
    strain_constraint,
)
from corporeal.physics.solver.membrane import membrane_of
from corporeal.physics.solver.system import System, tetrahedral_masses
from corporeal.physics.volume_preservation.reference import VolumePreservation, volume_preservation


def layered_system(
    mesh: LayeredMesh,
    held: Bool[NumpyArray, "m"],
    stiffness: float,
    muscle_ratio: float,
    gravity: float,
    fat_map: Float64[NumpyArray, "V"],
    muscle_map: Float64[NumpyArray, "V"],
    stiffness_map: Float64[NumpyArray, "V"],
    density_map: Float64[NumpyArray, "V"],
    crowded: Bool[NumpyArray, "V"] | None = None,
) -> System:
    """Fat of `stiffness` (Pa) over muscle `muscle_ratio` times as stiff, in balance at `gravity`.

    Bone vertices that are not `held` are free and massless: they slide. The maps multiply the
    stiffness of fat, of muscle and of all flesh, and density around every skin vertex; a
    tetrahedron takes the geometric mean of its corners. Bone vertices below `crowded` skin hang on
    springs instead of being anchored; where it comes, elements are kept right side out.
    """
    anchored = anchored_vertices(mesh, held)
    attached = np.zeros_like(anchored)
    if crowded is not None:
        attached[mesh.bone] = (crowded & mesh.layered)[mesh.members]
        attached &= anchored & _in_elements(mesh)
        anchored = anchored & ~attached
    over, muscle = mesh.skin_of[mesh.tetrahedra], mesh.is_muscle

    def spread(values: NumpyArray) -> NumpyArray:
        return np.exp(np.log(values)[over].mean(axis=1))

    young = np.where(muscle, muscle_ratio * spread(muscle_map), spread(fat_map))
    young = stiffness * young * spread(stiffness_map)
    density = np.where(muscle, MUSCLE_DENSITY, FAT_DENSITY) * spread(density_map)
    masses = tetrahedral_masses(mesh.rest, mesh.tetrahedra, density)
    masses[mesh.bone] = 0.0
    strain = strain_constraint(mesh.rest, mesh.tetrahedra, young)
    if gravity > 0:
        weight = masses[:, None] * np.array([0.0, -gravity, 0.0])
        strain = balanced_strain(strain, mesh.rest, young, anchored, attached, weight)
    return System(
        masses,
        anchored,
        (strain,),
        attachments=attachment_springs(strain, attached),
        untangled=crowded is not None,
        membrane=membrane_of(mesh.rest, mesh.triangles, strain, anchored),
    )


def layer_skin(mesh: LayeredMesh, system: System, tension: Float64[NumpyArray, "V"]) -> SkinTension:
    """Skin that pulls with a `tension` (N/m) around every skin vertex, but where bones carry it."""
    triangles = mesh.triangles[~system.anchored[mesh.triangles].all(axis=1)]
    return skin_tension(mesh.rest, triangles, tension[triangles].mean(axis=1))


def layer_volume(
    mesh: LayeredMesh, system: System, shares: csr_array, ratio: float
) -> VolumePreservation:
    """What keeps the volume of regions, `ratio` times as stiff as the flesh around; `shares` are
    those of the skin vertices, V × K."""
    strain = system.constraints[0]
    assert isinstance(strain, StrainConstraint)
    _, regions = shares.shape  # pyright: ignore[reportGeneralTypeIssues]
    none = csr_array((len(mesh.rest) - mesh.skin_count, regions))
    everything = csr_array(vstack([shares, none]))
    return volume_preservation(strain, mesh.rest, mesh.whole_prisms, everything, ratio)


def anchored_vertices(mesh: LayeredMesh, held: Bool[NumpyArray, "m"]) -> Bool[NumpyArray, "n"]:
    """What joints carry: skin without layers, bone that is `held`, what is in no tetrahedron."""
    solid = ~mesh.layered[mesh.members]
    anchored = np.concatenate([~mesh.layered, solid, solid | held])
    return anchored | ~_in_elements(mesh)


def _in_elements(mesh: LayeredMesh) -> Bool[NumpyArray, "n"]:
    """Vertices of some tetrahedron."""
    used = np.zeros(len(mesh.rest), bool)
    used[mesh.tetrahedra.ravel()] = True
    return used
