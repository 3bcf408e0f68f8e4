"""The best rotation between paired vectors, against closed forms and an independent search."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corporeal.geometry.alignment import (
    best_rotation,
    nearest_rotation,
    paired_products,
    turns_known,
)

RANDOM = np.random.default_rng(3)


def off(turn: np.ndarray, source: np.ndarray, target: np.ndarray, weights: np.ndarray) -> float:
    return float((weights * ((target - source @ turn.T) ** 2).sum(axis=1)).sum())


def test_a_turn_of_the_vectors_is_found_exactly_in_a_batch():
    rotations = Rotation.random(50, random_state=1).as_matrix()
    source = RANDOM.normal(size=(50, 7, 3))
    target = np.einsum("bxy,bny->bnx", rotations, source)
    np.testing.assert_allclose(best_rotation(source, target), rotations, atol=1e-12)
    one = source[0]
    moved = np.einsum("bxy,ny->bnx", rotations, one)
    np.testing.assert_allclose(best_rotation(one, moved), rotations, atol=1e-12)


def test_no_small_turn_away_is_nearer():
    """At the least sum of squares, every turn by 0.01 radians about any axis is worse."""
    source, target = RANDOM.normal(size=(2, 12, 3))
    weights = RANDOM.uniform(0.1, 3.0, size=12)
    best = best_rotation(source, target, weights)
    least = off(best, source, target, weights)
    for axis in RANDOM.normal(size=(20, 3)):
        beside = Rotation.from_rotvec(0.01 * axis / np.linalg.norm(axis)).as_matrix() @ best
        assert off(beside, source, target, weights) > least


def test_it_is_scipys():
    source, target = RANDOM.normal(size=(2, 9, 3))
    weights = RANDOM.uniform(0.1, 3.0, size=9)
    theirs, _ = Rotation.align_vectors(target, source, weights)
    np.testing.assert_allclose(
        best_rotation(source, target, weights), theirs.as_matrix(), atol=1e-10
    )


def test_weights_of_whole_numbers_are_repeated_vectors():
    source, target = RANDOM.normal(size=(2, 4, 3))
    times = np.array([1, 3, 2, 1])
    repeated = best_rotation(np.repeat(source, times, axis=0), np.repeat(target, times, axis=0))
    np.testing.assert_allclose(best_rotation(source, target, 1.0 * times), repeated, atol=1e-12)


@pytest.mark.parametrize("thin", range(3))
def test_a_mirror_image_gives_a_rotation_that_keeps_the_wider_axes(thin):
    """Vectors mirrored along their thinnest axis: the best rotation leaves all axes as they are."""
    sizes = np.ones(3)
    sizes[thin] = 0.3
    source = np.concatenate([np.diag(sizes), -np.diag(sizes)])
    target = source.copy()
    target[:, thin] *= -1
    turn = best_rotation(source, target)
    np.testing.assert_allclose(turn, np.eye(3), atol=1e-12)


def test_whatever_comes_a_proper_rotation_comes_out():
    """Of full, flat, straight and zero matrices alike: Rᵀ R = 1 and det R = 1."""
    matrices = RANDOM.normal(size=(200, 3, 3))
    matrices[50:100, :, 2] = 0.0
    matrices[100:150] = matrices[100:150, :, :1] * matrices[100:150, :1, :]
    matrices[150:] = 0.0
    rotations = nearest_rotation(matrices)
    np.testing.assert_allclose(
        rotations @ rotations.swapaxes(1, 2), np.tile(np.eye(3), (200, 1, 1)), atol=1e-12
    )
    np.testing.assert_allclose(np.linalg.det(rotations), 1.0, atol=1e-12)
    np.testing.assert_allclose(rotations[150:], np.tile(np.eye(3), (50, 1, 1)), atol=1e-15)


def test_vectors_on_a_line_are_carried_over_but_leave_the_turn_open():
    along = np.linspace(-1.0, 1.0, 5)[:, None]
    source, target = along * [1.0, 0.0, 0.0], along * [0.0, 0.6, 0.8]
    np.testing.assert_allclose(source @ best_rotation(source, target).T, target, atol=1e-12)
    assert not turns_known(paired_products(source, target))
    assert not turns_known(np.zeros((3, 3)))


def test_two_directions_tell_a_turn():
    plane = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    turn = Rotation.from_rotvec([0.3, -1.0, 0.7]).as_matrix()
    assert turns_known(paired_products(plane, plane @ turn.T))
    np.testing.assert_allclose(best_rotation(plane, plane @ turn.T), turn, atol=1e-12)
