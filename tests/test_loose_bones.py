"""Flesh of the trunk that lies over a collar bone does not go with it."""

from dataclasses import replace

import numpy as np
import pytest
from limbs import limb, posed

from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.coupling.coupling import Coupling
from corporeal.physics.coupling.loose_bones import LOOSE, follow_shares
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.volumetric_mesh.model import build_volumetric_model
from corporeal.skinning.kinematics import forward_kinematics

ANGLE = 0.4


@pytest.mark.parametrize("sliding", [True, False])
def test_a_share_below_a_half_turns_that_part_of_the_way(sliding: bool):
    """x = 2w H + (1 − 2w) P about the joint: at rest for w = 0, half turned for w = ½."""
    mesh, skeleton = limb()
    model = build_volumetric_model(mesh, skeleton)
    share = np.random.default_rng(0).uniform(0.0, 1.0, model.vertex_count)
    frames = posed(skeleton, {"middle": [0.0, 0.0, ANGLE]})
    plain = Coupling(model, skeleton, sliding=sliding)
    coupling = Coupling(model, skeleton, sliding=sliding, follow_shares={"middle": share})
    moved = coupling.inner_positions(frames)
    joint = skeleton.index("middle")
    on_bone = model.bones.bone_joints[plain.bindings.bones] == joint
    own = (on_bone | (plain.bindings.nodes == joint)) & ~model.free_inner
    above = own & (share < 0.5)
    assert min(above.sum(), (own & ~above).sum()) > 20
    pivot = np.asarray(skeleton.joints, np.float64)[joint]
    half = matrix_from_axis_angle(np.array([0.0, 0.0, 0.5 * ANGLE]))
    turned = (model.inner - pivot) @ half.T + pivot
    expected = model.inner + 2.0 * share[:, None] * (turned - model.inner)
    np.testing.assert_allclose(moved[above], expected[above], atol=1e-13)
    np.testing.assert_array_equal(moved[~above], plain.inner_positions(frames)[~above])


def test_breasts_stay_on_the_ribs_while_collars_go_down():
    """Skin that follows the chest alone stays: what its inner copy lies on is the chest's.

    Nearest bone lines alone put it on the collar bones, which carried it by up to 14 mm.
    """
    model = PhenotypeModel()
    preparation = Preparations(model.template).of(model.prepare(), "t-pose")
    settings, skeleton = ProjectiveControls(), preparation.skeleton
    flesh, coupling = preparation.model(settings), preparation.coupling(settings)
    rotations = np.zeros((skeleton.joint_count, 3))
    for name, sign in zip(LOOSE, (-1.0, 1.0), strict=True):
        rotations[skeleton.index(name), 2] = sign * np.radians(12.0)
    frames = forward_kinematics(rotations, preparation.joints, skeleton.parents, np.zeros(3))
    template, rows = model.template, preparation.coarse.vertex_indices
    shares = follow_shares(template.weights, skeleton)
    still = np.all([share[rows] < 1e-6 for share in shares.values()], axis=0)
    labels = np.asarray(template.part_names)[template.part_labels[rows]]
    breasts = still & np.isin(labels, ["left_breast", "right_breast"])
    assert breasts.sum() > 50
    away = np.linalg.norm(coupling.inner_positions(frames) - flesh.inner, axis=1)
    assert away[breasts].max() < 1e-9
    stuck = Coupling(flesh, skeleton).inner_positions(frames)
    carried = np.linalg.norm(stuck - flesh.inner, axis=1)[breasts].max()
    assert carried > 0.01


def test_shares_are_sums_over_a_joint_and_what_is_below():
    """A skeleton without collars has no loose bones."""
    template = PhenotypeModel().template
    shares = follow_shares(template.weights, template.skeleton)
    assert tuple(shares) == LOOSE
    dense, names = template.weights.dense(), template.skeleton.names
    arm = [n for n in names if n.startswith("left_") and not n.endswith(("hip", "knee", "ankle"))]
    columns = [template.skeleton.index(n) for n in arm if n != "left_foot"]
    np.testing.assert_allclose(shares["left_collar"], dense[:, columns].sum(axis=1), atol=1e-6)
    others = replace(template.skeleton, names=tuple(name.upper() for name in names))
    assert follow_shares(template.weights, others) == {}
