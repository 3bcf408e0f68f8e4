"""How far apart thick thighs hold the feet, by planted thighs."""

from dataclasses import replace

import numpy as np
import pytest

from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.motions.library import make_motion
from corporeal.motions.thighs import PRESSED, least_stance
from corporeal.skinning.kinematics import forward_kinematics

TEMPLATE = load_default_body().template
SKELETON = TEMPLATE.skeleton


def default_identity(gap: float | None = None) -> Identity:
    """The default body; its thighs flat inside, `gap` metres from the plane of symmetry."""
    vertices = np.array(TEMPLATE.mesh.vertices, np.float64)
    if gap is not None:
        left = TEMPLATE.part("left_thigh")
        vertices[left, 0] = np.maximum(gap, 0.12 + 0 * left)
        lowest = left[np.argmin(vertices[left, 1])]
        vertices[lowest, 0] = gap
    return Identity(vertices, np.asarray(SKELETON.joints, np.float64), {})


@pytest.mark.quick
def test_a_planted_thigh_says_how_far_in_the_foot_may_go() -> None:
    """One vertex s below the hip, x from the middle: φ = (x + pressed) / s, the ball L below it."""
    identity = default_identity(gap=0.01)
    joints = np.asarray(identity.joints)
    hip, ball = joints[SKELETON.index("left_hip")], joints[SKELETON.index("left_foot")]
    left = TEMPLATE.part("left_thigh")
    below = hip[1] - np.asarray(identity.rest_vertices)[left, 1].min()
    turn = (0.01 + PRESSED) / below
    expected = ball[0] - turn * (hip[1] - ball[1])
    assert least_stance(TEMPLATE, identity) == pytest.approx(expected, rel=1e-12)


@pytest.mark.quick
def test_feet_keep_apart_for_thick_thighs_alone() -> None:
    """A slim runner's feet land near the middle; one whose thighs touch stands as they need."""
    slim, thick = default_identity(), default_identity(gap=-0.002)
    needed = least_stance(TEMPLATE, thick)
    for identity, least in ((slim, None), (thick, needed)):
        motion = make_motion("running-on-spot", identity, TEMPLATE, duration=2.0, fps=30.0)
        frames = forward_kinematics(
            np.asarray(motion.joint_rotations, np.float64),
            np.asarray(identity.joints),
            SKELETON.parents,
            np.asarray(motion.root_translation, np.float64),
        )
        feet = [frames[0, SKELETON.index(f"{side}_foot"), 0, 3] for side in ("left", "right")]
        half = 0.5 * (feet[0] - feet[1])
        hip = abs(float(np.asarray(identity.joints)[SKELETON.index("left_hip"), 0]))
        assert half == pytest.approx(0.55 * hip if least is None else least, abs=1e-6)
    assert needed > 0.9 * abs(float(np.asarray(SKELETON.joints)[SKELETON.index("left_hip"), 0]))
    named = tuple(f"part {number}" for number in range(len(TEMPLATE.part_names)))
    assert least_stance(replace(TEMPLATE, part_names=named), thick) == 0.0
