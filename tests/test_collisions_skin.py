"""Skin on skin: detection against winding numbers, and a bent limb that no longer enters itself."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import synthetic
from numpy.typing import NDArray

from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.evaluation.penetration import PenetrationMeter
from corporeal.geometry.surface import vertex_normals
from corporeal.geometry.surface_tree import SurfaceTree
from corporeal.physics.contact.skin_contacts import SkinContacts
from corporeal.physics.contact.touching import Movement, Touching, TouchingEdges, no_edges_touch
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.controls import Collisions, ProjectiveControls
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.fast_projective_skinning.simulation import (
    ProjectiveSimulation,
    SimulationState,
)
from corporeal.physics.fast_projective_skinning.state_file import read_state, write_state

BEND = 2.2
"""Radians: the far part of the arm folds into the near one."""


@pytest.fixture(scope="module")
def template() -> Template:
    """A limb of 0.8 m, 9 cm thick, with a joint in its middle."""
    capsule = synthetic.arm_template(rings=40, sides=16).mesh
    vertices = np.asarray(capsule.vertices) * [0.8, 0.45, 0.45]
    mesh = Mesh(vertices, capsule.triangles[:, ::-1].copy())  # it comes inside out
    joints = np.array([[0.04, 0.0, 0.0], [0.4, 0.0, 0.0], [0.7, 0.0, 0.0]])
    skeleton = Skeleton(("root", "middle", "end"), (-1, 0, 1), joints)
    weights = SkinWeights.from_dense(np.eye(3)[np.digitize(vertices[:, 0], [0.4, 0.7])], 1)
    return Template(mesh, skeleton, weights, ("limb",), np.zeros(len(vertices), np.int32))


@pytest.fixture(scope="module")
def identity(template: Template) -> Identity:
    return synthetic.identity_of(template)


@pytest.fixture(scope="module")
def preparations(template: Template) -> Preparations:
    return Preparations(template)


def bent(angle: float) -> Pose:
    rotations = np.zeros((3, 3))
    rotations[1, 2] = angle
    return Pose(rotations, np.zeros(3))


def simulation(
    template: Template, preparations: Preparations, collisions: Collisions, dynamics: bool = True
) -> ProjectiveSimulation:
    settings = ProjectiveControls(collisions=collisions, dynamics=dynamics)
    return ProjectiveSimulation(template, settings, preparations=preparations)


def skin_of(body: SimulatedBody, state: SimulationState) -> np.ndarray:
    return np.ascontiguousarray(state.flesh.positions[: body.model.vertex_count])


def frames(body: SimulatedBody, pose: Pose) -> np.ndarray:
    return body.frames(pose)


def meter_of(body: SimulatedBody) -> PenetrationMeter:
    return PenetrationMeter(np.asarray(body.model.skin, float), body.model.triangles)


def test_detection_finds_what_winding_numbers_find(
    template: Template, identity: Identity, preparations: Preparations
) -> None:
    """Vertices inside tetrahedra are those round which the skin winds once more, seen from just
    outside: nine of ten of them, and nothing else but at most as many."""
    loose = simulation(template, preparations, "off")
    body = loose.body(identity)
    state = loose.start(identity, bent(BEND))
    skin, triangles = skin_of(body, state), np.asarray(body.model.triangles)
    beside = skin + 1e-5 * vertex_normals(skin, triangles)
    inside = SurfaceTree(skin, triangles).winding(beside) > 0.5
    finder = SkinContacts(body.model, body.joints)
    found = np.zeros(len(skin), bool)
    found[finder.detect(skin, frames(body, bent(BEND)))[:, 0]] = True
    assert inside.sum() > 10
    assert (found & inside).sum() >= 0.9 * inside.sum()
    assert (found & ~inside).sum() <= 0.1 * inside.sum()


def test_few_vertices_are_found_where_all_are(
    template: Template, identity: Identity, preparations: Preparations
) -> None:
    """Asked for a handful of vertices, detection gives the pairs that it gives of them among all.

    The limb is turned along z, where cells are short: most prisms are then far beside the grid of
    the vertices at one end, and their empty ranges of cells once read beyond it.
    """
    loose = simulation(template, preparations, "off")
    body = loose.body(identity)
    skin = skin_of(body, loose.start(identity, bent(BEND)))
    detection = SkinContacts(body.model, body.joints).detection
    base = detection.base_points(frames(body, bent(BEND)))
    skin, base = (np.ascontiguousarray(points[:, [1, 2, 0]]) for points in (skin, base))
    all_pairs = {(int(v), int(t)) for v, t in detection.inside(skin, base)}
    entered = sorted({v for v, _ in all_pairs})
    ends = np.quantile(skin[:, 2], [0.05, 0.95])
    low, high = np.flatnonzero(skin[:, 2] < ends[0]), np.flatnonzero(skin[:, 2] > ends[1])
    assert len(entered) > 10
    for chosen in (entered[:1], entered[-3:], low.tolist(), high.tolist(), [0, *entered]):
        found = detection.inside(skin, base, np.array(chosen))
        expected = {(v, t) for v, t in all_pairs if v in chosen}
        assert {(int(v), int(t)) for v, t in found} == expected


def test_nothing_touches_at_rest(
    template: Template, identity: Identity, preparations: Preparations
) -> None:
    """Overlaps of the rest shape are ignored: the zero pose has no contacts and does not move."""
    touching = simulation(template, preparations, "global")
    body = touching.body(identity)
    finder = SkinContacts(body.model, body.joints)
    rest = np.asarray(body.model.vertices, float)
    contacts, pairs = finder.contacts(rest, frames(body, bent(0.0)))
    assert len(contacts) == len(pairs) == 0
    state = touching.step(touching.start(identity), bent(0.0), 1 / 60)
    assert np.abs(state.flesh.positions - rest).max() < 1e-4


def test_a_folded_limb_comes_apart(
    template: Template, identity: Identity, preparations: Preparations
) -> None:
    """Static balance with global collisions leaves at most a fiftieth of the summed depth, and a
    millimetre at a vertex."""
    depths = {}
    for mode in ("off", "global"):
        still = simulation(template, preparations, mode, dynamics=False)
        body = still.body(identity)
        depths[mode] = meter_of(body).depths(skin_of(body, still.start(identity, bent(BEND))))
    assert depths["off"].sum() > 0.1
    assert depths["global"].sum() < 0.02 * depths["off"].sum()
    assert depths["global"].max() < 1e-3


def test_local_collisions_help_at_their_joint(
    template: Template, identity: Identity, preparations: Preparations
) -> None:
    """Vertices that may meet are found for a skeleton of unknown joints, and kept apart there."""
    depths = {}
    for mode in ("off", "local"):
        moving = simulation(template, preparations, mode)
        body = moving.body(identity)
        depths[mode] = meter_of(body).depths(skin_of(body, moving.start(identity, bent(BEND))))
    assert depths["local"].sum() < 0.02 * depths["off"].sum()


def test_resting_contact_settles(
    template: Template, identity: Identity, preparations: Preparations
) -> None:
    """Folded in half a second and held: after two more, pairs stay the same from frame to frame
    and nothing moves by a tenth of a millimetre."""
    moving = simulation(template, preparations, "global")
    state = before = moving.start(identity)
    for frame in range(150):
        before = state
        state = moving.step(state, bent(BEND * min(1.0, (frame + 1) / 30)), 1 / 60)
    assert state.flesh.touching is not None
    assert len(state.flesh.touching) >= 10  # there is something to settle
    assert before.flesh.touching is not None
    np.testing.assert_array_equal(state.flesh.touching.pairs, before.flesh.touching.pairs)
    assert np.abs(state.flesh.positions - before.flesh.positions).max() < 1e-4


def test_contacts_are_blind_to_where_the_body_is(
    template: Template, identity: Identity, preparations: Preparations
) -> None:
    """A folded limb carried away at constant speed keeps its shape, to rounding."""
    moving = simulation(template, preparations, "global")
    state = moving.start(identity, bent(BEND))
    there = replace(bent(BEND), root_translation=np.array([7.0, 3.0, -2.0]))
    far = moving.start(identity, there)
    difference = far.flesh.positions - state.flesh.positions - [7.0, 3.0, -2.0]
    assert np.abs(difference).max() < 1e-3


@pytest.fixture
def edged(template: Template, identity: Identity, preparations: Preparations):
    """Moving flesh with rows of edges, folded and in static balance."""
    moving = simulation(template, preparations, "global")
    finder = moving.body(identity).skin_contacts()
    finder.edged = True
    yield finder, moving.start(identity, bent(BEND)), frames(moving.body(identity), bent(BEND))
    finder.edged = False


def edges_of(touching: Touching) -> TouchingEdges:
    assert touching.edges is not None
    return touching.edges


def test_a_fold_loses_its_rows_of_edges_where_a_vertex_is_deep(edged) -> None:
    """One vertex that touches is carried three pushes in: no row of edges is left in the fold, kept
    or new, although none of its own is there; the vertices' rows are."""
    finder, state, joints = edged
    still = Movement(np.stack([joints, joints]), 0 * state.flesh.positions, 1 / 60)
    touching, deep = state.flesh.touching, state.flesh.positions.copy()
    _, after = finder.contacts(deep, joints, touching, movement=still)
    assert len(edges_of(after)) == len(edges_of(touching)) > 0
    passing = finder.edges.edges[edges_of(touching).pairs]
    row = np.flatnonzero(~np.isin(touching.pairs[:, 0], passing))[0]
    vertex, triangle = touching.pairs[row]
    world = joints[finder.owners[triangle], :3, :3] @ touching.normals[row]
    deep[vertex] -= 3 * finder.push * world
    _, after = finder.contacts(deep, joints, touching, movement=still)
    assert len(after) >= 0.9 * len(touching)
    assert len(edges_of(after)) == 0


