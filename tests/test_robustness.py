"""Characters that are drawn badly and treated worse: all numbers stay finite, and flesh comes back.

Each small test is a bug that a random character found.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from limbs import limb
from solids import icosphere

from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.evaluation.damage import DAMAGES
from corporeal.evaluation.random_characters import RandomCharacter, random_character
from corporeal.evaluation.stress_test import AT_REST, Outcome, stress_test
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.prestress import balancing_stress
from corporeal.physics.upsampling.upsampling import build_upsampler
from corporeal.physics.volumetric_mesh.model import _held, build_volumetric_model
from corporeal.physics.volumetric_mesh.prisms import signed_volumes
from corporeal.physics.volumetric_mesh.simulation_mesh import SimulationMesh, simulation_mesh

DOZEN = (6, 8, 11, 14, 25, 26, 27, 30, 34, 37, 38, 99)
"""Seeds that are quick and between them have every kind of damage; 8 is a default body."""
SIMULATED = 150
"""Vertices, so that the dozen takes seconds."""


@cache
def dragged(seed: int) -> Outcome:
    """What violence makes of a character; once for all tests that look at it."""
    return stress_test(replace(random_character(seed), vertex_count=SIMULATED))


@pytest.mark.parametrize("seed", DOZEN)
def test_a_character_survives_violence(seed: int):
    """Teleports, half turns of joints and 20 g: finite all the way, and back within 1 mm."""
    outcome = dragged(seed)
    assert not outcome.is_refused, outcome.refused
    assert outcome.is_well, outcome


@pytest.mark.parametrize("seed", DOZEN[:3])
def test_a_character_whose_jumps_are_cuts_keeps_its_flesh(seed: int):
    """The same violence taken for cuts: back at rest as well, and flesh flies out of the box of its
    bones by less than a third of what it does when dragged."""
    character = replace(random_character(seed), vertex_count=SIMULATED)
    cut = stress_test(character, cuts=True)
    assert cut.is_well, cut
    assert cut.furthest < dragged(seed).furthest / 3


def test_the_dozen_knows_every_damage():
    met = {name for seed in DOZEN for name in random_character(seed).damages}
    assert met == set(DAMAGES)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 200, 10))
def test_two_hundred_characters_survive_violence(first: int):
    seeds = range(first, first + 10)
    outcomes = [stress_test(random_character(seed)) for seed in seeds]
    assert not [outcome for outcome in outcomes if outcome.is_refused]
    assert not [outcome for outcome in outcomes if not outcome.is_well]


def test_an_outcome_is_judged_by_its_numbers():
    who = (0, "body", ())
    refused = Outcome(*who, refused="InputError: …", finite=True, left=0.0)
    assert refused.is_refused
    assert not refused.is_well, "a refusal is no proof that the simulation holds"
    assert refused.row()["is_refused"]
    assert not Outcome(*who, finite=True, left=0.0).is_refused
    assert Outcome(*who, finite=True, left=0.5 * AT_REST).is_well
    assert not Outcome(*who, finite=True, left=2 * AT_REST).is_well
    assert not Outcome(*who, finite=False, left=0.0).is_well


def test_a_character_that_cannot_be_simulated_is_told_apart():
    """Dust, which no flesh holds, is refused by name; nobody counts it as well."""
    _, skeleton = limb()
    places = np.random.default_rng(0).normal(size=(20, 1, 3)) * [0.2, 0.2, 0.2] + [0.3, 0.5, 0.0]
    dust = Mesh((places + 1e-3 * np.eye(3)).reshape(-1, 3), np.arange(60).reshape(-1, 3))
    identity = Identity(np.asarray(dust.vertices), np.asarray(skeleton.joints), {})
    character = RandomCharacter(0, "creature", (), own_template(dust, skeleton), identity, 60)
    outcome = stress_test(character)
    assert outcome.is_refused
    assert outcome.refused.startswith("InputError: no vertex of the skin")
    assert not outcome.is_well


def own_template(mesh: Mesh, skeleton: Skeleton) -> Template:
    count = mesh.vertex_count
    weights = SkinWeights(np.zeros((count, 1), int), np.ones((count, 1)), skeleton.joint_count)
    return Template(mesh, skeleton, weights, ("skin",), np.zeros(count, int))


def soup(mesh: Mesh) -> Mesh:
    """Every triangle has its own three vertices."""
    triangles = np.arange(3 * len(mesh.triangles)).reshape(-1, 3)
    return Mesh(np.asarray(mesh.vertices)[np.asarray(mesh.triangles).ravel()], triangles)


def test_a_soup_of_triangles_moves_as_the_closed_skin_does():
    """Seams are closed in the simulation: each copy of a vertex goes where the vertex goes."""
    mesh, skeleton = limb()
    bent = Pose(np.array([[0.0, 0, 0], [0, 0, 0.8], [0, 0, 0]]), np.zeros(3))
    posed_vertices = []
    for skin in (mesh, soup(mesh)):
        template = own_template(skin, skeleton)
        identity = Identity(np.asarray(skin.vertices), np.asarray(skeleton.joints), {})
        simulation = ProjectiveSimulation(template)
        posed_vertices.append(simulation.skin(simulation.start(identity, bent)))
    closed, apart = posed_vertices
    order = np.asarray(mesh.triangles).ravel()
    assert np.abs(closed - mesh.vertices).max() > 0.1
    # the soup's vertices are numbered otherwise, so its prisms are split otherwise
    np.testing.assert_allclose(apart, closed[order], atol=3e-3)


def test_a_spike_that_is_not_simulated_stays_at_its_place():
    """Its neighbours along the surface lie in a cap below it; those in space surround it."""
    vertices, triangles = icosphere(3)
    vertices[0] *= 4.0
    mesh = Mesh(vertices, triangles)
    kept = np.arange(1, len(vertices))
    place = np.cumsum(np.arange(len(vertices)) > 0) - 1
    faces = triangles[(triangles > 0).all(axis=1)]
    upsampler = build_upsampler(mesh, SimulationMesh(kept, place[faces]))
    np.testing.assert_allclose(upsampler.upsample(vertices[kept]), vertices, atol=1e-9)


def test_a_loose_flake_far_from_the_bones_follows_rigidly():
    """A triangle 30 cm away from the bone, 2 cm large, cannot hold itself up."""
    mesh, skeleton = limb()
    flake = np.array([[0.35, 0.4, 0.0], [0.35, 0.42, 0.0], [0.35, 0.4, 0.02]])
    count = mesh.vertex_count
    triangles = np.concatenate([mesh.triangles, [[count, count + 1, count + 2]]])
    vertices = np.concatenate([mesh.vertices, flake])
    model = build_volumetric_model(Mesh(vertices, triangles), skeleton)
    assert model.carried[count:].all()
    assert not model.carried[:count].any()


def test_skin_that_only_hinges_on_the_bones_follows_rigidly():
    """Two of three tetrahedra of a lone prism dropped: what is left turns about an inner edge."""
    prism = np.array([[0, 1, 2, 5], [0, 1, 5, 4], [0, 4, 5, 3]])
    rigid, free = np.zeros(3, bool), np.zeros(3, bool)
    assert _held(prism, rigid, free).all()
    assert _held(prism[:2], rigid, free).tolist() == [False, False, False]
    assert _held(prism[[0, 2]], rigid, free).tolist() == [True, False, False]
    assert _held(prism[:2], np.array([True, False, False]), free).all()


def test_a_hinge_gets_a_bounded_stress():
    """A tetrahedron on a line of two anchors, its weight along the hinge's free turn: no symmetric
    stress carries that, and none is made up."""
    rest = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0.2, 1]])
    strain = strain_constraint(rest, np.array([[0, 1, 2, 3]]), 1e4)
    anchored = np.array([True, True, False, False])
    weight = np.zeros((4, 3))
    weight[2:, 1] = -10.0
    stress = balancing_stress(strain, anchored, weight)
    assert np.abs(stress).max() < 1.0


def test_a_triangle_in_one_place_leaves_no_element():
    """Its prism is a line: measured by itself, it would not be thin."""
    mesh, skeleton = limb()
    vertices, corners = np.array(mesh.vertices), np.asarray(mesh.triangles)[600]
    vertices[corners[1:]] = vertices[corners[0]] + [[1e-17, 0, 0], [0, 0, 1e-17]]
    model = build_volumetric_model(Mesh(vertices, mesh.triangles), skeleton)
    assert signed_volumes(model.vertices, model.tetrahedra).min() > 1e-12
    assert 600 not in model.tetrahedron_triangles


def test_dust_is_refused():
    """Triangles of a millimetre, five centimetres from the bones: nothing to hold them."""
    _, skeleton = limb()
    places = np.random.default_rng(0).normal(size=(20, 1, 3)) * [0.2, 0.2, 0.2] + [0.3, 0.5, 0.0]
    flakes = (places + 1e-3 * np.eye(3)).reshape(-1, 3)
    with pytest.raises(InputError, match=r"no vertex of the skin .* is held by flesh"):
        build_volumetric_model(Mesh(flakes, np.arange(60).reshape(-1, 3)), skeleton)


def test_simulation_meshes_close_seams():
    mesh, skeleton = limb()
    coarse = simulation_mesh(own_template(soup(mesh), skeleton), 300)
    assert coarse.stand_ins is not None
    assert len(np.unique(coarse.stand_ins)) == mesh.vertex_count
    assert len(coarse.vertex_indices) <= 310


def test_vertices_of_no_triangle_take_no_place_from_others():
    """A thousand loose vertices beside a tube of 986, which is to keep 300."""
    mesh, skeleton = limb()
    dust = np.random.default_rng(0).normal(size=(1000, 3))
    vertices = np.concatenate([np.asarray(mesh.vertices), dust])
    coarse = simulation_mesh(own_template(Mesh(vertices, mesh.triangles), skeleton), 300)
    assert 290 < len(np.unique(coarse.triangles)) < 320


def test_characters_are_the_same_every_time():
    one, again = random_character(7), random_character(7)
    assert isinstance(one, RandomCharacter)
    np.testing.assert_array_equal(one.identity.rest_vertices, again.identity.rest_vertices)
    assert one.damages == again.damages
    assert Preparations(one.template, 300).of(one.identity, "sculpted").coarse.vertex_count > 0
