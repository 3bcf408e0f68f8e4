"""What skinning does wrong, measured: volume taken up, and rings of skin that shrink."""

import numpy as np
import pytest
from solids import circle, icosphere, tube

from corporeal.errors import InputError
from corporeal.evaluation.rings import cut_ring
from corporeal.evaluation.union_volume import union_volume
from corporeal.geometry.volume import enclosed_volume


def two(first, second):
    """Two closed surfaces as one."""
    vertices, triangles = first
    others, more = second
    return np.concatenate([vertices, others]), np.concatenate([triangles, more + len(vertices)])


def ball(centre, radius: float = 0.1, levels: int = 4):
    vertices, triangles = icosphere(levels)
    return radius * vertices + centre, triangles


def test_without_overlap_it_is_the_enclosed_volume():
    """The midpoint rule on a smooth outline is good to about h² of the outline's curvature: here
    2 mm rays on a ball of 10 cm agree to 1e-4."""
    vertices, triangles = ball([0.01, 0.3, -0.2])
    exact = float(enclosed_volume(vertices, triangles))
    assert union_volume(vertices, triangles) == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("shift", [[0.1, 0.01, 0.02], [0.0, 0.0, 0.12], [0.02, 0.05, 0.0]])
def test_two_balls_that_overlap_count_the_lens_once(shift):
    """Two balls less their lens, π (4r + d)(2r − d)²/12, within the icospheres' own 0.25 %."""
    r, d = 0.1, float(np.linalg.norm(shift))
    vertices, triangles = two(ball(np.zeros(3)), ball(np.array(shift)))
    lens = np.pi * (4 * r + d) * (2 * r - d) ** 2 / 12
    exact = 2 * 4 / 3 * np.pi * r**3 - lens
    assert union_volume(vertices, triangles) == pytest.approx(exact, rel=2.5e-3)
    assert float(enclosed_volume(vertices, triangles)) > 1.05 * exact


def test_what_is_turned_inside_out_takes_no_space():
    """A cavity (inward sphere) is empty, and an inward sphere alone has no inside."""
    vertices, triangles = ball(np.zeros(3))
    hollow = two((vertices, triangles), (0.5 * vertices, triangles[:, ::-1]))
    whole = float(enclosed_volume(vertices, triangles))
    assert union_volume(*hollow) == pytest.approx(7 / 8 * whole, rel=1e-3)
    assert union_volume(vertices, triangles[:, ::-1].copy()) == 0.0


def test_volumes_of_what_has_none_are_refused():
    vertices, triangles = ball(np.zeros(3), levels=1)
    with pytest.raises(InputError, match="not closed"):
        union_volume(vertices, triangles[1:])
    with pytest.raises(InputError, match="not finite"):
        union_volume(np.where(vertices > 0.05, np.nan, vertices), triangles)
    with pytest.raises(InputError, match="rays are 0"):
        union_volume(vertices, triangles, 0.0)


def test_a_ring_follows_the_skin():
    """Of two tubes the nearer is cut; twisting a ring against itself halves its radius where the
    two layers are a third of a turn apart: |1 + e^{2πi/3}|/2 = 1/2."""
    vertices, triangles = two(tube(circle(0.05, 48), 1.0, 21), tube(circle(0.2, 48), 1.0, 21))
    near = vertices.copy()
    near[len(vertices) // 2 :, 0] += 1.0
    ring = cut_ring(near, triangles, np.array([0.0, 0.475, 0.0]), np.array([0.0, 1.0, 0.0]))
    assert ring.mean_radius(near) == pytest.approx(0.05 * np.cos(np.pi / 48), rel=5e-3)
    assert ring.lengths.sum() == pytest.approx(2 * 48 * 0.05 * np.sin(np.pi / 48), rel=1e-3)
    twisted = near.copy()
    upper = near[:, 1] > 0.475
    c, s = np.cos(2 * np.pi / 3), np.sin(2 * np.pi / 3)
    twisted[upper] = near[upper] @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    shrunk = ring.mean_radius(twisted) / ring.mean_radius(near)
    assert shrunk == pytest.approx(0.5, abs=0.05)  # edges that run aslant are cut elsewhere


def test_a_plane_beside_the_skin_is_refused():
    vertices, triangles = ball(np.zeros(3), levels=1)
    with pytest.raises(InputError, match="cuts 0 triangles"):
        cut_ring(vertices, triangles, np.array([0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0]))
