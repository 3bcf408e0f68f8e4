"""Poses Θ of all registrations, given subjects, weights and pose blend shapes."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, NumpyArray
from corporeal.models.smpl.fitting import fit_pose
from corporeal.models.smpl.linearised import PoseState, SkinnedPerson
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes

_FIRST_ITERATIONS = 15


def first_poses(
    meshes: PosedMeshes, average: SkinnedPerson, edges: csr_array
) -> tuple[Float[NumpyArray, "N J 3 3"], Float[NumpyArray, "N 3"]]:
    """From edges and an average person alone (eq. 15)."""
    fits = [
        fit_pose(average, vertices, edges, by="edges", iterations=_FIRST_ITERATIONS).pose
        for vertices in meshes.vertices
    ]
    return np.stack([f.rotations for f in fits]), np.stack([f.translation for f in fits])


def with_solved_poses(
    meshes: PosedMeshes,
    estimate: Estimate,
    edges: csr_array,
    *,
    iterations: int,
) -> Estimate:
    """Every pose again, from where it was."""
    people = [estimate.person(i) for i in range(meshes.subject_count)]
    poses: list[PoseState] = []
    for n, subject in enumerate(meshes.subjects.tolist()):
        start = estimate.pose(n)
        found = fit_pose(
            people[subject],
            meshes.vertices[n],
            edges,
            start=start,
            iterations=iterations,
        )
        poses.append(found.pose)
    return replace(
        estimate,
        rotations=np.stack([pose.rotations for pose in poses]),
        translations=np.stack([pose.translation for pose in poses]),
    )
