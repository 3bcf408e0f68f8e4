"""Poses of many registrations from their edges and an average person alone (eq. 15).

Without pose blend shapes the linear skin is t' = Y A, with Y_v = (w_vk (x_v, 1))_k and A the parts'
motions, so the edges' energy (eq. 15, L the Laplacian of edges) is quadratic in A,

    ½ ‖Y A − V‖²_L = ½ tr(Aᵀ YᵀLY A) − tr(Aᵀ YᵀLV) + const,

and its minimum by the pose is looked for in 4 J × 3 numbers a registration.
"""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.geometry.alignment import nearest_rotation, turns_known
from corporeal.models.smpl.fitting.linearised import SkinnedPerson
from corporeal.models.smpl.fitting.many_poses import LONGEST_TURN
from corporeal.numerics.many_least_squares import Slope, Unknowns, descend_many
from corporeal.skinning.gradients import influences_of, rotation_gradient, skin_gradient
from corporeal.skinning.jacobians import joint_motions
from corporeal.skinning.kinematics import relative_rotations, rotate_joints
from corporeal.skinning.normal_matrices import Moments, rotation_normal_matrices

_ITERATIONS = 30
_TOLERANCE = 1e-3
"""Radians: vertices decide afterwards."""
_AT_ONCE = 256
"""Registrations at a time."""


def first_poses(
    vertices: Float[NumpyArray, "N V 3"], average: SkinnedPerson, edges: csr_array
) -> RotationPose:
    """From edges and an average person alone (eq. 15), linear blending, no pose offsets."""
    search = _EdgeSearch(average, edges)
    found = [search.solve(vertices[i : i + _AT_ONCE]) for i in range(0, len(vertices), _AT_ONCE)]
    return RotationPose(
        np.concatenate([f.rotations for f in found]),
        np.concatenate([f.translation for f in found]),
    )


class _EdgeSearch:
    """Poses of one average person by edges."""

    def __init__(self, person: SkinnedPerson, edges: csr_array) -> None:
        rest, weights = np.asarray(person.rest, np.float64), np.asarray(person.weights, np.float64)
        count = len(person.parents)
        self.person, self.influences = person, influences_of(weights)
        points = np.concatenate([rest, np.ones((len(rest), 1))], axis=1)
        laplacian = (edges.T @ edges).tocsr()
        design = (weights[:, :, None] * points[:, None]).reshape(len(rest), -1)
        self.weighted = (laplacian @ design).T  # 4J × V
        matrix = self.weighted @ design
        self.matrix = 0.5 * (matrix + matrix.T)
        blocks = self.matrix.reshape(count, 4, count, 4)
        self.moments = Moments(np.moveaxis(blocks, 2, 1)[None].copy(), person.parents)
        self.parts = _part_edges(rest, weights, edges)

    def solve(self, vertices: Float[NumpyArray, "n V 3"]) -> RotationPose:
        targets = np.asarray(vertices, np.float64)
        right = self.weighted @ targets  # n × 4J × 3
        person, parents = self.person, self.person.parents

        def slope(state: Unknowns, which: NumpyArray) -> Slope:
            tree = person.kinematics(RotationPose(*state))
            motions = joint_motions("lbs", tree)
            columns = np.swapaxes(motions, 2, 3)
            flat = columns.reshape(len(motions), -1, 3)
            image = self.matrix @ flat
            energies = np.sum(flat * (0.5 * image - right[which]), axis=(1, 2))
            sums = (image - right[which]).reshape(columns.shape)
            torques = np.cross(columns, sums).sum(axis=2)
            gradient = rotation_gradient(tree, torques, sums[:, :, 3], person.descendants)
            return energies, gradient

        def metric(state: Unknowns) -> NumpyArray:
            tree = person.kinematics(RotationPose(*state))
            return rotation_normal_matrices(self.moments, tree)

        def moved(state: Unknowns, steps: NumpyArray) -> Unknowns:
            here = RotationPose(*state)
            world = person.kinematics(here).world_rotations
            there = rotate_joints(here, world, parents, steps)
            return there.rotations, there.translation

        start = self._start(targets)
        poses = RotationPose(
            *descend_many(
                slope, metric, moved, (start.rotations, start.translation),
                iterations=_ITERATIONS, tolerance=_TOLERANCE, longest=LONGEST_TURN,
            )
        )  # fmt: skip
        # edges say nothing of the place
        return replace(poses, translation=poses.translation + self._off(poses, targets))

    def _start(self, targets: NumpyArray) -> RotationPose:
        """Each part turned by the rotation that carries its edges best (Kabsch 1976)."""
        count, parents = len(targets), self.person.parents
        covariances = (self.parts @ targets).reshape(count, len(parents), 3, 3)
        products = np.swapaxes(covariances, -1, -2)
        world, known = nearest_rotation(products), turns_known(products)
        still = np.broadcast_to(np.eye(3), (count, 3, 3))
        for k, parent in enumerate(parents):
            above = still if parent < 0 else world[:, parent]
            world[:, k] = np.where(known[:, k, None, None], world[:, k], above)
        poses = RotationPose(relative_rotations(world, parents), np.zeros((count, 3)))
        return replace(poses, translation=self._off(poses, targets))

    def _off(self, poses: RotationPose, targets: NumpyArray) -> Float64[NumpyArray, "n 3"]:
        """Mean of target less skin, metres."""
        person = self.person
        points = np.repeat(np.asarray(person.rest, np.float64)[None], len(targets), axis=0)
        tree = person.kinematics(poses)
        forces = skin_gradient("lbs", self.influences, points, tree, targets).forces
        return -forces.sum(axis=1) / points.shape[1]


def _part_edges(rest: NumpyArray, weights: NumpyArray, edges: csr_array) -> NumpyArray:
    """3J × V: times a mesh, the covariance of every part's edges with the mesh's."""
    before, ends = edges @ rest, edges.indices.reshape(-1, 2)
    shares = weights[ends[:, 0]] * weights[ends[:, 1]]
    columns = (shares[:, :, None] * before[:, None]).reshape(len(before), -1)
    return (edges.T @ columns).T
