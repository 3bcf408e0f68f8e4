"""Strain of a surface, against closed forms."""

import numpy as np
import pytest

from corporeal.evaluation.skin_strain import mean_strain, triangle_strains
from corporeal.geometry.rotations import matrix_from_axis_angle

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
TRIANGLES = np.array([[0, 1, 2], [0, 2, 3]])
TURN = matrix_from_axis_angle(np.array([0.3, -0.8, 0.5]))
ALL = np.ones(4, bool)


def test_a_turned_and_shifted_surface_is_not_strained():
    moved = SQUARE @ TURN.T + [1.0, -2.0, 0.5]
    np.testing.assert_allclose(triangle_strains(SQUARE, moved, TRIANGLES), 0.0, atol=1e-7)


def test_a_stretch_is_its_strain_in_any_direction():
    """Twenty per cent longer one way, ten per cent shorter the other: √(0.2² + 0.1²)."""
    moved = (SQUARE * [1.2, 0.9, 1.0]) @ TURN.T
    np.testing.assert_allclose(
        triangle_strains(SQUARE, np.stack([moved, SQUARE]), TRIANGLES),
        [[np.hypot(0.2, 0.1)] * 2, [0.0, 0.0]],
        atol=1e-7,
    )


def test_simple_shear_has_stretches_that_multiply_to_one():
    """Shear γ: σ = √(1 + γ²/4) ± γ/2."""
    gamma = 0.7
    moved = SQUARE + gamma * SQUARE[:, [1]] * [1.0, 0.0, 0.0]
    high, low = (np.sqrt(1 + gamma**2 / 4) + s * gamma / 2 for s in (1, -1))
    expected = np.hypot(high - 1, low - 1)
    assert mean_strain(SQUARE, moved, TRIANGLES, ALL) == pytest.approx(expected, rel=1e-9)


def test_only_triangles_inside_the_region_count():
    moved = SQUARE.copy()
    moved[3, 1] = 1.5
    inside = np.array([True, True, True, False])
    assert mean_strain(SQUARE, moved, TRIANGLES, inside) == pytest.approx(0.0, abs=1e-9)
    assert mean_strain(SQUARE, moved, TRIANGLES, ALL) > 0.1
