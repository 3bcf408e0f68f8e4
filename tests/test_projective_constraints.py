"""Constraints of Projective Dynamics against closed forms, and against finite differences."""

import numpy as np
import pytest
from constraints.anchor import anchor_constraint
from constraints.bending import bending_constraint
from constraints.position_strain import (
    position_strain_constraint,
)
from constraints.spring import spring_constraint
from constraints.volume import (
    nearest_of_volume,
    volume_constraint,
)
from flesh import bar, cells, grid
from scipy.spatial.transform import Rotation
from solids import icosphere

from corporeal.errors import InputError
from corporeal.geometry.laplacian import cotangent_laplacian
from corporeal.physics.solver.constraints.constraint import energy
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.integration import StepRule, resting
from corporeal.physics.solver.polar import closest_rotations, newton_rotations
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System, tetrahedral_masses

REST, TETRAHEDRA = bar((2, 1, 1), (0.2, 0.1, 0.1))


def all_constraints() -> dict:
    sphere, triangles = icosphere(1)
    pairs = TETRAHEDRA[:, :2]
    random = np.random.default_rng(1)
    return {
        "anchor": (anchor_constraint(np.arange(3), random.normal(size=(3, 3)), 5.0, 12), REST),
        "spring": (spring_constraint(REST, pairs, 3.0), REST),
        "strain": (strain_constraint(REST, TETRAHEDRA, 1e4), REST),
        "position-strain": (position_strain_constraint(REST, cells((2, 1, 1)), 7.0), REST),
        "volume": (volume_constraint(REST, TETRAHEDRA, 1e4), REST),
        "bending": (bending_constraint(sphere, triangles, 2.0), sphere),
    }


@pytest.mark.parametrize("name", [n for n in all_constraints() if n != "anchor"])
def test_rigid_motion_costs_no_energy(name: str) -> None:
    """Every constraint but the anchor sees shape alone: a rotated and moved rest has no energy.

    Rounding of coordinates of size s leaves strains of eps·s/edge, squared in the energy.
    """
    constraint, rest = all_constraints()[name]
    moved = rest @ Rotation.from_rotvec([0.4, -2.0, 1.1]).as_matrix().T + [3.0, -1.0, 2.0]
    stretched = energy(constraint, 1.1 * rest)
    assert stretched > 1e-6
    assert energy(constraint, moved) < 1e-20 * max(1.0, stretched)


@pytest.mark.parametrize("name", all_constraints())
def test_forces_are_the_gradient_of_the_energy(name: str) -> None:
    """−∇W = Qᵀ W (p − Q z), because p is a closest point; central differences, error ∝ ε²."""
    constraint, rest = all_constraints()[name]
    random = np.random.default_rng(2)
    scale = np.ptp(rest)
    z = rest + random.normal(scale=0.03 * scale, size=rest.shape)
    values = constraint.matrix @ z
    force = constraint.matrix.T @ (
        constraint.weights[:, None] * (constraint.project(values) - values)
    )
    direction = random.normal(size=rest.shape)
    small = 1e-6 * scale
    slope = (
        energy(constraint, z + small * direction) - energy(constraint, z - small * direction)
    ) / (2 * small)
    assert slope == pytest.approx(-(force * direction).sum(), rel=1e-5)


def test_spring_rod_keeps_its_stiffness_when_divided() -> None:
    """n springs of EA/(L/n) in series stretch by the same energy as one of EA/L."""
    energies = []
    for count in (1, 2, 7):
        rest = np.linspace([0, 0, 0], [2.0, 0, 0], count + 1)
        pairs = np.stack([np.arange(count), np.arange(1, count + 1)], axis=1)
        energies.append(energy(spring_constraint(rest, pairs, 3.0), 1.25 * rest))
    # EA/2L ΔL² = 3/4 · 0.25
    np.testing.assert_allclose(energies, 3 / (2 * 2) * 0.5**2, rtol=1e-12)


def test_strain_energy_of_a_stretch() -> None:
    """F = diag(s, 1, 1) gives E V (s − 1)²/2 for any cutting into tetrahedra."""
    constraint = strain_constraint(REST, TETRAHEDRA, 1e4)
    for stretch in (0.5, 1.2, 3.0):
        expected = 1e4 * 0.002 * (stretch - 1) ** 2 / 2
        assert energy(constraint, REST * [stretch, 1, 1]) == pytest.approx(expected, rel=1e-9)


def test_inverted_element_is_pushed_back_along_its_thinnest_axis() -> None:
    """F = diag(1, 1, −a): the closest rotation is the identity, 1 + a away on that axis."""
    rest = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    constraint = strain_constraint(rest, np.array([[0, 1, 2, 3]]), 6.0)
    assert energy(constraint, rest * [1, 1, -0.2]) == pytest.approx(0.5 * 1.2**2, rel=1e-12)


