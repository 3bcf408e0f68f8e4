"""Layered physics: rest, rigid motion, what carries which bone, and the simulation's controls."""

from pathlib import Path

import numpy as np
import pytest

from corporeal.anatomy.layered.bone_motion import (
    bone_weights,
    held_by_bone,
    joint_of_bone,
    over_ribs,
)
from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.anatomy.layered.softness import BREAST_DEPTH, fat_softness
from corporeal.anatomy.template import layered_template
from corporeal.body.deformer import Deformer
from corporeal.body.grab import Grab
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.mesh import Mesh
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.tissues import FAT, GLAND
from corporeal.errors import InputError
from corporeal.physics.fast_projective_skinning.environment import Environment
from corporeal.physics.fast_projective_skinning.parts import BodyParts, Carrier
from corporeal.physics.fast_projective_skinning.state_file import read_state, write_state
from corporeal.physics.volume_preservation.reference import prism_volumes
from corporeal.physics.volumetric_mesh.prisms import signed_volumes


@pytest.fixture(scope="module")
def man():
    """The default man and his layers."""
    template = layered_template("male")
    layers = Layers(
        template.skin, template.muscle, template.bone, template.triangles, template.layered
    )
    identity = Identity(template.skin, template.joints, {"gender": np.asarray(1.0)})
    return template, layers, identity


@pytest.fixture(scope="module")
def deformer(man):
    return LayeredSkinning(man[0].body, man[1])


@pytest.fixture(scope="module")
def simulation(deformer):
    return deformer.simulation()


@pytest.fixture(scope="module")
def body(man, simulation):
    return simulation.body(man[2])


def still(template, frames: int) -> Motion:
    joints = template.body.skeleton.joint_count
    zero = np.zeros((frames, 3))
    return Motion("still", 60.0, np.zeros((frames, joints, 3)), zero, template.body.skeleton)


def standing(template, root=(0.0, 0.0, 0.0)) -> Pose:
    return Pose(np.zeros((template.body.skeleton.joint_count, 3)), np.asarray(root, np.float64))


def test_it_is_a_deformer(deformer):
    assert isinstance(deformer, Deformer)


def test_it_offers_what_a_simulation_asks_for(body):
    parts = body._preparation
    assert isinstance(parts, BodyParts)
    assert isinstance(body.coupling, Carrier)


def test_elements_are_upright_and_lie_between_the_layers(body):
    """Skin, muscle and bone follow each other; fat joins the first two, muscle the last two."""
    mesh = body._preparation.mesh
    assert (signed_volumes(mesh.rest, mesh.tetrahedra) > 0).all()
    layer = np.repeat([0, 1, 2], [mesh.skin_count, len(mesh.members), len(mesh.members)])
    corner = layer[mesh.tetrahedra]
    assert (corner[~mesh.is_muscle] <= 1).all()
    assert (corner[mesh.is_muscle] >= 1).all()
    assert 4000 < mesh.skin_count < 5200


def test_standing_still_nothing_moves(man, deformer):
    """The rest shape is in balance under gravity: forces cancel to single precision, and quadratic
    upsampling gives the rest skin back within 0.1 mm."""
    template = man[0]
    posed_vertices = deformer.animate(man[2], still(template, 4)).vertices
    assert np.abs(posed_vertices - posed_vertices[0]).max() < 5e-5
    assert np.linalg.norm(posed_vertices[0] - template.skin, axis=1).max() < 2e-3


def test_a_shifted_skeleton_carries_every_layer_along(man, body):
    way = np.array([1.0, 2.0, 3.0])
    frames = np.tile(np.eye(4), (len(body.joints), 1, 1))
    frames[:, :3, 3] = body.joints
    moved = frames.copy()
    moved[:, :3, 3] += way
    carried = body.carriers(np.stack([frames, moved]))
    beneath = body.rest[body._preparation.mesh.bone_of]
    np.testing.assert_allclose(carried, [beneath, beneath + way], atol=1e-9)
    np.testing.assert_allclose(body.carry(body.rest, frames, moved), body.rest + way, atol=1e-9)


def test_a_state_is_saved_and_gone_on_from_bit_for_bit(man, simulation, tmp_path: Path):
    template, _, identity = man
    state = simulation.step(simulation.start(identity), standing(template, (0, 0.02, 0)), 1 / 60)
    write_state(tmp_path / "state.npz", state)
    again = read_state(tmp_path / "state.npz", identity)
    lower = standing(template, (0.0, 0.01, 0.0))
    ahead, resumed = (simulation.step(s, lower, 1 / 60).flesh for s in (state, again))
    np.testing.assert_array_equal(ahead.positions, resumed.positions)
    assert np.abs(simulation.skin(state) - template.skin - [0, 0.02, 0]).max() > 1e-3


