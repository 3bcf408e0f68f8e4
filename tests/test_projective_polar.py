"""The compiled local step's rotations against singular values, in batches of tetrahedra."""

import numpy as np

from corporeal.physics.solver.cpu.strip_blocks import pack_tetrahedra
from corporeal.physics.solver.polar import closest_rotations


def compiled_rotations(matrices: np.ndarray, tolerance: float) -> np.ndarray:
    """R of every matrix: unit tetrahedra are given the matrices as edges, and the residual R − F is
    read off their corners."""
    from corporeal.physics.solver.cpu.local_step import local_step

    count = len(matrices)
    positions = np.concatenate([np.zeros((count, 1, 3)), matrices], axis=1).reshape(-1, 3)
    tetrahedra = np.arange(4 * count).reshape(count, 4)
    blocks = pack_tetrahedra(tetrahedra, np.tile(np.eye(3), (count, 1, 1)), np.ones(count))
    residual = np.zeros((4 * count + 1, 4), np.float32)
    local_step(
        blocks.corners,
        blocks.rest,
        positions,
        residual,
        0,
        len(blocks.corners),
        np.float32(tolerance),
    )
    return residual[:-1, :3].reshape(count, 4, 3)[:, 1:] + matrices


def test_rotations_of_ordinary_and_inverted_elements() -> None:
    """Singular values from 0.3 to 3, half of them mirrored: to the stopping tolerance."""
    random = np.random.default_rng(0)
    left, _, right = np.linalg.svd(random.normal(size=(1000, 3, 3)))
    stretch = np.sort(random.uniform(0.3, 3.0, (1000, 3)), axis=1)[:, ::-1]
    stretch[:, 2] *= 0.5  # the flipped axis is well apart from the others
    matrices = (left * stretch[:, None, :]) @ right
    assert 300 < (np.linalg.det(matrices) < 0).sum() < 700
    expected = closest_rotations(matrices)
    assert np.abs(compiled_rotations(matrices, 1e-3) - expected).max() < 1e-3
    assert np.abs(compiled_rotations(matrices, 1e-9) - expected).max() < 1e-5


def test_degenerate_elements_get_some_rotation() -> None:
    """Points, lines, planes, mirrors and stretches over eleven decades: always orthonormal, det 1.

    R is read off as (R − F) + F, which costs float32 of F.
    """
    random = np.random.default_rng(1)
    left, _, right = np.linalg.svd(random.normal(size=(4096, 3, 3)))
    stretch = 10.0 ** random.uniform(-8, 3, (4096, 3))
    matrices = (left * stretch[:, None, :]) @ right
    matrices[:5] = [np.zeros((3, 3)), *(np.diag(d) for d in np.array(SPECIAL, float))]
    rotations = compiled_rotations(matrices, 2e-4)
    gram = rotations.transpose(0, 2, 1) @ rotations
    slack = 2e-4 + 1e-5 * np.abs(matrices).max(axis=(1, 2))
    assert (np.abs(gram - np.eye(3)).max(axis=(1, 2)) < slack).all()
    usual = slack < 1e-2
    assert (np.linalg.det(rotations[usual]) > 0.9).all()


SPECIAL = [[1, 1, 0], [1, 0, 0], [-1, -1, -1], [1, 1, -1e-9]]
