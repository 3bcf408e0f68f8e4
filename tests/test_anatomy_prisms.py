"""Prisms between layers: volumes by closed form, and inverted ones put right."""

import numpy as np
import pytest

from corporeal.anatomy.lines import on_lines, share_bounds, shares, upright_shares
from corporeal.anatomy.nesting import check_nesting
from corporeal.anatomy.prisms import (
    TUCKED,
    Prisms,
    closed,
    inward_directions,
    raised,
    raised_between,
    tucked,
    untangle,
)
from corporeal.body.layers import Layers


def sphere(rings: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """A closed unit sphere of quads around an axis, split into triangles."""
    angles = np.pi * np.arange(1, rings) / rings
    around = 2 * np.pi * np.arange(2 * rings) / (2 * rings)
    grid = np.stack(
        [
            np.outer(np.sin(angles), np.cos(around)),
            np.outer(np.cos(angles), np.ones_like(around)),
            -np.outer(np.sin(angles), np.sin(around)),
        ],
        axis=-1,
    )
    points = np.concatenate([[[0.0, 1.0, 0.0]], grid.reshape(-1, 3), [[0.0, -1.0, 0.0]]])
    width, faces = 2 * rings, []
    for j in range(width):
        k = (j + 1) % width
        faces.append([0, 1 + j, 1 + k])
        for i in range(rings - 2):
            a, b = 1 + i * width + j, 1 + i * width + k
            faces += [[a, a + width, b + width], [a, b + width, b]]
        last = 1 + (rings - 2) * width
        faces.append([len(points) - 1, last + k, last + j])
    return points, np.array(faces)


@pytest.fixture(scope="module")
def shell():
    points, faces = sphere()
    everywhere = np.ones(len(points), bool)
    return points, faces, Prisms(faces, everywhere)


def test_volumes_of_a_shell_are_those_between_two_polyhedra(shell):
    """Similar closed surfaces enclose V and s³V, so the shell has (1 − s³) V exactly."""
    from corporeal.geometry.volume import enclosed_volume

    points, faces, prisms = shell
    whole = float(enclosed_volume(points, faces))
    np.testing.assert_allclose(prisms.volumes(points, 0.6 * points).sum(), (1 - 0.216) * whole)
    assert not prisms.inverted(points, 0.6 * points).any()


def test_an_inner_surface_pulled_through_the_outer_one_is_inverted(shell):
    points, _, prisms = shell
    inner = 0.6 * points
    inner[30] = 1.2 * points[30]
    assert prisms.inverted(points, inner)[30]


def test_projections_put_a_scrambled_shell_upright_and_move_little_else(shell):
    points, _, prisms = shell
    inner = 0.6 * points
    inner[30] = 1.2 * points[30]
    upright = raised(prisms, points, inner)
    assert not prisms.inverted(points, upright).any()
    far = np.linalg.norm(points - points[30], axis=1) > 1.0
    np.testing.assert_array_equal(upright[far], inner[far])


def test_untangling_leaves_sound_prisms_alone(shell):
    points, _, prisms = shell
    np.testing.assert_array_equal(untangle(prisms, points, 0.6 * points), 0.6 * points)


def test_the_middle_surface_is_put_between_both_others(shell):
    points, _, prisms = shell
    middle = 0.8 * points
    middle[30], middle[100] = 1.1 * points[30], 0.5 * points[100]
    settled, inner = raised_between(prisms, points, middle, 0.6 * points)
    np.testing.assert_array_equal(inner, 0.6 * points)  # the middle found a place by itself
    assert not prisms.inverted(points, settled).any()
    assert not prisms.inverted(settled, 0.6 * points).any()


def test_inward_directions_of_a_sphere_lead_to_its_centre(shell):
    points, faces, _ = shell
    inward = inward_directions(points, faces)
    assert (np.einsum("vd,vd->v", inward, -points) > 0.99).all()


def test_tucking_stays_near_what_finds_no_place(shell):
    """Of a ball in a ball: the vertex and its neighbours 4 mm beneath, the next ring halfway, the
    rest where it was."""
    points, faces, prisms = shell
    wrong = np.zeros(len(points), bool)
    wrong[100] = True
    made = tucked(prisms, points, 0.6 * points, wrong, rings=1)
    depth = 1.0 - np.linalg.norm(made, axis=1)
    ring = np.zeros(len(points), bool)
    ring[np.unique(faces[(faces == 100).any(axis=1)])] = True
    np.testing.assert_allclose(depth[ring], TUCKED, atol=1e-4)
    next_ring = np.isin(np.arange(len(points)), faces[ring[faces].any(axis=1)]) & ~ring
    np.testing.assert_allclose(depth[next_ring], (TUCKED + 0.4) / 2, atol=2e-3)
    np.testing.assert_array_equal(made[~ring & ~next_ring], (0.6 * points)[~ring & ~next_ring])


def test_shares_find_the_place_on_the_line_and_keep_their_bounds():
    skin, bone = np.array([[0.0, 0.0, 0.1]] * 3), np.zeros((3, 3))
    points = np.array([[0.01, 0.0, 0.04], [0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(shares(points, skin, bone), [0.4, 0.01, 0.98])
    low, high = share_bounds(np.array([[0.0, 0.0, 0.001]]), np.zeros((1, 3)))
    np.testing.assert_allclose([low[0], high[0]], [1 / 3, 1 / 3])


def test_uneven_shares_are_evened_out_only_where_prisms_are_inverted(shell):
    points, _, prisms = shell
    skin, bone = points, 0.2 * points
    beta = np.full(len(points), 0.5)
    even = upright_shares(prisms, beta, skin, bone)
    np.testing.assert_array_equal(even, beta)


def test_nesting_finds_what_is_wrong(shell):
    """A negative test of the validator: a bone vertex outside, and the prisms that it turns."""
    points, faces, _ = shell
    region = np.ones(len(points), bool)
    sound = check_nesting(Layers(points, 0.8 * points, 0.6 * points, faces, region))
    assert sound.sound
    assert sound.worst < 0
    bone = 0.6 * points
    bone[30] = 0.9 * points[30]
    wrong = check_nesting(Layers(points, 0.8 * points, bone, faces, region))
    assert not wrong.sound
    assert wrong.bone_outside == 1
    assert wrong.inverted_tetrahedra > 0
    moved = on_lines(np.full(len(points), 1.05), points, 0.6 * points, region)
    assert check_nesting(Layers(points, moved, 0.6 * points, faces, region)).muscle_outside > 100


def test_layers_are_closed_where_the_skin_is_folded_over_itself(shell):
    """A vertex pushed across its neighbour turns triangles over: no place is beneath all of them,
    so projections fail, and the layers join the skin there and hardly anywhere else."""
    points, faces, prisms = shell
    outer = points.copy()
    beside = faces[(faces == 130).any(axis=1)].ravel()
    beside = beside[beside != 130][0]
    outer[130] = points[130] + 2.5 * (points[beside] - points[130])
    middle, inner = raised_between(
        prisms, outer, 0.9 * points, untangle(prisms, outer, 0.6 * points)
    )
    wrong = prisms.inverted(outer, middle) | prisms.inverted(middle, inner)
    assert wrong.any()
    joined, bottom = closed(prisms, outer, middle, inner, wrong)
    assert not (prisms.inverted(outer, joined) | prisms.inverted(joined, bottom)).any()
    np.testing.assert_array_equal(joined[wrong], outer[wrong])
    far = np.linalg.norm(points - points[130], axis=1) > 1.5
    np.testing.assert_array_equal(bottom[far], inner[far])


def test_nothing_is_closed_where_nothing_is_wrong(shell):
    points, _, prisms = shell
    none = np.zeros(len(points), bool)
    joined, bottom = closed(prisms, points, 0.8 * points, 0.6 * points, none)
    np.testing.assert_array_equal(joined, 0.8 * points)
    np.testing.assert_array_equal(bottom, 0.6 * points)