def test_gradients_keep_ratios_and_positions_keep_differences() -> None:
    """Figure 2.4: elements of length 1 and 2, stretched twofold, become 2 and 4 when gradients are
    fitted, 2.5 and 3.5 when positions are. Static, with both ends held in place."""
    rest, tetrahedra = bar((3, 1, 1), (3.0, 1.0, 1.0))
    rest[:, 0] = np.array([0.0, 1.0, 3.0, 6.0])[np.rint(rest[:, 0]).astype(int)]
    keep = rest[:, 0] <= 3.0  # cells of length 1 and 2; the third is cut off
    rest, tetrahedra = rest[keep], tetrahedra[keep[tetrahedra].all(axis=1)]
    held = (rest[:, 0] == 0) | (rest[:, 0] == 3)
    for constraint, expected in (
        (strain_constraint(rest, tetrahedra, 1.0), (2.0, 4.0)),
        (position_strain_constraint(rest, cells((2, 1, 1)), 1.0), (2.5, 3.5)),
    ):
        system = System(np.zeros(len(rest)), held, (constraint,))
        solver = ReferenceSolver(system, StepRule(1.0, 50, integrator="static"))
        state = solver.step(resting(rest, 1.0), rest[held] * [2.0, 1, 1])
        middle = state.positions[rest[:, 0] == 1, 0]
        np.testing.assert_allclose(middle, expected[0], rtol=1e-9)
        np.testing.assert_allclose(6.0 - middle, expected[1], rtol=1e-9)


def test_volume_projection_is_the_nearest_point() -> None:
    """Π σ' = target, and σ' − σ is parallel to ∇Π(σ'): the conditions of a nearest point."""
    random = np.random.default_rng(3)
    stretch = random.uniform(0.4, 1.8, (200, 3))
    for target in (1.0, 1.3):
        nearest = nearest_of_volume(stretch, target)
        np.testing.assert_allclose(nearest.prod(axis=1), target, rtol=1e-9)
        gradient = nearest.prod(axis=1, keepdims=True) / nearest
        across = np.cross(nearest - stretch, gradient)
        assert np.abs(across).max() < 1e-6


def test_volume_constraint_ignores_shear() -> None:
    shear = np.array([[1.0, 0.7, 0], [0, 1, 0], [0, 0, 1]])
    constraint = volume_constraint(REST, TETRAHEDRA, 1e4)
    assert energy(constraint, REST @ shear.T) < 1e-18
    assert energy(strain_constraint(REST, TETRAHEDRA, 1e4), REST @ shear.T) > 1.0


def test_laplacian_of_a_sphere() -> None:
    """Mean curvature normal: ‖Δx‖ → 2/r; the cells sum to the area. Twelve vertices of five
    neighbours have smaller cells, so the mean over the area is taken."""
    sphere, triangles = icosphere(3)
    laplacian, areas = cotangent_laplacian(2.0 * sphere, triangles)
    curvature = np.linalg.norm(laplacian @ (2.0 * sphere), axis=1) / areas
    assert (curvature * areas).sum() / areas.sum() == pytest.approx(2 / 2.0, rel=0.01)
    assert areas.sum() == pytest.approx(4 * np.pi * 2.0**2, rel=0.02)


def test_masses_sum_to_density_times_volume() -> None:
    assert tetrahedral_masses(REST, TETRAHEDRA, 900.0).sum() == pytest.approx(900 * 0.002)


def test_rotations_by_both_ways_agree() -> None:
    """Newton's iteration and singular values find the same rotation where det > 0; R is proper."""
    random = np.random.default_rng(4)
    matrices = random.normal(size=(300, 3, 3))
    matrices *= np.sign(np.linalg.det(matrices))[:, None, None]
    rotations = closest_rotations(matrices)
    np.testing.assert_allclose(np.linalg.det(rotations), 1.0, rtol=1e-12)
    well = np.linalg.det(matrices) > 1e-2
    np.testing.assert_allclose(newton_rotations(matrices[well], 1e-14), rotations[well], atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(closest_rotations(-matrices)), 1.0, rtol=1e-12)


def test_flat_tetrahedra_are_refused() -> None:
    flat = grid((1, 1, 1), (1, 1, 0))
    with pytest.raises(InputError, match="1 of 1 tetrahedra have no volume"):
        strain_constraint(flat, np.array([[0, 2, 4, 6]]), 1.0)


def test_indices_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="tetrahedra hold indices"):
        strain_constraint(REST, np.array([[0, 1, 2, 99]]), 1.0)
