"""Fold angles against solids and hinges whose angles are known."""

import numpy as np
import pytest

from corporeal.geometry import dihedral_cpu
from corporeal.geometry.dihedral import fold_angles, folds_beyond, hinges_of

TETRAHEDRON = np.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]])
REGULAR = np.array([[1, 1, 1], [-1, 1, -1], [1, -1, -1], [-1, -1, 1.0]])
HINGE = np.array([[0, 1, 2], [1, 0, 3]])


def test_regular_tetrahedron_folds_by_the_tetrahedral_angle():
    """Its inner dihedral angle is arccos(1/3), so its normals turn by π − arccos(1/3)."""
    outward = np.linalg.det(REGULAR[TETRAHEDRON[0]]) > 0
    triangles = TETRAHEDRON if outward else TETRAHEDRON[:, ::-1]
    edges, angles = fold_angles(REGULAR, triangles)
    assert len(edges) == 6
    np.testing.assert_allclose(angles, np.pi - np.arccos(1 / 3), atol=1e-12)
    _, creases = fold_angles(REGULAR, triangles[:, ::-1])
    np.testing.assert_allclose(creases, np.arccos(1 / 3) - np.pi, atol=1e-12)


@pytest.mark.parametrize("turn", np.deg2rad([-179.9, -120.0, -30.0, 0.0, 1e-6, 90.0, 179.9]))
def test_a_hinge_opens_by_its_angle(turn):
    """One triangle in y = 0, its normal up; the other turned down by `turn` about the x axis."""
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0.5, 0, -1], [0.5, 0, 0]], float)
    vertices[3, 1:] = -np.sin(turn), np.cos(turn)
    edges, angles = fold_angles(vertices, HINGE)
    assert edges.tolist() == [[0, 1]]
    np.testing.assert_allclose(angles, [turn], atol=1e-12)


def test_a_flat_triangle_without_area_gives_no_fold():
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0.5, 0, -1], [0.5, 0, 0]], float)
    _, angles = fold_angles(vertices, HINGE)
    assert angles.tolist() == [0.0]


@pytest.mark.parametrize("angle", np.deg2rad([90.0, 120.0, 160.0]))
def test_folds_beyond_an_angle_are_those_whose_angle_is_larger(angle):
    """A crumpled tetrahedral net: the cosine test against the angles themselves."""
    points = np.random.default_rng(4).standard_normal((40, 3))
    triangles = np.array([[i, i + 1, i + 2] if i % 2 else [i + 1, i, i + 2] for i in range(38)])
    hinges = hinges_of(triangles)
    _, angles = fold_angles(points, triangles, hinges)
    found = folds_beyond(points, triangles, hinges, float(angle))
    assert found.tolist() == (np.abs(angles) > angle).tolist()
    assert 0 < found.sum() < len(found)
    least = float(np.cos(angle))
    compiled = dihedral_cpu.folds_beyond(points, triangles, hinges.triangles, least)
    assert compiled.tolist() == found.tolist()
