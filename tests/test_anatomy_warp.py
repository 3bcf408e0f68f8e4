"""The triharmonic warp against what it must reproduce."""

import numpy as np
import pytest

from corporeal.anatomy.warp import TriharmonicWarp, farthest_points
from corporeal.errors import InputError

RANDOM = np.random.default_rng(6)
CENTRES = RANDOM.uniform(-1, 1, (300, 3))


def test_affine_maps_are_reproduced_everywhere():
    """Linear precision: a x + b is in the warp's own space."""
    warp = TriharmonicWarp(CENTRES)
    matrix, shift = RANDOM.normal(size=(3, 3)), RANDOM.normal(size=3)
    found = warp.coefficients(CENTRES @ matrix.T + shift)
    points = RANDOM.uniform(-2, 2, (50, 3))
    np.testing.assert_allclose(
        warp.warped(points, found), points + points @ matrix.T + shift, atol=1e-7
    )


def test_centres_go_where_they_are_told():
    warp = TriharmonicWarp(CENTRES)
    ways = RANDOM.normal(size=CENTRES.shape) * 0.01
    moved = warp.warped(CENTRES, warp.coefficients(ways))
    np.testing.assert_allclose(moved, CENTRES + ways, atol=1e-9)


def test_weights_add_up_to_nothing():
    """Side conditions Σ w = 0 and Σ w cᵀ = 0: the warp grows no faster than linearly."""
    warp = TriharmonicWarp(CENTRES)
    weights = warp.coefficients(RANDOM.normal(size=CENTRES.shape))[:-4]
    assert np.abs(weights.sum(axis=0)).max() < 1e-6 * np.abs(weights).max()
    assert np.abs(warp.centres.T @ weights).max() < 1e-6 * np.abs(weights).max()


def test_farthest_points_are_spread():
    """Farthest-first: every chosen point is at least as far from the others as any left one."""
    points = RANDOM.uniform(0, 1, (500, 3))
    chosen = farthest_points(points, 40)
    gaps = np.linalg.norm(points[chosen][:, None] - points[chosen], axis=2)
    np.fill_diagonal(gaps, np.inf)
    cover = np.linalg.norm(points[:, None] - points[chosen], axis=2).min(axis=1).max()
    assert gaps.min() >= cover
    assert len(farthest_points(points[:10], 40)) == 10


def test_a_wrong_number_of_displacements_is_refused():
    with pytest.raises(InputError, match="one a centre"):
        TriharmonicWarp(CENTRES).coefficients(np.zeros((3, 3)))
