"""Bones held beneath the skin: a ball in a ball in closed form, and a lean man's ribs."""

import numpy as np
import pytest
from solids import icosphere

from corporeal.anatomy.bone_margin import HEAD, MARGIN, held_inside
from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.template import layered_template
from corporeal.anatomy.warp import transfer_bones
from corporeal.anthropometry.solve import solve_measurements
from corporeal.assets.anatomy import BoneMesh
from corporeal.geometry.surface_tree import SurfaceTree

SKIN = 0.1
"""Radius of the skin's ball, metres."""


@pytest.fixture(scope="module")
def ball():
    return icosphere(4)


def test_a_ball_that_pierces_the_skin_is_held_beneath_it(ball):
    """A bone of 2 cm about a point 8.3 cm off the centre stands out of a skin of 10 cm by 3 mm;
    afterwards none of it is farther from the centre than 10 cm − margin, to the faceting
    r h²/8 of edges h of both balls, and what was 1 cm deep stays where it was."""
    points, triangles = ball
    off = np.array([0.0, 0.0, 0.083])
    bone = BoneMesh("ball", 0.02 * points + off, triangles)
    (held,) = held_inside([bone], SKIN * points, triangles)
    far = np.linalg.norm(held.vertices, axis=1)
    edge = 2 * np.sqrt(4 * np.pi / len(triangles) / np.sqrt(3))
    assert np.linalg.norm(bone.vertices, axis=1).max() > SKIN + 0.0029
    assert far.max() < SKIN - MARGIN + SKIN * edge**2 / 8
    deep = np.linalg.norm(bone.vertices, axis=1) < SKIN - 0.025
    np.testing.assert_array_equal(held.vertices[deep], bone.vertices[deep])


def test_bones_that_are_deep_enough_are_left_alone(ball):
    points, triangles = ball
    bone = BoneMesh("ball", 0.09 * points, triangles)
    (held,) = held_inside([bone], SKIN * points, triangles)
    np.testing.assert_array_equal(held.vertices, bone.vertices)


def test_skull_and_jaw_stand_in_the_cavities_that_skin_lines(ball):
    points, triangles = ball
    skull = BoneMesh(HEAD[0], 0.2 * points, triangles)
    (held,) = held_inside([skull], SKIN * points, triangles)
    np.testing.assert_array_equal(held.vertices, skull.vertices)


@pytest.mark.parametrize(("sex", "stature", "bmi"), [("male", 2.02, 18.0), ("female", 1.57, 16.2)])
def test_bones_of_lean_people_lie_in_their_skin(sex, stature, bmi):
    """Ribs of lean men stood out by 2 mm and more, finger bones of all by 2 to 3."""
    body = solve_measurements({"stature": stature, "mass": bmi * stature**2}, sex, 30.0)
    wanted = predict_composition(body.identity, 30.0, sex).composition
    layers = fit_layers(body.identity, sex, wanted)
    tree = SurfaceTree(np.asarray(layers.skin, np.float64), layers.triangles)
    for bone in transfer_bones(layers, layered_template(sex)):
        if bone.name not in HEAD:
            assert tree.signed_distance(bone.vertices).max() < -0.999 * MARGIN, bone.name
