"""SMPL models as the protocol of generalisation takes them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, NumpyArray
from corporeal.body.linear_model import LinearBodyModel
from corporeal.models.smpl.fitting import (
    edge_differences,
    fit_pose,
    fit_pose_and_shape,
    person_of,
)
from corporeal.models.smpl.linearised import SkinnedPerson


@dataclass(frozen=True)
class FittedSmpl:
    """Pose and shape by squared distances of vertices."""

    model: LinearBodyModel

    @cached_property
    def edges(self) -> csr_array:
        """Differences along the mesh's edges."""
        return edge_differences(self.model.triangles, self.model.vertex_count)

    def fit_person(
        self, vertices: Float[NumpyArray, "V 3"], shape_count: int
    ) -> tuple[SkinnedPerson, Float[NumpyArray, "V 3"]]:
        """The person of the model that comes closest, and its skin, metres."""
        target = np.asarray(vertices, np.float64)
        found = fit_pose_and_shape(self.model, target, self.edges, shape_count=shape_count)
        person = person_of(self.model, found.betas)
        return person, person.posed(found.pose).vertices

    def fit_pose(
        self, vertices: Float[NumpyArray, "V 3"], shape: SkinnedPerson
    ) -> Float[NumpyArray, "V 3"]:
        """The skin of one person in its best pose, metres."""
        found = fit_pose(shape, np.asarray(vertices, np.float64), self.edges)
        return shape.posed(found.pose).vertices
