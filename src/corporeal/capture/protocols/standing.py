"""The stand that quiet recordings start from."""

from typing import Final

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.template import Template
from corporeal.capture.person import Person
from corporeal.motions.library import make_motion
from corporeal.motions.posture import stoop_at
from corporeal.skinning.linear import LinearBlendSkinning

_ANY: Final = "hips"
"""All authored motions begin in the same stand."""


def a_pose(person: Person, template: Template) -> Float64[NumpyArray, "J 3"]:
    """Joint rotations of a quiet stand with the arms held off, as round as age makes backs."""
    motion = make_motion(
        _ANY,
        person.identity,
        template,
        fps=10.0,
        duration=2.0,
        a_pose=True,
        stoop=stoop_at(person.age),
    )
    return np.asarray(motion.joint_rotations[0], np.float64)


def on_the_ground(
    name: str,
    rotations: Float64[NumpyArray, "N J 3"],
    person: Person,
    template: Template,
) -> Motion:
    """Poses as a motion of one frame a second, each lowered or raised until it touches y = 0."""
    poses = Motion(name, 1.0, rotations, np.zeros((len(rotations), 3)), template.skeleton)
    skin = np.asarray(LinearBlendSkinning(template).animate(person.identity, poses).vertices)
    middle = skin[:, :, [0, 2]].mean(axis=1)
    shift = -np.stack([middle[:, 0], skin[:, :, 1].min(axis=1), middle[:, 1]], axis=1)
    return Motion(name, 1.0, rotations, shift.astype(np.float64), template.skeleton)
