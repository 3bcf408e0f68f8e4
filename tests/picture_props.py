"""Small things to take pictures of: a ball, and a ball that moves."""

import numpy as np

from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights


def ball(radius=1.0, centre=(0.0, 0.0, 0.0), around=32):
    """Vertices and outward triangles of a sphere with `around` meridians and half as many rings."""
    rings = around // 2
    polar = np.pi * np.arange(1, rings) / rings
    turn = 2 * np.pi * np.arange(around) / around
    level, height = np.sin(polar), np.cos(polar)
    x, z = np.outer(level, np.sin(turn)), np.outer(level, np.cos(turn))
    y = np.repeat(height[:, None], around, axis=1)
    middle = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    vertices = np.concatenate([middle, [[0, 1, 0], [0, -1, 0]]]) * radius + np.asarray(centre)
    north, south = len(middle), len(middle) + 1
    triangles = []
    for ring in range(rings - 1):
        for i in range(around):
            a, b = ring * around + i, ring * around + (i + 1) % around
            if ring == 0:
                triangles.append((north, a, b))
            if ring == rings - 2:
                triangles.append((south, b, a))
            else:
                triangles += [(a, a + around, b), (b, a + around, b + around)]
    return vertices, np.array(triangles, np.int32)


def rolling_ball(frames=6, fps=12.0, step=0.1):
    """A ball of one joint that rolls along +x, as an animation."""
    vertices, triangles = ball(0.5, (0, 0.5, 0), around=16)
    skeleton = Skeleton(("root",), (-1,), np.array([[0.0, 0.5, 0.0]]))
    count = len(vertices)
    weights = SkinWeights(np.zeros((count, 1), np.int32), np.ones((count, 1)), 1)
    mesh = Mesh(vertices, triangles)
    template = Template(mesh, skeleton, weights, ("all",), np.zeros(count, np.int32))
    way = np.arange(frames)[:, None] * np.array([step, 0.0, 0.0])
    motion = Motion("roll", fps, np.zeros((frames, 1, 3)), way, skeleton)
    world = np.tile(np.eye(4), (frames, 1, 1, 1))
    world[:, 0, :3, 3] = way + skeleton.joints[0]
    identity = Identity(vertices, skeleton.joints, {})
    return Animation("ball", template, identity, motion, vertices + way[:, None], world)
