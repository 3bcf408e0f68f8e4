"""Untangling: elements are pushed open as little as it takes, the same way by every engine."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from abstract_gpu import an_h200

from corporeal.errors import InputError, SolverError
from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.fast_projective_skinning import flesh_system
from corporeal.physics.solver.constraints.strain import StrainConstraint, strain_constraint
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.gpu.contacts import ContactRows, contact_rows
from corporeal.physics.solver.gpu.elements import elements_of, flesh_of
from corporeal.physics.solver.gpu.solver import GpuSolver
from corporeal.physics.solver.integration import StepRule, resting
from corporeal.physics.solver.membrane import Membrane, membrane_of
from corporeal.physics.solver.prestress import balancing_stress
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System
from corporeal.physics.untangling.cpu import CompiledUntangling
from corporeal.physics.untangling.gpu import asked_apart, pulled, swept, untangle
from corporeal.physics.untangling.gpu_kernels import kernel_swept
from corporeal.physics.untangling.reference import (
    LARGEST_MOVE,
    LEAST_SHARE,
    MOST_PUSHES,
    OPENED_SHARE,
    PULLED_TO,
    VIOLATED,
    untangling_of,
    volume_slopes,
)
from corporeal.physics.volumetric_mesh.prisms import signed_volumes, split_prisms

SIDE = 7
"""Vertices along a side of the slab."""


def slab() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A slab of flesh, 6 cm wide and 1 cm thick, on a plane: points, tetrahedra, anchored below."""
    u, v = np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")
    flat = np.stack([u.ravel(), np.zeros(SIDE**2), -v.ravel()], axis=1) * 0.01
    skin = flat + np.array([0.0, 0.01, 0.0])
    tetrahedra, _ = split_prisms(slab_skin(), len(skin))
    points = np.concatenate([skin, flat])
    volumes = signed_volumes(points, tetrahedra)
    assert (volumes > 0).all()
    return points, tetrahedra, np.arange(len(points)) >= len(skin)


def slab_skin() -> np.ndarray:
    """The triangles of its upper side."""
    corner = (np.arange(SIDE - 1)[:, None] * SIDE + np.arange(SIDE - 1)).ravel()
    a, b, c, d = corner, corner + SIDE, corner + SIDE + 1, corner + 1
    return np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


def with_skin(system: System, points: np.ndarray) -> System:
    """The same flesh with its upper side as a membrane."""
    strain = system.constraints[0]
    assert isinstance(strain, StrainConstraint)
    return replace(system, membrane=membrane_of(points, slab_skin(), strain, system.anchored))


def slab_system(untangled: bool = True) -> tuple[System, np.ndarray]:
    points, tetrahedra, anchored = slab()
    strain = strain_constraint(points, tetrahedra, 1e4)
    masses = np.where(anchored, 0.0, 1e-3)
    return System(masses, anchored, (strain,), untangled=untangled), points


def tangled(points: np.ndarray, anchored: np.ndarray, seed: int) -> np.ndarray:
    """Free vertices shaken by half the slab's thickness: many elements are inside out."""
    shaken = points + np.random.default_rng(seed).normal(0, 5e-3, points.shape)
    return np.where(anchored[:, None], points, shaken)


def free_first(system: System) -> np.ndarray:
    """The order that the compiled solver keeps vertices in."""
    return np.concatenate([system.free, np.flatnonzero(system.anchored)])


def shares(system: System, points: np.ndarray, positions: np.ndarray) -> np.ndarray:
    (strain,) = system.constraints
    volumes = signed_volumes(points, strain.tetrahedra)
    return signed_volumes(positions, strain.tetrahedra) / volumes


def test_slopes_are_those_of_differences():
    corners = np.random.default_rng(0).normal(size=(4, 3))
    element, step = np.arange(4)[None], 1e-6
    for k in range(4):
        for c in range(3):
            ahead, back = corners.copy(), corners.copy()
            ahead[k, c] += step
            back[k, c] -= step
            slope = (signed_volumes(ahead, element) - signed_volumes(back, element))[0] / (2 * step)
            assert volume_slopes(corners[None])[0, k, c] == pytest.approx(slope, abs=1e-8)


