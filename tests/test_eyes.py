"""Eyeballs: where they sit, that the lids hold them, and what they refuse."""

import numpy as np
import pytest

from corporeal.assets.eyes import default_eyes
from corporeal.body.attachment import Attachment
from corporeal.body.identity import Identity
from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel

MODEL = PhenotypeModel()
TEMPLATE = MODEL.template
MIRROR = np.array([-1.0, 1.0, 1.0])


def ball(eye: Attachment) -> tuple[np.ndarray, float]:
    """Centre and radius from the front and the back pole, metres."""
    front, back = np.asarray(eye.mesh.vertices)[[0, -1]].astype(float)
    return (front + back) / 2, float(np.linalg.norm(front - back) / 2)


def neighbourhood(start: np.ndarray, rings: int) -> np.ndarray:
    """The vertices within `rings` edges of `start`."""
    triangles, inside = TEMPLATE.mesh.triangles, np.zeros(TEMPLATE.mesh.vertex_count, bool)
    inside[start] = True
    for _ in range(rings):
        inside[triangles[inside[triangles].any(axis=1)]] = True
    return np.flatnonzero(inside)


def random_people(count: int, seed: int) -> list[Identity]:
    rng = np.random.default_rng(seed)
    sliders = {p.name: rng.uniform(p.low, p.high, count) for p in MODEL.parameters}
    people = MODEL.prepare(sliders)
    return [Identity(v, j, {}) for v, j in zip(people.rest_vertices, people.joints, strict=True)]


def test_balls_are_round_closed_and_look_ahead() -> None:
    """All vertices at one radius, volume close to 4/3 π r³, pole and pupil towards +z."""
    for eye in default_eyes(MODEL.prepare()):
        centre, radius = ball(eye)
        vertices = np.asarray(eye.mesh.vertices, np.float64)
        np.testing.assert_allclose(np.linalg.norm(vertices - centre, axis=1), radius, atol=1e-6)
        volume = np.linalg.det((vertices - centre)[eye.mesh.triangles]).sum() / 6
        assert volume == pytest.approx(4 / 3 * np.pi * radius**3, rel=0.04)
        assert vertices[0, 2] == pytest.approx(centre[2] + radius)
        assert eye.vertex_colours[0].max() < 0.02
        assert TEMPLATE.skeleton.names[eye.joint] == "head"


def test_eyes_mirror_each_other() -> None:
    left, right = (ball(eye) for eye in default_eyes(MODEL.prepare()))
    np.testing.assert_allclose(left[0], right[0] * MIRROR, atol=1e-6)
    assert left[1] == pytest.approx(right[1], abs=1e-7)


def test_lids_stay_outside_the_balls_of_random_people() -> None:
    """Skin three edges or more away from the socket's lining never enters the ball."""
    lining = TEMPLATE.part("left_eye_socket")
    lids = np.setdiff1d(neighbourhood(lining, 11), neighbourhood(lining, 3))
    for person in random_people(20, seed=3):
        centre, radius = ball(default_eyes(person)[0])
        assert np.linalg.norm(person.rest_vertices[lids] - centre, axis=1).min() > radius
        assert 0.010 < radius < 0.021


def test_follow_a_moved_body() -> None:
    """Centre and radius are linear functions of the skin: a shift moves one, not the other."""
    person = MODEL.prepare({"gender": 0.0})
    shift = np.array([0.3, -2.0, 0.1], np.float32)
    moved = Identity(person.rest_vertices + shift, person.joints + shift, {})
    for here, there in zip(default_eyes(person), default_eyes(moved), strict=True):
        np.testing.assert_allclose(ball(here)[0] + shift, ball(there)[0], atol=2e-5)
        assert ball(here)[1] == pytest.approx(ball(there)[1], abs=2e-5)


def test_another_topology_is_refused() -> None:
    with pytest.raises(InputError, match="default topology"):
        default_eyes(Identity(np.zeros((4, 3)), np.zeros((2, 3)), {}))
