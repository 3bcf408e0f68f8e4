"""Local collisions of one person: found in extreme poses, then told to the solver step by step."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.physics.contact.local_pairs import (
    WEIGHT,
    LocalPairs,
    contact_plane_normals,
)
from corporeal.physics.contact.skin_contacts import SkinContacts
from corporeal.physics.solver.contact_planes import ContactPlanes
from corporeal.physics.volumetric_mesh.model import VolumetricModel


class LocalCollisions:
    """The pairs of a body that may meet at its joints."""

    def __init__(self, model: VolumetricModel, finder: SkinContacts, local: LocalPairs) -> None:
        self.local = local
        self._finder = finder
        self._count = model.vertex_count
        self._triangles = finder.detection.triangles

    def contact_planes(
        self,
        positions: Float64[NumpyArray, "n 3"],
        world_from_joint: Float64[NumpyArray, "J 4 4"],
    ) -> ContactPlanes:
        """Planes between the pairs that the angle test reports at `positions`, metres."""
        from corporeal.physics.contact.cpu.pairs import skin_normals

        skin = np.ascontiguousarray(positions[: self._count])
        normals = skin_normals(skin, self._triangles)
        nodes = self._finder.detection.nodes(world_from_joint)
        planes = contact_plane_normals(self.local, skin, normals, nodes)
        return ContactPlanes(self.local.pairs, planes, WEIGHT)