def test_a_fold_asleep_does_not_win_rows_of_edges(edged) -> None:
    """Flesh moves by about a push, which makes new rows; where those of edges were taken, they come
    back if the fold is awake, and not if it sleeps."""
    finder, state, joints = edged
    went = finder.push * np.random.default_rng(1).normal(size=state.flesh.positions.shape)
    moving, touching = Movement(np.stack([joints, joints]), went, 1 / 60), state.flesh.touching
    found = []
    for rate in (1e-3, 0.5):
        bare = replace(touching, rates=np.full(len(touching), rate), edges=no_edges_touch())
        _, after = finder.contacts(state.flesh.positions, joints, bare, movement=moving)
        found.append(len(edges_of(after)))
    assert found[0] == 0 < found[1]


def test_a_saved_contact_goes_on_bit_for_bit(
    template: Template, identity: Identity, preparations: Preparations, tmp_path: Path
) -> None:
    """With rows of edges, which are told from those of older files."""
    moving = simulation(template, preparations, "global")
    moving.body(identity).skin_contacts().edged = True
    state = moving.start(identity)
    for frame in range(20):
        state = moving.step(state, bent(BEND * (frame + 1) / 20), 1 / 60)
    write_state(tmp_path / "state.npz", state)
    resumed = read_state(tmp_path / "state.npz", identity)
    for _ in range(3):
        state = moving.step(state, bent(BEND), 1 / 60)
        resumed = moving.step(resumed, bent(BEND), 1 / 60)
    moving.body(identity).skin_contacts().edged = False
    np.testing.assert_array_equal(resumed.flesh.positions, state.flesh.positions)
    assert state.flesh.touching is not None
    assert resumed.flesh.touching is not None
    *there, there_edges = (getattr(resumed.flesh.touching, f.name) for f in fields(Touching))
    *here, here_edges = (getattr(state.flesh.touching, f.name) for f in fields(Touching))
    for one, other in zip(there, here, strict=True):
        np.testing.assert_array_equal(one, other)
    for field in fields(TouchingEdges):
        one, other = (getattr(edges, field.name) for edges in (there_edges, here_edges))
        np.testing.assert_array_equal(one, other)


