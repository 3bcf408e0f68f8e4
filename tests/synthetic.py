"""Small made-up bodies for tests: a capsule arm with random weights."""

import numpy as np

from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights

PARENTS = (-1, 0, 1, 1, 3)


def arm_template(rings: int = 12, sides: int = 10, influences: int = 4) -> Template:
    """A closed capsule of 1 m along x, 0.1 m thick, on five joints, one of them a side branch."""
    vertices, triangles = _capsule(rings, sides)
    joints = np.array([[0.0, 0, 0], [0.3, 0, 0], [0.6, 0, 0], [0.3, 0.1, 0], [0.5, 0.1, 0.05]])
    random = np.random.default_rng(7)
    distance = np.linalg.norm(vertices[:, None] - joints, axis=-1)
    dense = np.exp(-8 * distance) * random.uniform(0.5, 1.5, distance.shape)
    dense[: sides // 2] = np.eye(len(PARENTS))[0]  # some rigid vertices
    weights = SkinWeights.from_dense(dense, influences)
    skeleton = Skeleton(tuple(f"joint_{j}" for j in range(len(PARENTS))), PARENTS, joints)
    labels = (vertices[:, 0] > 0.5).astype(np.int32)
    return Template(Mesh(vertices, triangles), skeleton, weights, ("upper", "lower"), labels)


def identity_of(template: Template, dtype: type = np.float64) -> Identity:
    """The template's own shape."""
    vertices, joints = template.mesh.vertices, template.skeleton.joints
    return Identity(vertices.astype(dtype), joints.astype(dtype), {})


def random_motion(
    template: Template, frames: int = 6, seed: int = 0, dtype: type = np.float64
) -> Motion:
    """Independent random poses with turns up to about two radians, and metres of travel."""
    random = np.random.default_rng(seed)
    rotations = random.normal(scale=0.7, size=(frames, template.skeleton.joint_count, 3))
    translation = random.normal(size=(frames, 3))
    return Motion(
        "random", 30.0, rotations.astype(dtype), translation.astype(dtype), template.skeleton
    )


def _capsule(rings: int, sides: int) -> tuple[np.ndarray, np.ndarray]:
    along, around = np.linspace(0, np.pi, rings + 2)[1:-1], np.arange(sides) * 2 * np.pi / sides
    x = 0.5 - 0.5 * np.cos(along)
    radius = 0.1 * np.sqrt(np.sin(along))
    ring = np.stack([np.cos(around), np.sin(around)], axis=-1)
    tube = np.concatenate(
        [
            np.broadcast_to(x[:, None, None], (rings, sides, 1)),
            radius[:, None, None] * ring,
        ],
        axis=-1,
    ).reshape(-1, 3)
    vertices = np.concatenate([tube, [[0.0, 0, 0], [1.0, 0, 0]]])
    triangles = []
    for side in range(sides):
        after = (side + 1) % sides
        for r in range(rings - 1):
            a, b = r * sides + side, r * sides + after
            c, d = a + sides, b + sides
            triangles += [[a, c, b], [b, c, d]]
        last = (rings - 1) * sides
        triangles += [[rings * sides, side, after], [rings * sides + 1, last + after, last + side]]
    return vertices, np.array(triangles, np.int32)


def with_weights(template: Template, weights: SkinWeights) -> Template:
    """The same body with other skin weights."""
    return Template(
        template.mesh, template.skeleton, weights, template.part_names, template.part_labels
    )
