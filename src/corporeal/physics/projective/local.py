"""Local collisions of one person: found in extreme poses, then told to the solver step by step."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.physics.collisions.local_pairs import (
    WEIGHT,
    LocalPairs,
    closing_normals,
)
from corporeal.physics.collisions.skin_contacts import SkinContacts
from corporeal.physics.projective_dynamics.closing import Closing
from corporeal.physics.volume.model import VolumetricModel


class LocalCollisions:
    """The pairs of a body that may meet at its joints."""

    def __init__(self, model: VolumetricModel, finder: SkinContacts, local: LocalPairs) -> None:
        self.local = local
        self._finder = finder
        self._count = model.vertex_count
        self._triangles = finder.detection.triangles

    def closing(
        self,
        positions: Float64[NumpyArray, "n 3"],
        world_from_joint: Float64[NumpyArray, "J 4 4"],
    ) -> Closing:
        """Planes between the pairs that the angle test reports at `positions`, metres."""
        from corporeal.physics.collisions.pairs_cpu import skin_normals

        skin = np.ascontiguousarray(positions[: self._count])
        normals = skin_normals(skin, self._triangles)
        nodes = self._finder.detection.nodes(world_from_joint)
        planes = closing_normals(self.local, skin, normals, nodes)
        return Closing(self.local.pairs, planes, WEIGHT)
