"""Volume kept by smooth pressures."""

from dataclasses import replace

import numpy as np
import pytest
from limbs import limb
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.transform import Rotation

from corporeal.errors import InputError
from corporeal.physics.fast_projective_skinning.flesh_system import flesh_system
from corporeal.physics.materials import Material
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.integration import State, StepRule, resting
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System
from corporeal.physics.volume_preservation.reference import (
    VolumePreservation,
    prism_slopes,
    prism_volumes,
    volume_preservation,
)
from corporeal.physics.volume_preservation.regions import smooth_regions
from corporeal.physics.volumetric_mesh.model import VolumetricModel, build_volumetric_model

RATIO = 50.0


def tube_system(ratio: float = RATIO) -> tuple[VolumetricModel, System]:
    """A tube of radius 5 cm around three joints; gravity off, so that rest is unstressed."""
    mesh, skeleton = limb(rings=15, around=12)
    model = build_volumetric_model(mesh, skeleton)
    return model, flesh_system(model, Material(1e4, 1000.0, 5.0), np.zeros(3), volume=ratio)


def kept_of(system: System) -> VolumePreservation:
    assert system.volume_preservation is not None
    return system.volume_preservation


def random_prisms(count: int) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(count, 6, 3))


def test_a_right_prism_has_the_volume_of_its_base_times_its_height() -> None:
    skin = np.array([[0.0, 0.0, 3.0], [2.0, 0.0, 3.0], [0.0, 1.0, 3.0]])
    inner = skin - [0.0, 0.0, 3.0]
    volume = prism_volumes(np.concatenate([skin, inner])[None])
    np.testing.assert_allclose(volume, [3.0], rtol=1e-14)


def test_a_cut_cone_has_its_volume() -> None:
    """Inner triangle half as large, parallel: V = h A (1 + 1/2 + 1/4)/3."""
    skin = np.array([[0.0, 0.0, 3.0], [2.0, 0.0, 3.0], [0.0, 1.0, 3.0]])
    inner = 0.5 * skin
    volume = prism_volumes(np.concatenate([skin, inner])[None])
    np.testing.assert_allclose(volume, [1.5 * 1.75 / 3.0], rtol=1e-14)


def test_prisms_with_straight_sides_tile_a_closed_skin() -> None:
    """Neighbours share their ruled sides: the sum is what lies between skin and inner surface,
    which sums of signed cones give too."""
    model, _ = tube_system()
    rest = np.asarray(model.vertices)
    moved = rest + 2e-3 * np.random.default_rng(1).normal(size=rest.shape)
    triangles = np.asarray(model.triangles)
    prisms = np.concatenate([triangles, triangles + model.vertex_count], axis=1)

    def cones(corners: np.ndarray) -> float:
        return float(np.linalg.det(corners).sum() / 6.0)

    between = cones(moved[triangles]) - cones(moved[triangles + model.vertex_count])
    np.testing.assert_allclose(prism_volumes(moved[prisms]).sum(), between, rtol=1e-12)


def test_slopes_are_those_of_the_volume() -> None:
    """V is cubic in the corners: central differences are exact to h²."""
    corners, step = random_prisms(3), 1e-4
    slopes = prism_slopes(corners)
    for corner in range(6):
        for axis in range(3):
            moved = np.zeros(corners.shape)
            moved[:, corner, axis] = step
            change = prism_volumes(corners + moved) - prism_volumes(corners - moved)
            np.testing.assert_allclose(
                slopes[:, corner, axis], change / (2 * step), rtol=1e-6, atol=1e-7
            )


def test_pressures_exert_no_net_force_or_torque() -> None:
    """Volumes do not change when all is moved or turned: Σ f = 0 and Σ z × f = 0."""
    _, system = tube_system()
    kept = kept_of(system)
    pressures = np.random.default_rng(2).normal(size=kept.region_count)
    moved = kept.rest + 1e-3 * np.random.default_rng(3).normal(size=kept.rest.shape)
    force = kept.forces(moved, pressures)
    scale = np.abs(force).sum()
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-12 * scale)
    np.testing.assert_allclose(np.cross(moved, force).sum(axis=0), 0.0, atol=1e-12 * scale)


