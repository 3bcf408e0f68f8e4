"""Fold angles against solids and hinges whose angles are known."""

import numpy as np
import pytest

from corporeal.errors import InputError
from corporeal.geometry.dihedral import fold_angles, hinges

TETRAHEDRON = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
REGULAR = np.array([[1, 1, 1], [-1, 1, -1], [1, -1, -1], [-1, -1, 1.0]])
HINGE = np.array([[0, 1, 2], [1, 0, 3]])


def test_regular_tetrahedron_folds_by_the_tetrahedral_angle():
    """Its inner dihedral angle is arccos(1/3), so its normals turn by π − arccos(1/3)."""
    at = hinges(TETRAHEDRON)
    assert len(at.edges) == 6
    outward = np.linalg.det(REGULAR[TETRAHEDRON[0]] - REGULAR.mean(axis=0)) > 0
    triangles = TETRAHEDRON if outward else TETRAHEDRON[:, ::-1]
    angles = fold_angles(REGULAR, triangles, hinges(triangles))
    np.testing.assert_allclose(angles, np.pi - np.arccos(1 / 3), atol=1e-12)
    inside_out = triangles[:, ::-1]
    creases = fold_angles(REGULAR, inside_out, hinges(inside_out))
    np.testing.assert_allclose(creases, np.arccos(1 / 3) - np.pi, atol=1e-12)


@pytest.mark.parametrize("turn", np.deg2rad([-179.9, -120.0, -30.0, 0.0, 1e-6, 90.0, 179.9]))
def test_a_hinge_opens_by_its_angle(turn):
    """One triangle in y = 0, its normal up; the other turned down by `turn` about the x axis."""
    vertices = np.array(
        [[0, 0, 0], [1, 0, 0], [0.5, 0, -1], [0.5, -np.sin(turn), np.cos(turn)]], float
    )
    angles = fold_angles(vertices, HINGE, hinges(HINGE))
    np.testing.assert_allclose(angles, [turn], atol=1e-12)


def test_border_edges_are_left_out():
    assert len(hinges(HINGE).edges) == 1


def test_three_triangles_at_an_edge_are_refused():
    with pytest.raises(InputError, match="three or more"):
        hinges(np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4]]))


def test_triangles_that_disagree_on_outside_are_refused():
    with pytest.raises(InputError, match="same way"):
        hinges(np.array([[0, 1, 2], [0, 1, 3]]))
