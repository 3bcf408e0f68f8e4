"""SMPL models as the protocol of generalisation takes them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, NumpyArray
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.pose import RotationPose
from corporeal.models.smpl.fitting.edge_poses import first_poses
from corporeal.models.smpl.fitting.fit_pose import edge_differences, person_of
from corporeal.models.smpl.fitting.linearised import SkinnedPerson
from corporeal.models.smpl.fitting.many_people import shaped_person, solve_people
from corporeal.models.smpl.fitting.many_poses import solve_poses
from corporeal.skinning.gradients import influences_of, posed_blocks


@dataclass(frozen=True)
class FittedSmpl:
    """Pose and shape by squared distances of vertices; edges and the mean person to begin with."""

    model: LinearBodyModel
    """The model that is fitted."""
    iterations: int = 12
    """Gauss–Newton steps at most."""

    @cached_property
    def edges(self) -> csr_array:
        """Differences along the mesh's edges."""
        return edge_differences(self.model.triangles, self.model.vertex_count)

    def fit_people(
        self, vertices: Float[NumpyArray, "N V 3"], shape_count: int
    ) -> tuple[list[SkinnedPerson], Float[NumpyArray, "N V 3"]]:
        """For each registration, the person of the model that comes closest; all skins, metres."""
        dtype = np.dtype(vertices.dtype)
        start = first_poses(vertices, person_of(self.model, dtype=dtype), self.edges)
        found = solve_people(self.model, vertices, start, shape_count, iterations=self.iterations)
        people = [shaped_person(self.model, betas, dtype) for betas in found.betas]
        posed_vertices = [
            posed_vertices_of(person, found.poses[n : n + 1])[0] for n, person in enumerate(people)
        ]
        return people, np.stack(posed_vertices)

    def fit_poses(
        self, vertices: Float[NumpyArray, "N V 3"], shape: SkinnedPerson
    ) -> Float[NumpyArray, "N V 3"]:
        """The skin of one person in its best pose for each registration, metres."""
        start = first_poses(vertices, shape, self.edges)
        found = solve_poses(shape, vertices, start, iterations=self.iterations, tolerance=1e-4)
        return posed_vertices_of(shape, found.poses)


def posed_vertices_of(person: SkinnedPerson, poses: RotationPose) -> Float[NumpyArray, "N V 3"]:
    """One person in many poses, metres."""
    points, tree = person.corrected(poses.rotations), person.kinematics(poses)
    influences, owners = influences_of(person.weights), np.arange(len(points))
    return posed_blocks(person.blending, influences, points, owners, tree)[1]
