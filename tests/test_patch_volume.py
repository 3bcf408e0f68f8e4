"""Volume kept patch by patch."""

import numpy as np
from limbs import limb
from scipy.spatial.transform import Rotation

from corporeal.physics.projective_dynamics.constraints.patch_volume import (
    OVER_RELAXED,
    patch_volume_constraint,
)
from corporeal.physics.projective_dynamics.constraints.strain import strain_constraint
from corporeal.physics.projective_dynamics.fast import CpuSolver
from corporeal.physics.projective_dynamics.integration import StepRule, resting
from corporeal.physics.projective_dynamics.reference import ReferenceSolver
from corporeal.physics.projective_dynamics.system import System, tetrahedral_masses
from corporeal.physics.volume.model import build_volumetric_model
from corporeal.physics.volume.patches import skin_patches


def prism_system():
    """A short tube around three joints, and the volume of its prisms, thirty times as stiff."""
    mesh, skeleton = limb(rings=15, around=12)
    model = build_volumetric_model(mesh, skeleton)
    rest = np.asarray(model.vertices)
    strain = strain_constraint(rest, model.tetrahedra, 1e4)
    return (
        model,
        rest,
        strain,
        patch_volume_constraint(strain, rest, model.tetrahedron_triangles, 30.0),
    )


def test_prisms_at_rest_and_turned_keep_their_volume() -> None:
    _, rest, _, kept = prism_system()
    turned = rest @ Rotation.from_rotvec([0.3, -1.0, 0.4]).as_matrix().T + 2.0
    values = kept.matrix @ turned
    np.testing.assert_allclose(kept.project(values), values, atol=1e-9)


def test_a_prism_pressed_evenly_is_pulled_back_to_its_volume() -> None:
    """F = s·1: det F = s³ and ‖cof F‖² = 3 s⁴, so p = s + 1.8 (1 − s³)/(3 s²), for s near 1."""
    _, rest, _, kept = prism_system()
    for s in (0.95, 1.05):
        moved = kept.project(kept.matrix @ (s * rest)).reshape(-1, 3, 3)
        expected = s + OVER_RELAXED * (1 - s**3) / (3 * s**2)
        np.testing.assert_allclose(
            moved, np.tile(expected * np.eye(3), (len(moved), 1, 1)), atol=1e-9
        )


def test_a_flattened_prism_is_not_thrown_open() -> None:
    """A pull towards the rest volume never overshoots it by much, however small the prism."""
    _, rest, _, kept = prism_system()
    for s in (0.0, 0.1, 0.3, 0.6):
        moved = kept.project(kept.matrix @ (s * rest)).reshape(-1, 3, 3)
        assert np.linalg.det(moved).max() < 1.8


def test_prisms_are_compiled_as_they_are_read() -> None:
    """Sixty steps of a shaken tube: the compiled solver's prisms against the reference's."""
    model, rest, strain, kept = prism_system()
    anchored = np.arange(len(rest)) >= model.vertex_count
    system = System(tetrahedral_masses(rest, model.tetrahedra, 1000.0), anchored, (strain, kept))
    ends = []
    for solver in (ReferenceSolver, CpuSolver):
        rule, state = StepRule(1 / 120, 5, 5.0), resting(rest, 1 / 120)
        stepping = solver(system, rule)
        for step in range(60):
            anchors = rest[anchored] * [1.0, 1.0 + 0.1 * np.sin(0.2 * step), 1.0]
            state = stepping.step(state, anchors)
        ends.append(state.positions)
    assert np.abs(ends[0] - rest).max() > 0.01
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-5)


def test_patches_are_of_one_size_and_one_side() -> None:
    """A tube of 5 cm radius and 1 m: no triangle is further from its patch's middle than the patch
    size, and no patch reaches round to the other side."""
    mesh, _ = limb()
    patches = skin_patches(mesh.vertices, mesh.triangles, share=0.06)
    centres = mesh.vertices[mesh.triangles].mean(axis=1)
    assert 30 < patches.max() + 1 < 400
    for patch in range(patches.max() + 1):
        own = centres[patches == patch]
        assert len(own) > 0
        assert np.linalg.norm(own - own.mean(axis=0), axis=1).max() < 0.06


def test_one_place_is_one_patch() -> None:
    corners = np.zeros((3, 3))
    assert skin_patches(corners, np.array([[0, 1, 2]])).tolist() == [0]
