"""Poses Θ of all registrations, given subjects, weights and pose blend shapes."""

from dataclasses import replace

from corporeal.models.smpl.fitting.many_poses import solve_poses
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes


def with_solved_poses(meshes: PosedMeshes, estimate: Estimate, *, iterations: int) -> Estimate:
    """Every pose again, from where it was."""
    rotations, translations = estimate.rotations.copy(), estimate.translations.copy()
    for subject in range(meshes.subject_count):
        own = meshes.of_subject(subject)
        found = solve_poses(
            estimate.person(subject), meshes.vertices[own], estimate.poses(own),
            iterations=iterations,
        ).poses  # fmt: skip
        rotations[own], translations[own] = found.rotations, found.translation
    return replace(estimate, rotations=rotations, translations=translations)
