"""Volumes and centroids of solids with closed forms."""

import numpy as np
import pytest
from solids import box, circle, icosphere, tube

from corporeal.errors import InputError
from corporeal.geometry.volume import (
    enclosed_centroid,
    enclosed_volume,
    require_closed,
    volume_gradient,
)


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_box_volume_and_centroid_wherever_it_stands(shift):
    vertices, triangles = box(0.3, 0.5, 0.7)
    vertices = vertices + shift
    assert enclosed_volume(vertices, triangles) == pytest.approx(0.3 * 0.5 * 0.7, rel=1e-12)
    assert np.allclose(enclosed_centroid(vertices, triangles), shift, atol=1e-12)


def test_ellipsoid_volume_converges_to_four_thirds_pi_abc():
    """A linear map multiplies volume by its determinant; the icosphere's own deficit is O(h²)."""
    deficits = []
    for levels in (2, 3):
        vertices, triangles = icosphere(levels)
        exact = 4 / 3 * np.pi * 0.2 * 0.9 * 0.1
        volume = enclosed_volume(vertices * [0.2, 0.9, 0.1], triangles)
        deficits.append(1 - volume / exact)
    assert 0 < deficits[1] < 0.01
    assert deficits[0] / deficits[1] == pytest.approx(4, rel=0.05)


def test_prism_volume_is_base_times_height():
    """A regular n-gon of radius r has area n r² sin(2π/n)/2."""
    n, radius, height = 24, 0.15, 0.8
    vertices, triangles = tube(circle(radius, n), height)
    expected = n * radius**2 * np.sin(2 * np.pi / n) / 2 * height
    assert enclosed_volume(vertices, triangles) == pytest.approx(expected, rel=1e-12)
    assert np.allclose(enclosed_centroid(vertices, triangles), [0, height / 2, 0], atol=1e-12)


def test_inward_triangles_give_negative_volume():
    vertices, triangles = box(1, 1, 1)
    assert enclosed_volume(vertices, triangles[:, ::-1]) == pytest.approx(-1)


def test_gradient_equals_central_differences():
    """Volume is cubic: the central difference errs by h²/6 times a third derivative below 1."""
    rng = np.random.default_rng(5)
    vertices, triangles = icosphere(1)
    vertices = vertices + 0.1 * rng.standard_normal(vertices.shape)
    gradient = volume_gradient(vertices, triangles)
    step = 1e-5
    for _ in range(10):
        direction = rng.standard_normal(vertices.shape)
        plus = enclosed_volume(vertices + step * direction, triangles)
        minus = enclosed_volume(vertices - step * direction, triangles)
        assert (gradient * direction).sum() == pytest.approx((plus - minus) / (2 * step), abs=1e-7)


def test_closed_surfaces_pass_and_holes_are_named():
    _, triangles = box(1, 1, 1)
    require_closed(triangles)
    with pytest.raises(InputError, match="3 directed edges have no opposite"):
        require_closed(triangles[1:])
    with pytest.raises(InputError, match="not closed"):
        require_closed(np.concatenate([triangles[1:], triangles[:1, ::-1]]))