def test_one_corner_moves_straight_up_to_the_limit():
    """A corner below a fixed face is lifted along the normal until the share is ε⁺."""
    points = np.array([[0.0, 0, 0], [0.01, 0, 0], [0, 0.01, 0], [0.002, 0.003, 0.01]])
    strain = strain_constraint(points, np.arange(4)[None], 1e4)
    system = System(np.ones(4), np.array([True, True, True, False]), (strain,), untangled=True)
    untangling = untangling_of(system)
    assert untangling is not None
    below = points.copy()
    below[3] = [0.002, 0.003, -0.004]
    untangling.untangle(below)
    assert len(untangling.small(below)) == 0
    np.testing.assert_allclose(below[3], [0.002, 0.003, OPENED_SHARE * 0.01], atol=1e-12)
    np.testing.assert_array_equal(below[:3], points[:3])


@pytest.mark.parametrize("seed", range(4))
def test_all_elements_are_opened_and_the_compiled_pass_moves_the_same(seed: int):
    system, points = slab_system()
    start = tangled(points, system.anchored, seed)
    assert (shares(system, points, start) < 0).sum() > 20
    untangling = untangling_of(system)
    assert untangling is not None
    by_reference, order = (
        start.copy(),
        np.concatenate([system.free, np.flatnonzero(system.anchored)]),
    )
    left = untangling.untangle(by_reference)
    assert (shares(system, points, by_reference) >= LEAST_SHARE * (1 - 1e-9)).all()
    compiled = CompiledUntangling(untangling, np.argsort(order), len(system.free))
    z = start[order].copy()
    assert compiled.untangle(z) == left < MOST_PUSHES
    # the same pushes in another order of sums: rounding alone is between them
    np.testing.assert_allclose(z[np.argsort(order)], by_reference, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_pushes_violate_no_contact(seed: int):
    """Vertices that may not go further down than they are, and one that is below already: none goes
    down by more than `VIOLATED`, where without contacts some go by millimetres; the compiled pass
    does the same."""
    system, points = slab_system()
    start = tangled(points, system.anchored, seed)
    untangling, order = untangling_of(system), free_first(system)
    assert untangling is not None
    alone = start.copy()
    untangling.untangle(alone)
    chosen = system.free[np.argsort((alone - start)[system.free, 2])[:5]]
    assert (alone - start)[chosen, 2].max() < -5 * VIOLATED
    count = len(chosen)
    contacts = Contacts(
        np.repeat(chosen[:, None], 4, axis=1),
        np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
        np.tile([0.0, 0.0, 1.0], (count, 1)),
        start[chosen, 2] + np.array([0.0, 0.0, 0.0, 0.0, 0.01]),
        np.full(count, 1e6),
        np.zeros(count, bool),
    )
    by_reference, z = start.copy(), start[order].copy()
    left = untangling.untangle(by_reference, contacts=contacts)
    assert ((by_reference - start)[chosen, 2] > -1.01 * VIOLATED).all()
    compiled = CompiledUntangling(untangling, np.argsort(order), len(system.free))
    rows = (
        np.argsort(order)[contacts.vertices].astype(np.int32),
        contacts.coefficients,
        contacts.normals,
        contacts.offsets,
    )
    assert compiled.untangle(z, rows=rows) == left
    np.testing.assert_allclose(z[np.argsort(order)], by_reference, atol=1e-9)


def test_a_long_edge_is_pulled_in_to_its_limit():
    """A corner that hangs on one edge, three times as far away as at rest, comes back along it."""
    points = np.array([[0.0, 0, 0], [0.01, 0, 0], [0, 0.01, 0], [0.002, 0.003, 0.01]])
    strain = strain_constraint(points, np.arange(4)[None], 1e4)
    length = np.linalg.norm(points[[3]] - points[[0]], axis=1)
    membrane = Membrane(np.array([[0, 3]]), length, np.zeros(4))
    anchored = np.array([True, True, True, False])
    system = System(np.ones(4), anchored, (strain,), untangled=True, membrane=membrane)
    untangling = untangling_of(system)
    assert untangling is not None
    far = points.copy()
    far[3] *= 3.0
    untangling.untangle(far, last=False)
    np.testing.assert_array_equal(far[3], 3.0 * points[3])  # only what ends a step limits stretch
    untangling.untangle(far)
    np.testing.assert_allclose(far[3], PULLED_TO * points[3], atol=1e-12)
    np.testing.assert_array_equal(far[:3], points[:3])


@pytest.mark.parametrize("seed", range(4))
def test_long_edges_become_short_and_the_compiled_pass_moves_the_same(seed: int):
    """Of a shaken and bulging slab; its contacts, one of them violated by a centimetre, are not
    violated by a millimetre more."""
    system, points = slab_system()
    system = with_skin(system, points)
    untangling, start = untangling_of(system), tangled(points, system.anchored, seed)
    assert untangling is not None
    start[system.free, 1] += np.random.default_rng(seed).uniform(0.0, 0.02, len(system.free))
    assert len(untangling.long(start)) > 20
    contacts, _ = contact_of_lowest(system, start)
    by_reference, order = start.copy(), free_first(system)
    untangling.untangle(by_reference, contacts=contacts)
    assert len(untangling.long(by_reference)) < 0.1 * len(untangling.long(start))
    assert (contacts.gaps(by_reference) > np.minimum(contacts.gaps(start), 0.0) - 1e-3).all()
    compiled = CompiledUntangling(untangling, np.argsort(order), len(system.free))
    rows = (
        np.argsort(order)[contacts.vertices].astype(np.int32),
        contacts.coefficients,
        contacts.normals,
        contacts.offsets,
    )
    z = start[order].copy()
    compiled.untangle(z, rows=rows)
    # the same pulls in another order of sums: rounding alone is between them
    np.testing.assert_allclose(z[np.argsort(order)], by_reference, atol=1e-8)


@pytest.mark.parametrize("seed", range(2))
def test_a_device_pulls_long_edges_in_as_the_reference_does(seed: int):
    """One pull to float32 of some centimetres; a whole pass leaves under a tenth of the long edges,
    and one that does not end a step moves nothing."""
    system, points = slab_system()
    system = with_skin(system, points)
    untangling, start = untangling_of(system), points.copy()
    assert untangling is not None
    start[system.free, 1] += np.random.default_rng(seed).uniform(0.0, 0.05, len(system.free))
    order, free = free_first(system), len(system.free)
    flesh = flesh_of(elements_of(system, order))
    z = jnp.asarray(start[order].T[..., None], jnp.float32)
    moved, ends = pulled(flesh, z[:, :free], z[:, free:])
    once = start.copy()
    asked = untangling._asked_together(once, untangling.long(once), PULLED_TO * untangling.lengths)
    untangling._move(asked, once, 1.0, None)
    assert int(ends) >= len(untangling.long(start)) > 20
    np.testing.assert_allclose(moved[..., 0].T, once[system.free], atol=1e-7)
    ended = start.copy()
    ended[system.free] = untangle(flesh, z[:, :free], z[:, free:], True, swept)[..., 0].T
    assert len(untangling.long(ended)) < 0.1 * len(untangling.long(start))


def test_sound_flesh_is_left_alone():
    system, points = slab_system()
    untangling = untangling_of(system)
    assert untangling is not None
    order = np.concatenate([system.free, np.flatnonzero(system.anchored)])
    z = points[order].copy()
    compiled = CompiledUntangling(untangling, np.argsort(order), len(system.free))
    assert compiled.untangle(z) == MOST_PUSHES
    np.testing.assert_array_equal(z, points[order])


def test_a_budget_ends_the_pushes():
    """A budget of one push takes one sweep, the same one in both engines; none is taken without."""
    system, points = slab_system()
    start = tangled(points, system.anchored, seed=0)
    untangling, order = untangling_of(system), free_first(system)
    assert untangling is not None
    once, z = start.copy(), start[order].copy()
    untangling._sweep(untangling.small(once), once)
    compiled = CompiledUntangling(untangling, np.argsort(order), len(system.free))
    assert compiled.untangle(z, budget=1) == 1 - len(untangling.small(start))
    np.testing.assert_allclose(z[np.argsort(order)], once, atol=1e-12)
    by_reference = start.copy()
    untangling.untangle(by_reference, budget=1)
    np.testing.assert_array_equal(by_reference, once)
    assert compiled.untangle(z, budget=0) == 0
    np.testing.assert_allclose(z[np.argsort(order)], once, atol=1e-12)


def test_a_vertex_never_jumps():
    """However deep an element is inside out, one push moves no corner further than allowed."""
    points = np.array([[0.0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    strain = strain_constraint(points, np.arange(4)[None], 1e4)
    system = System(np.ones(4), np.array([True, True, True, False]), (strain,), untangled=True)
    untangling = untangling_of(system)
    assert untangling is not None
    deep = points.copy()
    deep[3, 2] = -0.1
    z = deep.copy()
    untangling._sweep(np.array([0]), z)
    assert np.linalg.norm(z - deep, axis=1).max() == pytest.approx(LARGEST_MOVE)


@pytest.mark.parametrize("integrator", ["bdf2", "static"])
def test_pressed_flesh_stays_right_side_out(integrator):
    """Forces that press skin through the floor turn plain flesh far inside out, many times over;
    untangled, the worst element is at most flat, to a twentieth of its volume."""
    rule = StepRule(1 / 120, 10, 10.0, integrator)
    row, column = np.divmod(np.arange(SIDE**2), SIDE)
    pressed = np.flatnonzero((abs(row - 3) <= 1) & (abs(column - 3) <= 1))
    for untangled in (False, True):
        system, points = slab_system(untangled)
        forces = np.zeros_like(points)
        forces[pressed] = [0.0, -8.0, 0.0]
        for solver in (ReferenceSolver(system, rule), CpuSolver(system, rule)):
            state = resting(points, rule.step)
            for _ in range(12):
                state = solver.step(state, points[system.anchored], forces)
            least = shares(system, points, state.positions).min()
            assert least > -0.05 if untangled else least < -1.0


@pytest.mark.parametrize("integrator", ["bdf2", "static"])
def test_flesh_beside_sleeping_contacts_ends_right_side_out(integrator):
    """It goes a small part of its way from a shape that is inside out (`solver.calming`), which by
    itself leaves elements far below 0; contacts sit where they ask for nothing."""
    rule = StepRule(1 / 120, 10, 10.0, integrator)
    system, points = slab_system()
    system = with_skin(system, points)
    start = tangled(points, system.anchored, 0)
    chosen = system.free
    count = len(chosen)
    contacts = Contacts(
        np.repeat(chosen[:, None], 4, axis=1),
        np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
        np.tile([0.0, 1.0, 0.0], (count, 1)),
        np.full(count, -1.0),
        np.full(count, 1e6),
        np.zeros(count, bool),
        rates=np.zeros(count),
    )
    assert shares(system, points, start).min() < -1.0
    ends = []
    for solver in (ReferenceSolver(system, rule), CpuSolver(system, rule)):
        state = resting(start, rule.step)
        ends.append(solver.step(state, points[system.anchored], contacts=contacts).positions)
        assert shares(system, points, ends[-1]).min() >= 0.9 * LEAST_SHARE
    # solved in single and in double precision, over 6 cm
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-5)


def test_attachments_draw_as_springs_do():
    """A free vertex between a spring and a force: k (t − x) + f = 0, by both solvers."""
    points, tetrahedra, anchored = slab()
    strain = strain_constraint(points, tetrahedra, 1e-6)  # next to nothing
    springs = np.zeros(len(points))
    chosen = SIDE**2 // 2
    springs[chosen] = 250.0
    system = System(np.where(anchored, 0.0, 1e-3), anchored, (strain,), attachments=springs)
    forces, targets = np.zeros_like(points), points + np.array([0.0, 0.0, 3e-3])
    forces[chosen] = [1.0, 0.5, 0.0]
    rule = StepRule(1.0, 20, integrator="static")
    for solver in (ReferenceSolver(system, rule), CpuSolver(system, rule)):
        state = solver.step(resting(points, 1.0), points[anchored], forces, None, None, targets)
        expected = targets[chosen] + forces[chosen] / 250.0
        np.testing.assert_allclose(state.positions[chosen], expected, atol=1e-6)


@pytest.mark.parametrize("engine", ["reference", "cpu", "gpu"])
def test_viscosity_does_not_move_loose_vertices_in_balance(engine):
    """Inner vertices on springs, drawn sideways, in static balance between springs and flesh: a
    step of moving flesh leaves them there, however viscous it is. What is held back belongs to
    where they were, not to the targets that every step begins with."""
    points, tetrahedra, below = slab()
    strain = strain_constraint(points, tetrahedra, 1e4)
    anchored = below & (points[:, 0] < 0.005)
    attachments = np.where(below & ~anchored, 250.0, 0.0)
    system = System(np.where(below, 0.0, 1e-3), anchored, (strain,), attachments=attachments)
    targets = points + np.array([4e-3, 0.0, 0.0])
    still = StepRule(1.0, 400, integrator="static")
    flat = ReferenceSolver(system, still)
    balance = flat.step(resting(points, 1.0), points[anchored], targets=targets).positions
    assert np.abs(balance - targets)[system.loose].max() > 1e-4
    rule = StepRule(1 / 120, 200, viscosity=0.02)
    solver = {
        "reference": lambda: ReferenceSolver(system, rule),
        "cpu": lambda: CpuSolver(system, rule),
        "gpu": lambda: GpuSolver(system, rule, points),
    }[engine]()
    carried = np.zeros_like(points)
    state = resting(balance, rule.step)
    state = solver.step(state, points[anchored], carried=carried, targets=targets)
    # the balance, and float32 of a slab of 6 cm; 0.25 mm before
    np.testing.assert_allclose(state.positions, balance, atol=2e-6)


def test_attachments_without_targets_are_refused():
    """By every solver, in the same words: springs that draw to nowhere would be left out."""
    points, tetrahedra, anchored = slab()
    strain = strain_constraint(points, tetrahedra, 1e4)
    attachments = np.where(anchored, 0.0, 250.0)
    system = System(np.where(anchored, 0.0, 1e-3), anchored, (strain,), attachments=attachments)
    rule = StepRule(1 / 120, 5)
    for solver in (ReferenceSolver(system, rule), CpuSolver(system, rule)):
        with pytest.raises(InputError, match="say in `targets` where they draw to"):
            solver.step(resting(points, rule.step), points[anchored])
    with pytest.raises(InputError, match="say in `targets` where they draw to"):
        GpuSolver(system, rule, points).step(resting(points, rule.step), points[anchored])


def test_loose_vertices_are_attached_and_massless():
    """Indices among all vertices; none without attachments, none that is anchored or has mass."""
    points, tetrahedra, anchored = slab()
    strain = strain_constraint(points, tetrahedra, 1e4)
    masses, attachments = np.where(anchored, 0.0, 1e-3), np.zeros(len(points))
    assert len(System(masses, anchored, (strain,)).loose) == 0
    masses[[3, 4]], attachments[[3, 5, 8, SIDE**2 + 1]] = 0.0, 250.0
    assert System(masses, anchored, (strain,), attachments=attachments).loose.tolist() == [3]


def test_weight_is_balanced_as_if_springs_were_rigid_where_anchors_cannot(monkeypatch):
    """Where the balance between anchors alone is refused, attached vertices hold the weight too:
    Qᵀ W (p − Q x) + f = 0 on those that are neither, to the tolerance of the balance."""
    points, tetrahedra, below = slab()
    weight = np.where(below, 0.0, 1e-3)[:, None] * np.array([0.0, -9.81, 0.0])
    anchored, strain = np.zeros_like(below), strain_constraint(points, tetrahedra, 1e4)
    anchored[np.flatnonzero(below)[0]] = True

    def between_few(strain, held, forces):
        if held.sum() == 1:
            raise SolverError("the weight of the rest shape could not be balanced")
        return balancing_stress(strain, held, forces)

    monkeypatch.setattr(flesh_system, "balancing_stress", between_few)
    young, attached = np.full(len(tetrahedra), 1e4), below & ~anchored
    held = flesh_system.balanced_strain(strain, points, young, anchored, attached, weight)
    values = held.matrix @ points
    pull = held.matrix.T @ (held.weights[:, None] * (held.project(values) - values))
    assert np.linalg.norm((pull + weight)[~below]) < 2e-6 * np.linalg.norm(weight)
    with pytest.raises(SolverError, match="could not be balanced"):
        flesh_system.balanced_strain(strain, points, young, anchored, ~below & below, weight)


def test_a_device_draws_attachments_as_the_reference_does():
    """Inner vertices on springs, massless, drawn sideways by 2 mm: ten steps end within float32
    (1e-5 of the slab's 6 cm)."""
    points, tetrahedra, below = slab()
    strain = strain_constraint(points, tetrahedra, 1e4)
    anchored = below & (points[:, 0] < 0.005)
    attachments = np.where(below & ~anchored, 250.0, 0.0)
    system = System(np.where(below, 0.0, 1e-3), anchored, (strain,), attachments=attachments)
    targets = points + np.array([2e-3, 0.0, 0.0])
    rule = StepRule(1 / 120, 10)
    exact, found = ReferenceSolver(system, rule), GpuSolver(system, rule, points)
    one = other = resting(points, rule.step)
    for _ in range(10):
        one = exact.step(one, points[anchored], targets=targets)
        other = found.step(other, points[anchored], targets=targets)
    assert np.abs(one.positions - points).max() > 1e-3
    np.testing.assert_allclose(other.positions, one.positions, atol=6e-7)


@pytest.mark.parametrize("anchors", [49, 7])
def test_a_kernel_sweeps_as_plain_programs_do(anchors: int):
    """One sweep over tangled flesh: the same places to float32, and the same count; as the
    reference has it."""
    points, tetrahedra, _ = slab()
    anchored = np.arange(len(points)) >= len(points) - anchors
    strain = strain_constraint(points, tetrahedra, 1e4)
    system = System(np.where(anchored, 0.0, 1e-3), anchored, (strain,), untangled=True)
    start = tangled(points, anchored, seed=3)
    order = free_first(system)
    flesh, free = flesh_of(elements_of(system, order)), len(system.free)
    rows = start[order].T.astype(np.float32)[..., None]
    plain, count = swept(flesh, rows[:, :free], rows[:, free:])
    kernel, found = kernel_swept(flesh, rows[:, :free], rows[:, free:], interpret=True)
    assert int(found) == int(count) > 50
    np.testing.assert_allclose(kernel, plain, atol=1e-7)
    untangling = untangling_of(system)
    assert untangling is not None
    once = start.copy()
    untangling._sweep(untangling.small(once), once)
    # a corner moves by 5 mm at most; J of float32 edges is off by 1e-5 of it
    np.testing.assert_allclose(np.asarray(plain)[..., 0].T, once[order][:free], atol=2e-6)


def contact_of_lowest(system: System, start: np.ndarray) -> tuple[Contacts, np.ndarray]:
    """Contacts under the five free vertices that untangling alone pushes down most, one of them
    violated by a centimetre; and those vertices."""
    untangling, alone = untangling_of(system), start.copy()
    assert untangling is not None
    untangling.untangle(alone)
    chosen = system.free[np.argsort((alone - start)[system.free, 2])[:5]]
    contacts = Contacts(
        np.repeat(chosen[:, None], 4, axis=1),
        np.tile([1.0, 0.0, 0.0, 0.0], (5, 1)),
        np.tile([0.0, 0.0, 1.0], (5, 1)),
        start[chosen, 2] + np.array([0.0, 0.0, 0.0, 0.0, 0.01]),
        np.full(5, 1e6),
        np.zeros(5, bool),
    )
    return contacts, chosen


def rows_on_device(contacts: Contacts, order: np.ndarray, free: int) -> ContactRows:
    return contact_rows(
        jnp.eye(free),
        jnp.asarray(np.argsort(order)[contacts.vertices], jnp.int32),
        jnp.asarray(contacts.coefficients, jnp.float32),
        jnp.asarray(contacts.normals.T, jnp.float32),
        jnp.asarray(contacts.offsets, jnp.float32),
    )


@pytest.mark.parametrize("seed", range(4))
def test_pushes_on_a_device_violate_no_contact(seed: int):
    """As on the CPU: no vertex goes further down than it is by more than `VIOLATED`, where without
    contacts some go by millimetres; and what is small becomes less."""
    system, points = slab_system()
    start, order, free = (
        tangled(points, system.anchored, seed),
        free_first(system),
        len(system.free),
    )
    contacts, chosen = contact_of_lowest(system, start)
    flesh, places = flesh_of(elements_of(system, order)), np.argsort(order)[chosen]
    at = jnp.asarray(start[order].T[..., None], jnp.float32)
    z, anchors, rows = at[:, :free], at[:, free:], rows_on_device(contacts, order, free)
    alone = untangle(flesh, z, anchors, True, swept)
    held = untangle(flesh, z, anchors, True, swept, rows)
    assert (alone - z)[2, places, 0].min() < -5 * VIOLATED
    assert (held - z)[2, places, 0].min() > -1.1 * VIOLATED
    untangling = untangling_of(system)
    assert untangling is not None
    after = start.copy()
    after[order[:free]] = np.asarray(held)[..., 0].T
    assert len(untangling.small(after)) < 0.3 * len(untangling.small(start))


def test_a_kernel_sweeps_with_contacts_as_the_reference_does():
    """A part of a sweep in which violated contacts ask, too: the same places by the reference, by
    plain programs and by the kernel, to float32."""
    system, points = slab_system()
    start, order, free = tangled(points, system.anchored, 3), free_first(system), len(system.free)
    contacts, _ = contact_of_lowest(system, start)
    contacts = replace(contacts, offsets=contacts.offsets + 2e-3)
    flesh, rows = flesh_of(elements_of(system, order)), rows_on_device(contacts, order, free)
    at = jnp.asarray(start[order].T[..., None], jnp.float32)
    asked = asked_apart(rows, at[:, :free], at[:, free:])
    assert int(asked.counts.sum()) == 5
    given = (flesh, at[:, :free], at[:, free:], asked, 0.6)
    plain, count = swept(*given)
    kernel, found = kernel_swept(*given, interpret=True)
    assert int(found) == int(count) > 50
    np.testing.assert_allclose(kernel, plain, atol=1e-7)
    once, untangling = start.copy(), untangling_of(system)
    assert untangling is not None
    untangling._sweep(untangling.small(once), once, 0.6, contacts)
    np.testing.assert_allclose(np.asarray(plain)[..., 0].T, once[order][:free], atol=2e-6)
    with jax.sharding.use_abstract_mesh(an_h200()):
        made = jax.jit(kernel_swept).trace(*given)
        assert "_tile_moves" in made.lower(lowering_platforms=("cuda",)).as_text()
