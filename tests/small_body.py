"""A small rigged tube: quads, a texture seam, four joints, weights that blend. For format tests."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh, triangles_from_quads
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights

RINGS, AROUND = 9, 8


def small_mesh() -> Mesh:
    """An open tube of radius 0.1 m from y = 0 to y = 1.2 m, with a seam in its texture."""
    ring, turn = np.divmod(np.arange(RINGS * AROUND), AROUND)
    angle = 2 * np.pi * turn / AROUND
    height = 1.2 * ring / (RINGS - 1)
    vertices = np.stack([0.1 * np.sin(angle), height, 0.1 * np.cos(angle)], axis=1)
    row, column = np.divmod(np.arange((RINGS - 1) * AROUND), AROUND)
    after = (column + 1) % AROUND
    low, high = row * AROUND, (row + 1) * AROUND
    quads = np.stack([low + column, low + after, high + after, high + column], axis=1)
    uv_ring, uv_turn = np.divmod(np.arange(RINGS * (AROUND + 1)), AROUND + 1)
    uv = np.stack([uv_turn / AROUND, uv_ring / (RINGS - 1)], axis=1)
    low, high = row * (AROUND + 1), (row + 1) * (AROUND + 1)
    uv_quads = np.stack([low + column, low + column + 1, high + column + 1, high + column], axis=1)
    mirror = ring * AROUND + (-turn) % AROUND
    return Mesh(
        vertices, triangles_from_quads(quads), quads, uv, triangles_from_quads(uv_quads), mirror
    )


def small_template() -> Template:
    """The tube with a chain of three joints and a side branch."""
    mesh = small_mesh()
    joints = np.array([[0, 0, 0], [0, 0.4, 0], [0, 0.8, 0], [0.05, 0.4, 0]], float)
    skeleton = Skeleton(("root", "middle", "head", "branch"), (-1, 0, 1, 1), joints)
    distance = np.abs(np.asarray(mesh.vertices)[:, None, 1] - joints[None, :, 1])
    closeness = np.maximum(0.5 - distance, 0) * np.array([1, 1, 1, 0.3])
    weights = SkinWeights.from_dense(closeness / closeness.sum(axis=1, keepdims=True), 4)
    labels = (np.asarray(mesh.vertices)[:, 1] > 0.6).astype(np.int64)
    return Template(mesh, skeleton, weights, ("lower", "upper"), labels)


def small_identity(template: Template) -> Identity:
    """The template's own shape, one tenth larger."""
    return Identity(
        1.1 * np.asarray(template.mesh.vertices),
        1.1 * np.asarray(template.skeleton.joints),
        {"weight": np.array(0.25), "local": np.array([0.1, -0.2, 0.3])},
    )


def small_motion(template: Template, frames: int = 7) -> Motion:
    """Smooth turns about all axes, with the root travelling."""
    time = np.linspace(0, 1, frames)[:, None, None]
    amplitude = np.array([[0.3, 1.9, 0.1], [0.5, 0, 0.8], [-0.4, 0.6, 0.2], [0, 0, 2.5]])
    travel = time[:, 0] * np.array([0.3, 0.2, -0.1])
    return Motion("bend", 24.0, np.sin(3 * time) * amplitude, travel, template.skeleton)


def rotation_matrix(axis_angle: Float64[NumpyArray, "3"]) -> Float64[NumpyArray, "3 3"]:
    """Rodrigues' formula in float64, written here so that it is independent of the package."""
    angle = np.linalg.norm(axis_angle)
    if angle == 0:
        return np.eye(3)
    x, y, z = axis_angle / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def small_animation(frames: int = 7) -> Animation:
    """Linear blend skinning of the tube, frame by frame in float64."""
    template = small_template()
    identity, motion = small_identity(template), small_motion(template, frames)
    rest = np.asarray(identity.rest_vertices)
    joints = np.asarray(identity.joints)
    weights = template.weights.dense()
    parents = template.skeleton.parents
    vertices = np.empty((frames, *rest.shape))
    world = np.tile(np.eye(4), (frames, len(parents), 1, 1))
    for frame in range(frames):
        for joint, parent in enumerate(parents):
            local = np.eye(4)
            local[:3, :3] = rotation_matrix(np.asarray(motion.joint_rotations)[frame, joint])
            if parent < 0:
                local[:3, 3] = joints[0] + np.asarray(motion.root_translation)[frame]
                world[frame, joint] = local
            else:
                local[:3, 3] = joints[joint] - joints[parent]
                world[frame, joint] = world[frame, parent] @ local
        moved = np.einsum("jab,jvb->jva", world[frame, :, :3, :3], rest[None] - joints[:, None])
        moved = moved + world[frame, :, None, :3, 3]
        vertices[frame] = np.einsum("vj,jva->va", weights, moved)
    return Animation("lbs", template, identity, motion, vertices, world)