def test_torn_flesh_is_not_blown_up() -> None:
    """Slopes grow with the square of the size, but forces stop at three times those at rest."""
    _, system = tube_system()
    kept = kept_of(system)
    one = np.ones(kept.region_count)
    at_rest = np.abs(kept.forces(kept.rest, one)).max()
    doubled = np.abs(kept.forces(1.5 * kept.rest, one)).max()
    torn = np.abs(kept.forces(100.0 * kept.rest, one)).max()
    np.testing.assert_allclose(doubled, 2.25 * at_rest, rtol=1e-9)
    np.testing.assert_allclose(torn, 3.0 * at_rest, rtol=1e-9)


def test_rest_and_what_is_turned_need_no_pressure() -> None:
    model, system = tube_system()
    kept = kept_of(system)
    turned = kept.rest @ Rotation.from_rotvec([0.3, -1.0, 0.4]).as_matrix().T + 2.0
    np.testing.assert_allclose(kept.volumes(turned), kept.rest_volumes, rtol=1e-9)
    solver = CpuSolver(system, StepRule(1 / 120, 5, 5.0))
    state = resting(kept.rest, 1 / 120)
    for _ in range(5):
        state = solver.step(state, kept.rest[system.anchored])
    assert state.pressures is not None
    assert np.abs(state.pressures).max() < 1e-2  # of 10⁴ Pa: float32
    np.testing.assert_allclose(state.positions, kept.rest, atol=1e-7)
    assert model.vertex_count > 0


def squeezed(system: System, solver: CpuSolver | ReferenceSolver, rounds: int) -> State:
    """Static balance around bones that grew by a tenth in width."""
    kept = kept_of(system)
    grown = kept.rest[system.anchored] * [1.1, 1.0, 1.1]
    state = resting(kept.rest, 1.0)
    for _ in range(rounds):
        state = solver.step(state, grown)
    return state


def test_balance_obeys_the_bulk_modulus() -> None:
    """In balance p = B (v⁰ − v)/v⁰ in every region, and little volume is lost; without pressures
    a good deal is."""
    _, system = tube_system()
    kept = kept_of(system)
    state = squeezed(system, CpuSolver(system, StepRule(1.0, 10, 0.0, "static")), 30)
    lost = kept.rest_volumes - kept.volumes(state.positions)
    assert state.pressures is not None
    np.testing.assert_allclose(
        state.pressures,
        RATIO * kept.stiffness * lost / kept.rest_volumes,
        atol=1e-3 * np.abs(state.pressures).max(),
    )
    loose = System(system.masses, system.anchored, system.constraints)
    grown = kept.rest[system.anchored] * [1.1, 1.0, 1.1]
    other = CpuSolver(loose, StepRule(1.0, 300, 0.0, "static")).step(resting(kept.rest, 1.0), grown)
    without = kept.rest_volumes - kept.volumes(other.positions)
    assert np.abs(lost).sum() < 0.1 * np.abs(without).sum()


def test_a_settled_shape_does_not_depend_on_the_number_of_iterations() -> None:
    _, system = tube_system()
    ends = [
        squeezed(system, CpuSolver(system, StepRule(1.0, count, 0.0, "static")), 400 // count)
        for count in (4, 20)
    ]
    np.testing.assert_allclose(ends[0].positions, ends[1].positions, atol=2e-6)


def test_pressures_are_compiled_as_they_are_read() -> None:
    """Sixty steps of a shaken tube: the compiled solver against the reference."""
    model, system = tube_system()
    kept = kept_of(system)
    ends = []
    for solver in (ReferenceSolver, CpuSolver):
        stepping, state = solver(system, StepRule(1 / 120, 5, 5.0)), resting(kept.rest, 1 / 120)
        for step in range(60):
            wide = 1.0 + 0.1 * np.sin(0.2 * step)
            state = stepping.step(state, kept.rest[system.anchored] * [wide, 1.0, wide])
        ends.append(state)
    assert np.abs(ends[0].positions - kept.rest).max() > 2e-3
    assert np.abs(ends[0].pressures).max() > 100.0
    np.testing.assert_allclose(ends[1].positions, ends[0].positions, atol=1e-5)
    np.testing.assert_allclose(
        ends[1].pressures, ends[0].pressures, atol=1e-3 * np.abs(ends[0].pressures).max()
    )
    assert model.vertex_count > 0


def test_a_triangle_in_one_place_pushes_nothing() -> None:
    """A prism whose corners coincide has no slope at rest, so no limit to it either: the compiled
    solver goes where the one without it goes."""
    _, system = tube_system()
    kept = kept_of(system)
    point = np.repeat(kept.prisms[:1, [0, 3]], 3, axis=1)
    doubled = replace(
        system, volume_preservation=replace(kept, prisms=np.append(kept.prisms, point, 0))
    )
    ends = []
    for given in (system, doubled):
        stepping, state = CpuSolver(given, StepRule(1 / 120, 5, 5.0)), resting(kept.rest, 1 / 120)
        for _ in range(5):
            state = stepping.step(state, kept.rest[system.anchored] * [1.1, 1.0, 1.0])
        ends.append(state.positions)
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-6)


