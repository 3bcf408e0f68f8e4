"""The measure of popping, against closed forms."""

import numpy as np
import pytest

from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.evaluation.popping import SEEN, hops, popping
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.skinning.linear import LinearBlendSkinning

ROUND = 6
TRIANGLES = np.array([[0, 1 + k, 1 + (k + 1) % ROUND] for k in range(ROUND)])
"""A fan: vertex 0 has six neighbours, each of those three."""
ANGLES = 2.0 * np.pi * np.arange(ROUND) / ROUND
FAN = np.concatenate(
    [[[0.0, 0.0, 0.01]], 0.1 * np.stack([np.cos(ANGLES), np.sin(ANGLES), 0 * ANGLES], axis=1)]
)
OWNERS = np.array([0, 1, 0, 1, 0, 1, 0])
STILL = np.broadcast_to(np.eye(3), (9, 2, 3, 3))


def still() -> np.ndarray:
    return np.repeat(FAN[None], 9, axis=0)


def test_what_goes_rigidly_with_its_joints_does_not_hop():
    """However fast it turns and travels."""
    axes = np.outer(np.linspace(0.0, 1.0, 9) ** 2, [2.0, -3.0, 1.0])
    turns = np.asarray(matrix_from_axis_angle(axes))
    places = np.cumsum(np.random.default_rng(0).normal(size=(9, 1, 3)), axis=0)
    skin = np.einsum("nij,vj->nvi", turns, FAN) + places
    found = hops(skin, TRIANGLES, np.repeat(turns[:, None], 2, axis=1), OWNERS)
    np.testing.assert_allclose(found, 0.0, atol=1e-14)


def test_a_vertex_that_hops_is_told_with_its_way():
    """By h, in the frames before and after; its neighbours by h over their three neighbours."""
    skin = still()
    skin[5:, 0, 2] += 0.003
    found = hops(skin, TRIANGLES, STILL, OWNERS)
    expected = np.zeros((7, 1 + ROUND))
    expected[3:5, 0], expected[3:5, 1:] = 0.003, 0.001  # frames 4 and 5
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_there_and_back_is_twice_as_much():
    skin = still()
    skin[5, 0] += [0.0, 0.004, 0.0]
    np.testing.assert_allclose(
        hops(skin, TRIANGLES, STILL, OWNERS)[3:6, 0], [0.004, 0.008, 0.004], atol=1e-15
    )


def test_a_swing_has_its_second_difference():
    """A sin(ωt): 2 A (1 − cos ωΔt) |sin ωt|."""
    times, omega, amplitude = np.arange(9) / 60.0, 2.0 * np.pi * 3.0, 0.02
    skin = still()
    skin[:, 0, 2] += amplitude * np.sin(omega * times)
    expected = 2.0 * amplitude * (1.0 - np.cos(omega / 60.0)) * np.abs(np.sin(omega * times[1:-1]))
    np.testing.assert_allclose(hops(skin, TRIANGLES, STILL, OWNERS)[:, 0], expected, atol=1e-15)


def test_all_that_move_alike_do_not_hop():
    skin = still() + np.array([0.0, 0.0, 0.05]) * (np.arange(9) % 2)[:, None, None]
    np.testing.assert_allclose(hops(skin, TRIANGLES, STILL, OWNERS), 0.0, atol=1e-15)


def test_vertices_without_neighbours_do_not_hop():
    skin = np.concatenate([still(), np.random.default_rng(1).normal(size=(9, 1, 3))], axis=1)
    found = hops(skin, TRIANGLES, STILL, np.append(OWNERS, 1))
    np.testing.assert_allclose(found[:, -1], 0.0, atol=1e-15)


def test_two_frames_are_too_few():
    with pytest.raises(InputError, match="2 frames of skin"):
        hops(still()[:2], TRIANGLES, STILL[:2], OWNERS)


def test_a_vertex_that_hops_in_an_animation_is_found():
    """On a body that stands still: which, when, in how many frames."""
    model = PhenotypeModel()
    identity = model.prepare()
    rotations = np.zeros((8, model.template.skeleton.joint_count, 3))
    motion = Motion("still", 60.0, rotations, np.zeros((8, 3)), model.template.skeleton)
    animation = LinearBlendSkinning(model.template).animate(identity, motion)
    assert popping(animation).largest < 1e-6
    skin = np.array(animation.vertices)
    skin[4:, 1603] += [0.0, 0.0, 1.5 * SEEN]
    object.__setattr__(animation, "vertices", skin)
    found = popping(animation)
    assert (found.vertex, found.frame) in {(1603, 3), (1603, 4)}
    assert found.largest == pytest.approx(1.5 * SEEN, rel=1e-4)
    assert found.frames_seen == 2 / 6
    assert found.vertices_seen.tolist() == [1603]
