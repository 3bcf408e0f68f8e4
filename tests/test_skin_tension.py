"""Tension of the skin: closed forms, finite differences, and three solvers against each other."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from flesh import bar
from scipy.spatial.transform import Rotation
from solids import icosphere

from corporeal.anatomy.layered.softness import skin_share
from corporeal.assets.default_body import load_default_body
from corporeal.body.mesh import Mesh
from corporeal.physics.solver.constraints.constraint import energy
from corporeal.physics.solver.constraints.skin_tension import GIVE, SkinTension, skin_tension
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.cpu.skin_kernels import pull_skin
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.gpu.elements import elements_of, system_matrix
from corporeal.physics.solver.gpu.skin import SkinElements, skin_forces, tension_of
from corporeal.physics.solver.gpu.solver import GpuSolver
from corporeal.physics.solver.integration import State, StepRule, resting
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System, tetrahedral_masses

K = 500.0
REST, TETRAHEDRA = bar((8, 3, 3), (0.5, 0.15, 0.15))
MASSES = tetrahedral_masses(REST, TETRAHEDRA, 1000.0)
GRAVITY = MASSES[:, None] * np.array([0.0, -9.81, 0.0])


def forces(skin: SkinTension, z: np.ndarray) -> np.ndarray:
    """Qᵀ W (p − Q z), newtons."""
    values = skin.matrix @ z
    return skin.matrix.T @ (skin.weights[:, None] * (skin.project(values) - values))


def huber(skin: SkinTension, z: np.ndarray) -> float:
    """k A Σ h(σ − 1), from the definition, joules."""
    stretches = np.linalg.svd((skin.matrix @ z).reshape(-1, 2, 3), compute_uv=False)
    e = np.maximum(stretches - 1.0, 0.0)
    h = np.where(e < GIVE, 0.5 * e**2, GIVE * e - 0.5 * GIVE**2)
    return float(skin.weights[::2] @ h.sum(axis=1))


def sheet() -> tuple[np.ndarray, np.ndarray]:
    """A rectangle of 2 × 1 m, of eight triangles that are no halves of squares."""
    rest = np.array([[x, y, 0.0] for x in (0.0, 0.7, 2.0) for y in (0.0, 0.4, 1.0)])
    cells = [
        (3 * i + j, 3 * i + j + 3, 3 * i + j + 4, 3 * i + j + 1) for i in (0, 1) for j in (0, 1)
    ]
    return rest, np.array([t for a, b, c, d in cells for t in ((a, b, c), (a, c, d))])


def covered(tension: float = 400.0) -> System:
    """A bar of flesh in its skin, held at one end."""
    faces = TETRAHEDRA[:, [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]].reshape(-1, 3)
    _, first, counts = np.unique(
        np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True
    )
    skin = skin_tension(REST, faces[first[counts == 1]], np.full((counts == 1).sum(), tension))
    strain = strain_constraint(REST, TETRAHEDRA, 2e4)
    return System(MASSES, REST[:, 0] == 0, (strain, skin))


def shaken(solver, steps: int = 30) -> State:
    """The bar hangs, and its held end goes up and down."""
    state = resting(REST, solver.rule.step)
    for number in range(steps):
        anchors = REST[REST[:, 0] == 0] + [0.0, 0.03 * np.sin(0.3 * number), 0.0]
        state = solver.step(state, anchors, GRAVITY)
    return state


@pytest.mark.parametrize("strain", [-0.4, 0.1, 0.29, 0.31, 2.0])
def test_a_strip_pulls_as_its_law_says(strain: float) -> None:
    """Stretched along x by ε, a strip 1 m wide pulls its end with k min(max(ε, 0), g) newtons."""
    rest, triangles = sheet()
    skin = skin_tension(rest, triangles, np.full(len(triangles), K))
    pull = forces(skin, rest * [1.0 + strain, 1.0, 1.0])[rest[:, 0] == 2.0].sum(axis=0)
    expected = -K * min(max(strain, 0.0), GIVE)
    np.testing.assert_allclose(pull, [expected, 0.0, 0.0], atol=1e-9 * K)


def test_a_blown_up_balloon_obeys_its_energy() -> None:
    """A polyhedron of area A grown by ε has W = k A ε², so that the forces along the way out sum to
    dW/dε = 2 k A ε; half the stretch, a quarter of the energy."""
    rest, triangles = icosphere(2)
    skin = skin_tension(rest, triangles, np.full(len(triangles), K))
    area = 0.5 * skin.weights.sum() / K
    for strain in (0.1, 0.2):
        grown = (1.0 + strain) * rest
        assert energy(skin, grown) == pytest.approx(K * area * strain**2, rel=1e-9)
        out = -(forces(skin, grown) * rest).sum()
        assert out == pytest.approx(2.0 * K * area * strain, rel=1e-9)
    assert energy(skin, 0.5 * rest) < 1e-20 * K


def test_forces_are_the_gradient_of_the_energy() -> None:
    """Central differences of Huber's sum, written down anew, over all of its three parts."""
    rest, triangles = icosphere(1)
    random = np.random.default_rng(3)
    skin = skin_tension(rest, triangles, random.uniform(100.0, 900.0, len(triangles)))
    z = rest * [1.6, 1.1, 0.7] + random.normal(scale=0.02, size=rest.shape)
    stretches = np.linalg.svd((skin.matrix @ z).reshape(-1, 2, 3), compute_uv=False)
    assert (stretches > 1 + GIVE).any()
    assert (stretches < 1).any()
    way, small = random.normal(size=rest.shape), 1e-6
    slope = (huber(skin, z + small * way) - huber(skin, z - small * way)) / (2 * small)
    assert -(forces(skin, z) * way).sum() == pytest.approx(slope, rel=1e-7)