def test_free_inner_vertices_are_pushed_too() -> None:
    """Around a virtual bone inner vertices move: both solvers push them, and nothing pulls the
    whole along."""
    mesh, skeleton = limb(rings=15, around=12)
    model = build_volumetric_model(mesh, skeleton, virtual_bones=("last",))
    assert model.free_inner.any()
    system = flesh_system(model, Material(1e4, 1000.0, 5.0), np.zeros(3), volume=RATIO)
    rest, ends = np.asarray(model.vertices), []
    for solver in (ReferenceSolver, CpuSolver):
        stepping, state = solver(system, StepRule(1 / 120, 5, 5.0)), resting(rest, 1 / 120)
        for _ in range(10):
            state = stepping.step(state, rest[system.anchored] * [1.1, 1.0, 1.0])
        ends.append(state.positions)
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-5)


def test_regions_overlap_smoothly_and_leave_nothing_out() -> None:
    """Shares sum to 1, every region is in one piece, and neighbours differ little."""
    mesh, skeleton = limb()
    model = build_volumetric_model(mesh, skeleton)
    shares = smooth_regions(model, share=0.15).toarray()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    assert 4 <= shares.shape[1] <= 30
    triangles = np.asarray(model.triangles)
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    apart = np.abs(shares[edges[:, 0]] - shares[edges[:, 1]]).max()
    assert apart < 0.5
    for region in shares.T:
        inside = region > 0
        kept = edges[inside[edges].all(axis=1)]
        graph = csr_array((np.ones(len(kept)), kept.T), shape=(len(region), len(region)))
        pieces = connected_components(graph, directed=False)[1][inside]
        assert len(np.unique(pieces)) == 1


def test_pressures_of_another_body_are_refused() -> None:
    _, system = tube_system()
    kept = kept_of(system)
    state = resting(kept.rest, 1 / 120, pressures=np.zeros(kept.region_count + 1))
    for solver in (ReferenceSolver, CpuSolver):
        with pytest.raises(InputError, match="regions"):
            solver(system, StepRule(1 / 120)).step(state, kept.rest[system.anchored])


def test_regions_without_flesh_and_ratios_of_nothing_are_refused() -> None:
    _, system = tube_system()
    kept = kept_of(system)
    strain = system.constraints[0]
    empty = csr_array(kept.shares.shape)
    with pytest.raises(InputError, match="hold no flesh"):
        volume_preservation(strain, kept.rest, kept.prisms, empty, RATIO)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="above 0"):
        VolumePreservation(kept.prisms, kept.shares, kept.rest, kept.stiffness, 0.0)


def test_pressures_change_little_at_once_and_stay_bounded() -> None:
    """However much is lacking: 0.3 of the stiffness in one correction, 5 times it in the end."""
    _, system = tube_system()
    kept = kept_of(system)
    pressures, gain = np.zeros(kept.region_count), 1e15 * np.eye(kept.region_count)
    left = kept.rest_volumes - 0.09 * kept.sizes
    once = kept.corrected(pressures, left, gain, moving=True)
    np.testing.assert_allclose(once, 0.3 * kept.stiffness, rtol=1e-12)
    for _ in range(200):  # as much lacks whatever the pressure
        pressures = kept.corrected(pressures, left - kept.compliances * pressures, gain, True)
    np.testing.assert_allclose(pressures, 5.0 * kept.stiffness, rtol=1e-12)