def test_local_collisions_are_still_at_rest(
    template: Template, identity: Identity, preparations: Preparations
) -> None:
    """The zero pose, held: nothing touches, and nothing moves by a micrometre."""
    moving = simulation(template, preparations, "local")
    state = moving.start(identity)
    for _ in range(20):
        before, state = state, moving.step(state, bent(0.0), 1 / 60)
        assert np.abs(state.flesh.positions - before.flesh.positions).max() < 1e-6
        assert state.flesh.touching is not None
        assert len(state.flesh.touching) == 0


def test_pairs_at_joints_lie_on_bones_that_are_near(
    template: Template, identity: Identity, preparations: Preparations
) -> None:
    """Of a limb folded upon itself every pair is between different bones, few others apart."""
    body = simulation(template, preparations, "off").body(identity)
    finder = SkinContacts(body.model, body.joints)
    skin = skin_of(body, simulation(template, preparations, "off").start(identity, bent(BEND)))
    pairs = finder.detect(skin, frames(body, bent(BEND)))
    chosen, owners = finder.at_joints(pairs), finder.detection.base.bones
    own = owners[pairs[:, 0]] == owners[finder.detection.triangles[pairs[:, 1], 0]]
    assert chosen.any()
    assert not (chosen & own).any()


def box() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A closed box, 4 × 4 × 1, of a grid below (vertices 0 to 24, x by x) and one above."""
    grid = np.array([[x, y] for x in range(5) for y in range(5)], float)
    index = np.arange(25).reshape(5, 5)
    quads = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], -1).reshape(
        -1, 4
    )
    face = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    around = np.concatenate([index[0], index[1:, -1], index[-1, -2::-1], index[-2:0:-1, 0]])
    after = np.roll(around, -1)
    sides = np.concatenate(
        [np.stack([around, after + 25, after], 1), np.stack([around, around + 25, after + 25], 1)]
    )
    vertices = np.concatenate([np.c_[grid, 0 * grid[:, 0]], np.c_[grid, 0 * grid[:, 0] + 1]])
    return vertices, np.concatenate([face[:, ::-1], face + 25, sides])


def test_depth_of_a_vertex_pushed_through_a_wall() -> None:
    """One of two boxes has its bottom pulled into the other by a quarter: so deep is it inside."""
    lower, triangles = box()
    rest = np.concatenate([lower, lower + np.array([0, 0, 2])])
    meter = PenetrationMeter(rest, np.concatenate([triangles, triangles + 50]))
    moved = rest.copy()
    moved[50 + 12, 2] -= 1.25  # the upper box's bottom, a quarter into the lower one
    depths = meter.depths(moved)
    np.testing.assert_array_equal(np.flatnonzero(depths), [37, 62])  # it meets the top's middle
    assert depths[62] == pytest.approx(0.25, abs=1e-6)
    assert meter.depths(rest).max() == 0.0


def test_a_narrow_crease_is_no_overlap() -> None:
    """A groove of 11° with a short wall and a long one: heights over a plane, which nothing can
    enter. The averaged normal at its bottom points into the short wall."""
    rest, triangles = box()
    profile = np.array([[0.0, 1.0], [1.99, 0.3], [2.0, 0.2], [2.08, 1.0], [4.0, 1.0]])
    grooved = rest.copy()
    grooved[25:, [0, 2]] = np.repeat(profile, 5, axis=0)
    normals = vertex_normals(grooved, triangles)
    short_wall = np.array([0.1, 0.0, 0.01])
    assert (normals[25 + 11 : 25 + 14] @ short_wall < 0).all()
    assert PenetrationMeter(rest, triangles).depths(grooved).max() == 0.0


def test_skin_that_hardly_left_its_bones_is_passed_over_and_nothing_is_missed(
    template: Template, identity: Identity, preparations: Preparations
) -> None:
    """Detection that knows how bones moved gives what it gives without, of skin that bones carry,
    of skin that is bent and of skin that is shaken by centimetres; and in the same order."""
    loose = simulation(template, preparations, "off")
    body = loose.body(identity)
    finder = SkinContacts(body.model, body.joints)
    posed = frames(body, bent(BEND))
    base, moves = finder.detection.base_points(posed), finder.blending_reference.moves(posed)
    skin = skin_of(body, loose.start(identity, bent(BEND)))
    shaken = skin + np.random.default_rng(5).normal(scale=0.01, size=skin.shape)
    for points in (finder.blending_reference.moved(moves)[0], skin, shaken):
        known = finder.detection.inside(points, base, None, moves)
        plain = finder.detection.inside(points, base)
        np.testing.assert_array_equal(known, plain)
        assert len(plain) > 0
        assert (np.diff(plain[:, 1]) >= 0).all()


def test_gaps_are_no_larger_than_distances(
    template: Template, identity: Identity, preparations: Preparations
) -> None:
    """Gaps of blocks, which detection trusts, against the nearest of many points in each prism."""
    body = simulation(template, preparations, "off").body(identity)
    blocks = SkinContacts(body.model, body.joints).detection.blocks
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.full(6, 0.5), 400)
    checked = 0
    for t in rng.choice(len(blocks.prisms), 40, replace=False):
        if blocks.gap_starts[t] < 0:
            continue
        inside = shares @ blocks.rest[blocks.prisms[t]]
        first, last = blocks.bone_starts[blocks.prism_bones[t] + np.array([0, 1])]
        for block in range(first, last):
            members = np.setdiff1d(blocks.members[block], [-1, *blocks.prisms[t, :3]])
            if len(members):
                apart = np.linalg.norm(inside[:, None] - blocks.rest[members], axis=2).min()
                assert blocks.gaps[blocks.gap_starts[t] + block - first] <= apart + 1e-6
                checked += 1
    assert checked > 20