def test_a_moved_and_folded_skin_has_no_energy() -> None:
    """It neither bends nor resists where it stands."""
    rest, triangles = sheet()
    skin = skin_tension(rest, triangles, np.full(len(triangles), K))
    folded = np.where(rest[:, :1] > 0.7, [1.4, 0.0, 0.0] + rest * [-1.0, 1.0, 1.0], rest)
    for shape in (rest, folded):
        moved = shape @ Rotation.from_rotvec([0.4, -2.0, 1.1]).as_matrix().T + [3.0, -1.0, 2.0]
        assert energy(skin, moved) < 1e-20 * K


def test_slivers_and_skin_without_tension_are_left_out() -> None:
    """A triangle 0.5 mm high would enter the matrix with four million times its tension."""
    rest = np.array([[0.0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.05, -5e-4, 0]])
    triangles = np.array([[0, 1, 2], [1, 0, 3], [0, 1, 2]])
    skin = skin_tension(rest, triangles, np.array([K, K, 0.0]))
    assert skin.triangles.tolist() == [[0, 1, 2]]


def test_compiled_pulls_are_those_of_the_reference() -> None:
    """All vertices but the last five free; float32 sums of forces up to 1 kN."""
    rest, triangles = icosphere(2)
    random = np.random.default_rng(4)
    skin = skin_tension(rest, triangles, random.uniform(100.0, 900.0, len(triangles)))
    free = len(rest) - 5
    for scale in ([1.6, 1.1, 0.7], [1.2, 1.2, 1.2], [0.5, 0.5, 0.5]):
        z = rest * scale + random.normal(scale=0.02, size=rest.shape)
        found, count = np.zeros((free + 1, 3), np.float32), len(skin.triangles)
        given = skin.triangles, skin.inverse_edges, skin.weights[::2], z, found
        pull_skin(*given, 0, count // 3)
        pull_skin(*given, count // 3, count)
        expected = forces(skin, z)[:free]
        np.testing.assert_allclose(
            found[:-1], expected, atol=1e-6 * max(1.0, np.abs(expected).max())
        )


def test_pulls_on_a_device_are_those_of_the_reference() -> None:
    """Float32 stretches, 1e-7 of 1, times the largest tension over the least height."""
    rest, triangles = icosphere(2)
    random = np.random.default_rng(5)
    skin = skin_tension(rest, triangles, random.uniform(100.0, 900.0, len(triangles)))
    free = len(rest) - 5
    seen = tension_of(SkinElements(skin.triangles, skin.inverse_edges, skin.weights[::2]), free)
    z = rest * [1.6, 1.1, 0.7] + random.normal(scale=0.02, size=rest.shape)
    found = skin_forces(seen, jnp.asarray(z.T[..., None], jnp.float32))
    expected = forces(skin, z)[:free]
    np.testing.assert_allclose(found[..., 0].T, expected, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize("integrator", ["bdf2", "static"])
def test_steps_in_skin_are_those_of_the_reference(integrator: str) -> None:
    """Float32 rounding over 30 steps, as of flesh alone (`test_gpu_solver`); without its skin the
    bar hangs millimetres lower, so that the tolerance would see it missing."""
    rule, system = StepRule(1 / 120, 5, 5.0, integrator), covered()
    expected = shaken(ReferenceSolver(system, rule)).positions
    plain = replace(system, constraints=system.constraints[:1])
    assert np.abs(shaken(CpuSolver(plain, rule)).positions - expected).max() > 2e-3
    assert np.abs(shaken(CpuSolver(system, rule)).positions - expected).max() < 5e-6
    assert np.abs(shaken(GpuSolver(system, rule, REST)).positions - expected).max() < 5e-6


def test_the_matrix_of_a_device_is_that_of_the_system() -> None:
    """κ M + s Qᵀ W Q with both kinds of rows, from float32 elements."""
    system = covered()
    order = np.concatenate([system.free, np.flatnonzero(system.anchored)])
    found = system_matrix(elements_of(system, order), 2.0, len(order), 1.5)
    expected = system.matrix(2.0, 1.5)
    assert abs(found - expected).max() < 1e-6 * abs(expected).max()


def test_breasts_keep_their_own_modulus() -> None:
    """The share of tension is 0 where a breast stands out most, and 1 on everything else."""
    template = load_default_body().template
    mesh, labels = template.mesh, np.asarray(template.part_labels)
    names = np.array(template.part_names)[labels]
    breast = np.char.find(names, "breast") >= 0
    vertices = np.array(mesh.vertices, np.float64)
    for side in (-1.0, 1.0):
        own = breast & (np.sign(vertices[:, 0]) == side)
        away = np.linalg.norm(vertices[own] - vertices[own].mean(axis=0), axis=1)
        vertices[own, 2] += 0.08 * np.cos(0.5 * np.pi * np.minimum(away / away.max(), 1.0))
    share = skin_share(template, Mesh(vertices, mesh.triangles), labels)
    assert share[~breast].min() == 1.0
    assert share[breast].min() == 0.0
    assert share[breast].max() <= 1.0
