"""Round backs: by how much at which age, with a level gaze and hanging arms."""

import numpy as np
import pytest

from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.motions.library import make_motion
from corporeal.motions.posture import stoop_at
from corporeal.skinning.kinematics import forward_kinematics

TEMPLATE = load_default_body().template
SKELETON = TEMPLATE.skeleton
BODY = Identity(
    np.asarray(TEMPLATE.mesh.vertices, np.float64), np.asarray(SKELETON.joints, np.float64), {}
)


@pytest.mark.quick
def test_backs_grow_round_after_fifty() -> None:
    assert stoop_at(20.0) == stoop_at(50.0) == 0.0
    np.testing.assert_allclose(np.rad2deg(stoop_at(75.0)), 19.0)  # 41 to 60 degrees
    assert stoop_at(95.0) == stoop_at(80.0)


@pytest.mark.quick
def test_the_chest_leans_and_head_and_arms_do_not() -> None:
    """World rotations of a stand: the chest by the whole angle about x, head and arms as before."""
    stoop, frames = 0.3, []
    for angle in (0.0, stoop):
        motion = make_motion("hips", BODY, TEMPLATE, fps=10.0, duration=2.0, stoop=angle)
        world = forward_kinematics(
            np.asarray(motion.joint_rotations[:1], np.float64),
            np.asarray(BODY.joints),
            SKELETON.parents,
            np.asarray(motion.root_translation[:1], np.float64),
        )
        frames.append(world[0])
    upright, stooped = frames
    cos, sin = np.cos(stoop), np.sin(stoop)
    lean = np.array([[1, 0, 0], [0, cos, -sin], [0, sin, cos]])
    chest = SKELETON.index("spine3")
    np.testing.assert_allclose(stooped[chest, :3, :3], lean @ upright[chest, :3, :3], atol=1e-12)
    head = SKELETON.index("head")
    np.testing.assert_allclose(stooped[head, :3, :3], upright[head, :3, :3], atol=1e-12)
    for side in ("left", "right"):
        elbow, shoulder = (SKELETON.index(f"{side}_{name}") for name in ("elbow", "shoulder"))
        before = upright[elbow, :3, 3] - upright[shoulder, :3, 3]
        after = stooped[elbow, :3, 3] - stooped[shoulder, :3, 3]
        apart = np.arccos(before @ after / np.linalg.norm(before) / np.linalg.norm(after))
        assert apart < 0.1 * stoop  # collars lean with the chest
    assert stooped[head, 2, 3] > upright[head, 2, 3] + 0.02
