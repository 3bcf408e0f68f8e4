"""From a stepper and a motion to an animation, for any deformer with a memory."""

from typing import Any

import numpy as np

from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.stepper import Stepper
from corporeal.body.template import Template
from corporeal.skinning.linear import LinearBlendSkinning


def stepped_take(
    deformer: str, template: Template, stepper: Stepper[Any], identity: Identity, motion: Motion
) -> Animation:
    """The identity started in the motion's first pose, and stepped frame by frame.

    `deformer` is the name that the animation carries.
    """
    world_from_joint = LinearBlendSkinning(template).world_from_joint(identity, motion.poses)
    rotations, translation = motion.joint_rotations, motion.root_translation
    poses = [Pose(r, t) for r, t in zip(rotations, translation, strict=True)]
    state = stepper.start(identity, poses[0])
    posed_vertices = [stepper.skin(state)]
    for pose in poses[1:]:
        state = stepper.step(state, pose, 1.0 / motion.fps)
        posed_vertices.append(stepper.skin(state))
    return Animation(
        deformer=deformer,
        template=template,
        identity=identity,
        motion=motion,
        vertices=np.stack(posed_vertices).astype(rotations.dtype),
        world_from_joint=world_from_joint,
    )