def test_a_grab_pulls_the_belly_and_a_force_the_back(man, simulation):
    """What is held comes most of the way; the head, far away, stays."""
    template, _, identity = man
    parts = np.array(template.body.part_names)[template.body.part_labels]
    front = np.flatnonzero(parts == "belly")
    navel = int(front[np.argmax(template.skin[front, 2])])
    back = int(np.argmin(np.where(parts == "back", template.skin[:, 2], np.inf)))
    target = template.skin[navel] + [0.0, 0.0, 0.03]
    around = Environment(grabs=(Grab(np.array([navel]), np.ones(1), target, 5e3),))
    forces = np.zeros_like(template.skin)
    forces[back] = [0.0, 0.0, -10.0]
    state = simulation.start(identity)
    for _ in range(10):
        state = simulation.step(state, standing(template), 1 / 60, forces, around)
    moved = simulation.skin(state) - template.skin
    assert moved[navel, 2] > 0.01
    assert moved[back, 2] < -0.002
    assert np.linalg.norm(moved[parts == "head"], axis=1).max() < 2e-3


def test_soles_rest_on_the_ground(man, deformer):
    """Ten millimetres too low, free skin stays above the floor, to a millimetre beside the front of
    the foot, which joints carry below it."""
    template, _, identity = man
    pose = standing(template, (0.0, -template.skin[:, 1].min() - 0.01, 0.0))
    loose, firm = (deformer.simulation({"ground": np.asarray(on)}) for on in (0.0, 1.0))
    skin = firm.body(identity).touchable
    low = [s.start(identity, pose).flesh.positions[skin, 1].min() for s in (loose, firm)]
    assert low[0] < -8e-3
    assert low[1] > -1e-3


def test_a_body_at_rest_touches_itself_nowhere(man, deformer):
    simulation = deformer.simulation({"collisions": np.asarray(2.0)})
    body, state = simulation.body(man[2]), simulation.start(man[2])
    frames = np.tile(np.eye(4), (len(body.joints), 1, 1))
    frames[:, :3, 3] = body.joints
    rows, _ = body.self_contacts(state.flesh, frames)
    assert rows is not None
    assert len(rows) == 0


def test_controls_rebuild_only_what_they_touch(man, deformer):
    plain = deformer.simulation().body(man[2])
    same = deformer.simulation({"loop": np.asarray(1.0)}).body(man[2])
    firmer = deformer.simulation({"muscle": np.asarray(22.0)}).body(man[2])
    held = deformer.simulation({"sliding": np.asarray(0.0)}).body(man[2])
    assert same.system is plain.system
    assert firmer.upsampler is plain.upsampler
    weights = [each.system.constraints[0].weights.sum() for each in (plain, firmer)]
    assert weights[1] > 1.3 * weights[0]
    assert held.system.anchored.sum() > plain.system.anchored.sum() + 100


def test_flesh_that_keeps_its_volume_loses_less_of_it(man, deformer):
    """Bent deeply, the flesh of the trunk is squeezed; pressure brings part of it back."""
    template, _, identity = man
    pose = standing(template)
    rotations = np.array(pose.joint_rotations)
    rotations[[template.body.skeleton.index(f"spine{k}") for k in (1, 2)], 0] = 0.4
    lost = []
    for volume in (0.0, 50.0):
        simulation = deformer.simulation({"volume": np.asarray(volume)})
        body = simulation.body(identity)
        corners = body._preparation.mesh.whole_prisms
        flesh = simulation.start(identity, Pose(rotations, np.zeros(3))).flesh.positions
        before, after = (prism_volumes(x[corners]).sum() for x in (body.rest, flesh))
        lost.append(abs(after / before - 1.0))
    assert lost[0] > 2e-3
    assert lost[1] < 0.8 * lost[0]


def test_breasts_are_softer_than_the_chest_and_a_flat_one_is_chest(man, body):
    template = man[0]
    woman = layered_template("female")
    parts = np.array([name.split("_")[-1] for name in template.body.part_names])
    labels, ribs = template.body.part_labels, over_ribs(template)
    least = []
    deep = np.full(len(labels), BREAST_DEPTH)
    for skin in (woman.skin, template.skin):
        soft = fat_softness(template.body, Mesh(skin, template.triangles), labels, ribs, deep)
        least.append(soft[parts[labels] == "breast"].min())
        assert soft[parts[labels] == "shin"].min() > 0.9
        assert 1.5 < np.median(soft[parts[labels] == "back"]) <= soft.max() < 2.01
    assert least[0] == pytest.approx(GLAND.modulus / FAT.modulus, rel=0.1)  # blended over 2 cm
    assert least[1] > 1.5 * least[0]


