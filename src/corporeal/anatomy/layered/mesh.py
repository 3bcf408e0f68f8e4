"""The elements that are simulated: prisms of fat over prisms of muscle, three tetrahedra each."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.anatomy.prisms import Prisms
from corporeal.body.layers import Layers
from corporeal.physics.volumetric_mesh.prisms import signed_volumes, smallest_altitudes
from corporeal.physics.volumetric_mesh.simulation_mesh import SimulationMesh

THINNEST = 2e-4
"""Tetrahedra with a smaller altitude are left out, metres: they would be stiff beyond reason."""


@dataclass(frozen=True, eq=False)
class LayeredMesh:
    """V vertices of the simulated skin, m of the muscle surface, then m of the bone surface."""

    rest: Float64[NumpyArray, "n 3"]
    """Metres."""
    members: Int[NumpyArray, "m"]
    """Skin vertex above row k of the muscle and of the bone surface."""
    layered: Bool[NumpyArray, "V"]
    """Skin vertices with layers beneath that are simulated; the others are carried by joints."""
    tetrahedra: Int[NumpyArray, "T 4"]
    """Every rest volume is positive."""
    is_muscle: Bool[NumpyArray, "T"]
    """True for tetrahedra of the muscle layer, false for those of the fat layer."""
    triangles: Int[NumpyArray, "F 3"]
    """Of the skin, where there are layers beneath."""

    @property
    def skin_count(self) -> int:
        """Number V of simulated skin vertices."""
        return len(self.layered)

    @property
    def bone(self) -> slice:
        """Rows of the bone surface."""
        return slice(len(self.rest) - len(self.members), len(self.rest))

    @property
    def skin_of(self) -> Int[NumpyArray, "n"]:
        """The skin vertex above every vertex."""
        return np.concatenate([np.arange(self.skin_count), self.members, self.members])

    @property
    def bone_of(self) -> Int[NumpyArray, "n"]:
        """The bone vertex beneath every vertex; what joints carry is its own."""
        rows, own = np.arange(self.bone.start, self.bone.stop), np.arange(self.bone.start)
        beneath = np.concatenate([self._beneath_skin, rows])
        simulated = np.concatenate([self.layered, self.layered[self.members]])
        return np.concatenate([np.where(simulated, beneath, own), rows])

    @property
    def _beneath_skin(self) -> Int[NumpyArray, "V"]:
        """The bone vertex beneath every skin vertex; its own where there is none."""
        beneath = np.arange(self.skin_count)
        beneath[self.members] = np.arange(self.bone.start, self.bone.stop)
        return beneath

    @property
    def whole_prisms(self) -> Int[NumpyArray, "F 6"]:
        """Corners from skin to bone through both layers: skin, then what lies beneath."""
        return np.concatenate([self.triangles, self._beneath_skin[self.triangles]], axis=1)


def layered_mesh(
    layers: Layers, coarse: SimulationMesh, carried: Bool[NumpyArray, "V"]
) -> LayeredMesh:
    """The layers over a coarse surface whose vertices are a subset of theirs.

    Joints carry those vertices of the coarse surface that are `carried`, and what lies beneath
    them. Thin and inverted tetrahedra are left out.
    """
    kept = coarse.vertex_indices
    layered, skin = layers.layered[kept], np.asarray(layers.skin[kept], np.float64)
    prisms = Prisms(np.asarray(coarse.triangles, np.int64), layered, coarse.mirror)
    members, count = np.unique(prisms.triangles), len(kept)
    place = np.full(count, -1)
    place[members] = np.arange(len(members))
    corner, inner = prisms.tetrahedra % count, prisms.tetrahedra >= count
    muscle, bone = count + place[corner], count + len(members) + place[corner]
    tetrahedra = np.concatenate([np.where(inner, muscle, corner), np.where(inner, bone, muscle)])
    is_muscle = np.repeat([False, True], len(prisms.tetrahedra))
    beneath = [np.asarray(surface)[kept[members]] for surface in (layers.muscle, layers.bone)]
    rest = np.concatenate([skin, *beneath])
    sound = smallest_altitudes(rest, tetrahedra) > THINNEST
    sound &= signed_volumes(rest, tetrahedra) > 0
    return LayeredMesh(
        rest, members, layered & ~carried, tetrahedra[sound], is_muscle[sound], prisms.triangles
    )