def test_a_torn_region_leaves_the_pressures_of_others_alone() -> None:
    """Where a fifth of a region's volume is gone, it counts as a tenth of its size, and where two
    fifths are, its own pressure is released; with a gain that couples nothing, the pressures of the
    other regions, in balance, stay as they are. Where more than half is gone, all are released."""
    _, system = tube_system()
    kept = kept_of(system)
    pressures = np.full(kept.region_count, 1000.0)
    volumes = kept.rest_volumes - kept.compliances * pressures  # in balance
    volumes[0] -= 0.2 * kept.sizes[0]
    steps = 0.01 * kept.stiffness / kept.sizes  # of pressure a volume: below the largest change
    corrected = kept.corrected(pressures, volumes, np.diag(steps), moving=True)
    np.testing.assert_allclose(corrected[1:], pressures[1:], rtol=1e-12)
    np.testing.assert_allclose(corrected[0], 1000.0 + 0.1 * 0.01 * kept.stiffness[0], rtol=1e-12)
    volumes[0] -= 0.2 * kept.sizes[0]
    corrected = kept.corrected(pressures, volumes, np.diag(steps), moving=True)
    np.testing.assert_allclose(corrected[1:], pressures[1:], rtol=1e-12)
    assert corrected[0] == 0.0
    volumes[0] -= 0.2 * kept.sizes[0]
    assert not kept.corrected(pressures, volumes, np.diag(steps), moving=True).any()


def test_flesh_much_softer_than_its_region_is_pressed_in_proportion() -> None:
    """A region over two elements of one shape, of 1 and 16 kPa: the soft one is below a quarter of
    their mean of 8.5, so that its share is 4/8.5; the region is as stiff as both in series."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    rest = np.concatenate([corners, corners + np.array([5.0, 0.0, 0.0])])
    tetrahedra = np.arange(8).reshape(2, 4)
    strain = strain_constraint(rest, tetrahedra, np.array([1e3, 16e3]))
    shares = csr_array(np.ones((8, 1)))
    kept = volume_preservation(strain, rest, np.zeros((0, 6), np.int64), shares, RATIO)
    soft = 4.0 / 8.5
    np.testing.assert_allclose(kept.shares.toarray()[:, 0], np.repeat([soft, 1.0], 4), rtol=1e-12)
    np.testing.assert_allclose(kept.stiffness, [(soft + 1.0) / (soft / 1e3 + 1.0 / 16e3)])


def test_a_static_jump_keeps_the_volume_that_small_steps_keep() -> None:
    """A joint bent by 2 rad at once takes more than a tenth from a region, which is no tear: static
    balance is the same whatever the way to it."""
    _, system = tube_system()
    kept = kept_of(system)
    solver = CpuSolver(system, StepRule(1.0, 10, 0.0, "static"))

    def bent(angle: float) -> np.ndarray:
        turn = Rotation.from_rotvec([angle, 0.0, 0.0]).as_matrix()
        middle = 0.5 * (kept.rest[:, 1].min() + kept.rest[:, 1].max())
        up = np.clip((kept.rest[:, 1] - middle) / 0.02 + 0.5, 0.0, 1.0)[:, None]
        turned = (kept.rest - [0.0, middle, 0.0]) @ turn.T + [0.0, middle, 0.0]
        return ((1.0 - up) * kept.rest + up * turned)[system.anchored]

    ends = []
    for ways in (1, 20):
        state = resting(kept.rest, 1.0)
        for way in range(1, ways + 1):
            state = solver.step(state, bent(2.0 * way / ways))
        for _ in range(80):
            state = solver.step(state, bent(2.0))
        ends.append(state)
    lost = kept.rest_volumes - kept.volumes(ends[0].positions)
    assert (lost < 0.1 * kept.sizes).all()
    assert np.abs(ends[0].pressures).max() > 0.1 * kept.stiffness.min()
    np.testing.assert_allclose(ends[0].positions, ends[1].positions, atol=1e-5)
