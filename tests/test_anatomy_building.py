"""The builder on shapes with known answers, and the equations of section 4.2.2."""

import numpy as np
import pytest
from test_anatomy_prisms import sphere

from corporeal.anatomy.building.muscle import (
    FatTarget,
    calibrated_envelope,
    first_meeting,
    fitted_to_muscles,
    vertex_volumes,
)
from corporeal.anatomy.building.shrink import Shrink, alignment_error
from corporeal.anatomy.building.wrap import SPACING, THICKNESS, BoneGroup, wrap_bones
from corporeal.anatomy.lines import on_lines
from corporeal.anatomy.prisms import Prisms
from corporeal.errors import InputError
from corporeal.geometry.surface_tree import SurfaceTree

SKIN, BONE = 0.1, 0.04
"""Radii of the ball that stands for a body, metres."""


@pytest.fixture(scope="module")
def ball():
    points, faces = sphere(16)
    skin = SurfaceTree(SKIN * points, faces)
    wrap = wrap_bones([BoneGroup(BONE * points, faces, 0.02)], skin, clearance=0.003)
    return points, faces, wrap


def test_the_wrap_of_a_ball_is_a_ball(ball):
    """φ(x) = ‖x‖ − r − thickness, within the grid's resolution."""
    _, _, wrap = ball
    points = np.random.default_rng(4).normal(size=(500, 3))
    points *= np.random.default_rng(5).uniform(0.035, 0.05, (500, 1)) / np.linalg.norm(
        points, axis=1, keepdims=True
    )
    expected = np.linalg.norm(points, axis=1) - BONE - THICKNESS
    assert np.abs(wrap.distance(points) - expected).max() < SPACING
    np.testing.assert_allclose(
        np.linalg.norm(wrap.project(points), axis=1), BONE + THICKNESS, atol=SPACING
    )


def test_a_hollow_open_cup_is_filled_if_its_mouth_is_narrower_than_the_closing(ball):
    points, faces, _ = ball
    open_ball = faces[points[faces][:, :, 1].mean(axis=1) < 0.95]  # a hole at the pole
    skin = SurfaceTree(SKIN * points, faces)
    wrap = wrap_bones([BoneGroup(BONE * points, open_ball, 0.03)], skin, clearance=0.003)
    assert wrap.distance(np.zeros((1, 3)))[0] < -0.02


def test_the_wrap_stays_beneath_the_skin(ball):
    """Bones that stick out of the skin are cut off at the clearance."""
    points, faces, _ = ball
    small = SurfaceTree(0.03 * points, faces)
    wrap = wrap_bones([BoneGroup(BONE * points, faces, 0.02)], small, clearance=0.005)
    ring = 0.027 * points
    assert (wrap.distance(ring) > 0).all()


def test_no_bones_cannot_be_wrapped(ball):
    points, faces, _ = ball
    with pytest.raises(InputError, match="no bones"):
        wrap_bones([], SurfaceTree(points, faces), 0.003)


def test_the_skin_of_a_ball_shrinks_onto_its_bone_along_the_radius(ball):
    points, faces, wrap = ball
    everywhere = np.ones(len(points), bool)
    bone = Shrink(SKIN * points, faces, everywhere, wrap).run()
    radius = np.linalg.norm(bone, axis=1)
    assert np.abs(radius - BONE - THICKNESS).max() < 1.5 * SPACING
    cosine = np.einsum("vd,vd->v", bone, points) / radius
    assert cosine.min() > np.cos(np.radians(8))
    assert not Prisms(faces, everywhere).inverted(SKIN * points, bone).any()


def test_alignment_is_perfect_along_the_mean_normal_and_wrong_across_it():
    """E_align is 0 along n_S + n_W and 1 across it (4.4)."""
    up = np.array([[0.0, 1.0, 0.0]])
    assert alignment_error(up, up, np.zeros((1, 3)), up)[0] < 1e-12
    assert abs(alignment_error(np.array([[1.0, 0, 0]]), up, np.zeros((1, 3)), up)[0] - 1) < 1e-12


def test_lines_meet_the_first_muscle_on_their_way(ball):
    points, faces, _ = ball
    muscle = SurfaceTree(0.07 * points, faces)
    met, way = first_meeting(muscle, SKIN * points, BONE * points)
    assert met.all()
    np.testing.assert_allclose(way, 0.03, atol=1e-3)
    met, _ = first_meeting(muscle, SKIN * points, 0.09 * points)
    assert not met.any()


def test_an_atlas_muscle_gives_the_muscle_surface(ball):
    points, faces, _ = ball
    prisms = Prisms(faces, np.ones(len(points), bool))
    muscle = SurfaceTree(0.07 * points, faces)
    beta = fitted_to_muscles(prisms, SKIN * points, BONE * points, muscle)
    np.testing.assert_allclose(beta, 0.5, atol=0.03)


def test_fat_is_calibrated_to_the_volume_asked_for_each_half(ball):
    points, faces, _ = ball
    skin, bone = SKIN * points, BONE * points
    prisms = Prisms(faces, np.ones(len(points), bool))
    left = points[:, 0] > 0
    targets = [FatTarget(left, 5e-4), FatTarget(~left, 3e-4)]
    none = np.zeros(len(points), bool)
    beta = calibrated_envelope(prisms, skin, bone, 0.09 * points, targets, none)
    fat = vertex_volumes(prisms, skin, on_lines(beta, skin, bone, ~none))
    assert abs(fat[left].sum() - 5e-4) < 3e-5
    assert abs(fat.sum() - 8e-4) < 2e-5


def test_more_fat_than_there_is_room_for_is_refused(ball):
    points, faces, _ = ball
    prisms = Prisms(faces, np.ones(len(points), bool))
    everywhere = np.ones(len(points), bool)
    with pytest.raises(InputError, match="cannot hold"):
        calibrated_envelope(
            prisms,
            SKIN * points,
            BONE * points,
            0.09 * points,
            [FatTarget(everywhere, 1.0)],
            ~everywhere,
        )
