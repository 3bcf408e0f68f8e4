"""The system that is solved: skin and muscle free, bone carried, three tetrahedra a prism."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.anatomy.fit.balance import FAT_DENSITY, MUSCLE_DENSITY
from corporeal.anatomy.prisms import Prisms
from corporeal.body.layers import Layers
from corporeal.physics.projective_dynamics.constraints.strain import strain_constraint
from corporeal.physics.projective_dynamics.prestress import balancing_stress, natural_stretch
from corporeal.physics.projective_dynamics.system import System, tetrahedral_masses
from corporeal.physics.volume.prisms import signed_volumes, smallest_altitudes

THINNEST = 2e-4
"""Tetrahedra with a smaller altitude are left out, metres: they would be stiff beyond reason."""


@dataclass(frozen=True, eq=False)
class LayeredFlesh:
    """Skin, muscle and bone vertices of the layered region, one after the other."""

    system: System
    rest: Float64[NumpyArray, "n 3"]
    members: Int[NumpyArray, "m"]
    """Vertices of the body that are simulated; row k of each layer is `members[k]`."""
    weight: Float64[NumpyArray, "n 3"]
    """Newtons."""


def layered_flesh(
    layers: Layers,
    held: Bool[NumpyArray, "V"],
    stiffness: float,
    muscle_ratio: float,
    gravity: float,
) -> LayeredFlesh:
    """Fat of `stiffness` (Pa) over muscle `muscle_ratio` times as stiff, in balance at `gravity`.

    Bone vertices that are not `held` are free and massless: they slide.
    """
    prisms = Prisms(layers.triangles, layers.layered)
    members = np.unique(prisms.triangles)
    place = np.full(len(layers.skin), -1)
    place[members] = np.arange(len(members))
    count = len(members)
    top = place[prisms.tetrahedra % len(layers.skin)] + count * (
        prisms.tetrahedra >= len(layers.skin)
    )
    tetrahedra = np.concatenate([top, top + count])
    is_muscle = np.repeat([False, True], len(top))
    rest = np.concatenate([layers.skin[members], layers.muscle[members], layers.bone[members]])
    kept = smallest_altitudes(rest, tetrahedra) > THINNEST
    kept &= signed_volumes(rest, tetrahedra) > 0
    tetrahedra, is_muscle = tetrahedra[kept], is_muscle[kept]
    solid = ~layers.layered[members]
    anchored = np.concatenate([solid, solid, solid | held[members]])
    used = np.zeros(len(rest), bool)
    used[tetrahedra.ravel()] = True
    anchored |= ~used
    young = np.where(is_muscle, muscle_ratio, 1.0) * stiffness
    density = np.where(is_muscle, MUSCLE_DENSITY, FAT_DENSITY)
    masses = tetrahedral_masses(rest, tetrahedra, density)
    masses[2 * count :] = 0.0
    weight = masses[:, None] * np.array([0.0, -gravity, 0.0])
    strain = strain_constraint(rest, tetrahedra, young)
    if gravity > 0:
        stretch = natural_stretch(balancing_stress(strain, anchored, weight))
        strain = strain_constraint(rest, tetrahedra, young, stretch)
    return LayeredFlesh(System(masses, anchored, (strain,)), rest, members, weight)
