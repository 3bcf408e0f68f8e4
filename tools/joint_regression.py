"""The joint regressor: joint centres from skin vertices alone, as SMPL's files hold them."""

import numpy as np
from vertex_functionals import point_weights

from corporeal.assets.default_body import DefaultBody
from corporeal.models.phenotype.model import PhenotypeModel

NOISE_M = 0.002
"""Vertex noise that the regressor must bear: a scan's, or soft tissue's."""
CANDIDATES = 240
TRAINING_SHAPES = 500


def sample_coefficients(model: PhenotypeModel, count: int, seed: int) -> np.ndarray:
    """Random people: every slider anywhere, height within its middle half, a few modifiers."""
    rng = np.random.default_rng(seed)
    sliders = {p.name: rng.uniform(p.low, p.high, count) for p in model.parameters}
    sliders["height"] = rng.uniform(0.25, 0.75, count)
    local = {
        p.name: rng.uniform(p.low, p.high, count) * (rng.random(count) < 0.1) / 2
        for p in model.local_parameters
        if "trans" not in p.name
    }
    return model.coefficients(sliders, local)


def joint_regressor(body: DefaultBody, mirrored_joints: np.ndarray) -> np.ndarray:
    """(J, V) rows that sum to 1; the right side mirrors the left."""
    coefficients = sample_coefficients(PhenotypeModel(body), TRAINING_SHAPES, seed=0)
    template, targets = body.template, body.targets
    weights = template.weights.dense()
    joints = body.base_joints + np.tensordot(coefficients, targets.joint_offsets, 1)
    regressor = np.zeros((len(template.skeleton.names), template.mesh.vertex_count))
    for joint, name in enumerate(template.skeleton.names):
        if name.startswith("right"):
            continue
        near = _candidates(body, weights, joint)
        shapes = body.base_vertices[near] + np.tensordot(
            coefficients, targets.vertex_offsets[:, near], 1
        )
        relative = (shapes - joints[:, joint, None]).astype(float)
        regressor[joint, near] = point_weights(relative, NOISE_M)
        other_side = regressor[joint][template.mesh.mirror]
        if mirrored_joints[joint] == joint:  # on the middle line
            regressor[joint] = (regressor[joint] + other_side) / 2
        else:
            regressor[mirrored_joints[joint]] = other_side
    return regressor


def _candidates(body: DefaultBody, weights: np.ndarray, joint: int) -> np.ndarray:
    """Vertices all around a joint: those it or its parent moves, nearest first, thinned evenly."""
    template = body.template
    parent = template.skeleton.parents[joint]
    moved = weights[:, joint] + (weights[:, parent] if parent >= 0 else 0)
    distance = np.linalg.norm(template.mesh.vertices - template.skeleton.joints[joint], axis=1)
    distance = np.where(moved > 0.02, distance, np.inf)
    nearest = np.argsort(distance, kind="stable")
    reach = min(np.searchsorted(distance[nearest], 0.25), 4 * CANDIDATES)
    return np.sort(nearest[: reach : max(1, reach // CANDIDATES)])
