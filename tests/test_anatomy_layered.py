"""Layered physics: rest, rigid motion, and what carries which bone."""

import numpy as np
import pytest

from corporeal.anatomy.layered.bone_motion import bone_weights, held_by_bone, joint_of_bone
from corporeal.anatomy.layered.deformer import CONTROLS, LayeredSimulation, LayeredSkinning
from corporeal.anatomy.template import layered_template
from corporeal.body.deformer import Deformer
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.motion import Motion
from corporeal.errors import InputError


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
def simulation(man):
    template, layers, identity = man
    settings = {control.name: control.default for control in CONTROLS}
    return LayeredSimulation(layers, identity, template.body, "male", settings)


def still(template, frames: int, root: np.ndarray | None = None) -> Motion:
    joints = template.body.skeleton.joint_count
    way = np.zeros((frames, 3)) if root is None else root
    return Motion("still", 60.0, np.zeros((frames, joints, 3)), way, template.body.skeleton)


def test_it_is_a_deformer(man):
    assert isinstance(LayeredSkinning(man[0].body), Deformer)


def test_standing_still_nothing_moves(man, simulation):
    """The rest shape is in balance under gravity: forces cancel to single precision."""
    template = man[0]
    skins = simulation.clip(still(template, 4))
    assert np.abs(skins - template.skin).max() < 5e-5


def test_a_shifted_skeleton_carries_every_layer_along(man, simulation):
    template = man[0]
    way = np.array([1.0, 2.0, 3.0])
    frames = simulation.frames(still(template, 3, np.tile(way, (3, 1))))
    carried = simulation.carried(frames[0])
    np.testing.assert_allclose(carried, simulation.flesh.rest + way, atol=1e-9)


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
    held = held_by_bone(weights, template.layered)
    parts = np.array(template.body.part_names)[template.body.part_labels]
    assert held[parts == "chest"].mean() > 0.7
    assert 0.02 < (~held[template.layered]).mean() < 0.5


def test_a_wrong_motion_or_control_is_refused(man):
    template, layers, identity = man
    deformer = LayeredSkinning(template.body, layers)
    with pytest.raises(InputError, match="unknown control"):
        deformer.animate(identity, still(template, 1), {"jelly": np.asarray(1.0)})
    with pytest.raises(InputError, match="muscle is 0"):
        deformer.animate(identity, still(template, 1), {"muscle": np.asarray(0.0)})
