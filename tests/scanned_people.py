"""A person and a pose, drawn, and points of the skin: what tests of registration begin with."""

from functools import cache

import numpy as np

from corporeal.body.pose import RotationPose
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.registration.person_model import PersonState, person_model


@cache
def drawn_person(seed: int = 3) -> PersonState:
    """A person and an A-pose, drawn."""
    random = np.random.default_rng(seed)
    model = person_model()
    names = model.template.skeleton.names
    vectors = np.zeros((len(names), 3))
    vectors[1:22] = 0.04 * random.normal(size=(21, 3))
    vectors[names.index("left_shoulder"), 2] -= 0.7
    vectors[names.index("right_shoulder"), 2] += 0.7
    vectors[0, 1] = 0.8
    shape = np.zeros(model.space.count)
    shape[:20] = 0.6 * random.normal(size=20)
    pose = RotationPose(matrix_from_axis_angle(vectors), np.array([0.1, 1.0, -0.2]))
    return PersonState(shape, pose)


def drawn_cloud(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points spread over the drawn person's skin, their normals, and the skin."""
    from corporeal.body.mesh import Mesh
    from corporeal.registration.cloud import sample_surface

    model = person_model()
    posed = model.posed(drawn_person())
    mesh = Mesh(posed.vertices, np.asarray(model.template.mesh.triangles))
    cloud = sample_surface(mesh, count, seed)
    return cloud.points, cloud.normals, posed.vertices
