"""From a volumetric model to the system that is solved: masses, stiffness, anchors, balance."""

import numpy as np
from scipy.sparse import csr_array, vstack

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.errors import InputError, SolverError
from corporeal.physics.materials import Material
from corporeal.physics.solver.constraints.strain import (
    StrainConstraint,
    strain_constraint,
)
from corporeal.physics.solver.membrane import membrane_of, spread_stiffness
from corporeal.physics.solver.prestress import balancing_stress, natural_stretch
from corporeal.physics.solver.system import System, tetrahedral_masses
from corporeal.physics.volume_preservation.reference import VolumePreservation, volume_preservation
from corporeal.physics.volume_preservation.regions import smooth_regions
from corporeal.physics.volumetric_mesh.model import VolumetricModel

ATTACHMENT = 0.1
"""Stiffness of the springs that hold inner vertices where bones get into each other's way, over
that with which the elements around hold them: 600 N/m at the median of the default body. With three
times as much, flesh in a squat comes to rest more slowly."""


def flesh_system(
    model: VolumetricModel,
    material: Material,
    gravity: Float64[NumpyArray, "3"],
    stiffness_map: Float64[NumpyArray, "V"] | None = None,
    mass_map: Float64[NumpyArray, "V"] | None = None,
    volume: float = 0.0,
    crowded: Bool[NumpyArray, "V"] | None = None,
) -> System:
    """The 2V vertices of `model` with strain in every tetrahedron, in balance under `gravity` m/s².

    The maps multiply stiffness and density around every skin vertex (painted, or by part); 1 leaves
    them as they are. `volume` is the bulk modulus over the stiffness of the flesh around; 0 is the
    flesh of Komaritzan 2022, which does not preserve its volume. `crowded` names skin vertices
    whose inner copies hang on springs instead of being anchored; where it comes, elements are kept
    right side out.
    """
    rest = np.asarray(model.vertices, np.float64)
    tetrahedra = np.asarray(model.tetrahedra, np.int64)
    anchored = anchored_vertices(model)
    attached = np.zeros_like(anchored)
    if crowded is not None:
        attached[model.vertex_count :] = crowded & ~model.carried
        attached &= anchored & _used(model)
        anchored = anchored & ~attached
    stiffness = material.stiffness * _spread(model, "stiffness_map", stiffness_map)
    density = material.density * _spread(model, "mass_map", mass_map)
    masses = tetrahedral_masses(rest, tetrahedra, density)
    masses[model.vertex_count :] = 0.0  # carried by bones, or free and massless
    strain = strain_constraint(rest, tetrahedra, stiffness)
    if gravity.any():
        weight = masses[:, None] * gravity
        strain = balanced_strain(strain, rest, stiffness, anchored, attached, weight)
    return System(
        masses,
        anchored,
        (strain,),
        None if volume == 0.0 else _kept(model, strain, rest, volume),
        attachment_springs(strain, attached),
        crowded is not None,
        membrane_of(rest, model.triangles, strain, anchored),
    )


def _kept(
    model: VolumetricModel,
    strain: StrainConstraint,
    rest: Float64[NumpyArray, "n 3"],
    ratio: float,
) -> VolumePreservation:
    """Smooth regions of the flesh below skin that moves."""
    triangles = np.asarray(model.triangles)
    moving = triangles[~model.carried[triangles].all(axis=1)]
    skin_shares = smooth_regions(model)
    shares = csr_array(vstack([skin_shares, csr_array(skin_shares.shape)]))  # none for inner ones
    prisms = np.concatenate([moving, moving + model.vertex_count], axis=1)
    return volume_preservation(strain, rest, prisms, shares, ratio)


def anchored_vertices(model: VolumetricModel) -> Bool[NumpyArray, "n"]:
    """Inner vertices on bones, carried skin, and what no tetrahedron holds."""
    return np.concatenate([model.carried, ~model.free_inner]) | ~_used(model)


def attachment_springs(
    strain: StrainConstraint, attached: Bool[NumpyArray, "n"]
) -> Float64[NumpyArray, "n"] | None:
    """N/m, zero for vertices that are not `attached`; None where none is: a share of the diagonal
    of Qᵀ W Q, so that they go with size and stiffness of the flesh."""
    if not attached.any():
        return None
    return np.where(attached, ATTACHMENT * spread_stiffness(strain), 0.0)


def _used(model: VolumetricModel) -> Bool[NumpyArray, "n"]:
    """Vertices of some tetrahedron."""
    used = np.zeros(2 * model.vertex_count, bool)
    used[np.asarray(model.tetrahedra).ravel()] = True
    return used


def balanced_strain(
    strain: StrainConstraint,
    rest: Float64[NumpyArray, "n 3"],
    stiffness: Float64[NumpyArray, "T"],
    anchored: Bool[NumpyArray, "n"],
    attached: Bool[NumpyArray, "n"],
    weight: Float64[NumpyArray, "n 3"],
) -> StrainConstraint:
    """The same flesh of `stiffness` (Pa), stretched in the rest shape so that it carries its
    `weight` (newtons) between `anchored` vertices: with springs of `attached` ones that pull
    nothing, or, where next to nothing else would hold it, as if they were rigid.
    """
    try:
        stress = balancing_stress(strain, anchored, weight)
    except SolverError:
        stress = balancing_stress(strain, anchored | attached, weight)
    return strain_constraint(rest, strain.tetrahedra, stiffness, natural_stretch(stress))


def _spread(
    model: VolumetricModel, name: str, values: Float64[NumpyArray, "V"] | None
) -> Float64[NumpyArray, "T"]:
    """Geometric mean of a map over the corners of every tetrahedron, so that stiff parts do not
    reach into soft ones; both layers take the skin's value."""
    if values is None:
        return np.ones(len(model.tetrahedra))
    if len(values) != model.vertex_count or not (np.isfinite(values) & (values > 0)).all():
        raise InputError(
            f"{name} has {len(values)} values from {values.min()} to {values.max()}; expected "
            f"{model.vertex_count}, one a skin vertex, finite and above 0."
        )
    return np.exp(np.log(np.concatenate([values, values]))[model.tetrahedra].mean(axis=1))