def test_breasts_of_half_the_depth_are_half_as_firm_within_bounds(man):
    """Excursions then grow in proportion to depth, not to its square: depth²/modulus."""
    template, woman = man[0], layered_template("female")
    parts = np.array([name.split("_")[-1] for name in template.body.part_names])
    labels, ribs = template.body.part_labels, over_ribs(template)
    surface = Mesh(woman.skin, template.triangles)

    def softest(depth: float) -> float:
        thickness = np.full(len(labels), depth)
        soft = fat_softness(template.body, surface, labels, ribs, thickness)
        return float(soft[parts[labels] == "breast"].min())

    usual = softest(BREAST_DEPTH)
    assert softest(BREAST_DEPTH / 2) == pytest.approx(usual / 2, rel=0.15)  # blended over 2 cm
    assert softest(0.001) > 0.3 * usual
    assert softest(1.0) < 2.5 * usual


def test_ribs_lie_beneath_chest_and_back_and_nowhere_below_the_waist(man):
    template = man[0]
    parts = np.array([name.split("_")[-1] for name in template.body.part_names])
    ribs, part = over_ribs(template), parts[template.body.part_labels]
    assert ribs[part == "back"].mean() > 0.4  # shoulder blades and the lower back are not ribs
    assert ribs[np.isin(part, ("chest", "breast"))].mean() > 0.5
    assert not ribs[np.isin(part, ("hips", "thigh", "shin", "forearm", "buttock"))].any()


def test_muscle_is_three_times_as_firm_over_the_ribs_and_as_elsewhere_without_tissue(man, deformer):
    """Stiffness with the tissue map over that without: 1 in muscle of the legs, 3 on the ribs."""
    identity = man[2]
    mapped, plain = (
        deformer.simulation({"tissue": np.asarray(tissue)}).body(identity) for tissue in (1.0, 0.0)
    )
    mesh = mapped._preparation.mesh
    ratio = mapped.system.constraints[0].weights / plain.system.constraints[0].weights
    ratio = ratio.reshape(len(mesh.tetrahedra), -1)[mesh.is_muscle].mean(axis=1)
    assert abs(ratio.max() - 3.0) < 0.05
    low = mesh.rest[mesh.tetrahedra[mesh.is_muscle]][..., 1].max(axis=1) < 0.8
    np.testing.assert_allclose(ratio[low], 1.0, atol=0.01)


def test_every_bone_but_the_hands_has_a_joint(man):
    template = man[0]
    names = template.body.skeleton.names
    expected = {
        "l_femur": "left_hip",
        "r_tibia": "right_knee",
        "scapula_l": "left_collar",
        "torso_geom_13_ribcage_s": "spine3",
        "r_pelvis": "pelvis",
        "hat_skull": "head",
        "l_bofoot": "left_foot",
        "l_foot": "left_ankle",
    }
    for bone, joint in expected.items():
        index = joint_of_bone(bone, names)
        assert index is not None
        assert names[index] == joint
    assert joint_of_bone("2proxph_l", names) is None


def test_bone_weights_are_shares_and_ribs_are_held(man):
    template = man[0]
    weights = bone_weights(template)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-5)
    held = held_by_bone(weights, template.layered, template.body.skeleton.names)
    parts = np.array(template.body.part_names)[template.body.part_labels]
    assert held[parts == "chest"].mean() > 0.7
    assert 0.02 < (~held[template.layered]).mean() < 0.5


def test_ribs_share_the_turn_of_a_trunk(man):
    """A back that turns by a third at each of its joints: the lowest ribs have half of it, the
    highest all, and those between less the lower they are.

    In one piece all ribs had all of it, and the waist below them, a hand high, collapsed.
    """
    template = man[0]
    names = template.body.skeleton.names
    turns = np.zeros(len(names))
    turns[[names.index(name) for name in ("spine1", "spine2", "spine3")]] = [1 / 3, 2 / 3, 1.0]
    turn, height = bone_weights(template) @ turns, template.bone[:, 1]
    ribs = over_ribs(template)
    places = np.quantile(height[ribs], [0.02, 0.98])
    assert turn[ribs & (height < places[0])].mean() < 0.6
    assert turn[ribs & (height > places[1])].mean() > 0.95
    layers = np.digitize(height[ribs], np.linspace(places[0], places[1], 9))
    means = [turn[ribs][layers == layer].mean() for layer in range(10)]
    assert (np.diff(means) >= -1e-3).all()


def test_a_wrong_control_or_body_is_refused(man, deformer):
    template, layers, identity = man
    with pytest.raises(InputError, match="has no control 'jelly'"):
        deformer.animate(identity, still(template, 1), {"jelly": np.asarray(1.0)})
    with pytest.raises(InputError, match="control muscle is 0"):
        deformer.animate(identity, still(template, 1), {"muscle": np.asarray(0.0)})
    other = Identity(1.02 * template.skin, template.joints, {"gender": np.asarray(1.0)})
    with pytest.raises(InputError, match="fitted into this body"):
        LayeredSkinning(template.body, layers).animate(other, still(template, 1))
