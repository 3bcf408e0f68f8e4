"""Where in the motion everything is, and how time goes on there."""

import math
from functools import cached_property

import numpy as np

from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.motions.resample import resample, sampled
from corporeal.skinning.kinematics import forward_kinematics
from corporeal.viewer.document import Root

FPS = 60.0
"""Frames a second that are shown, and that motions are resampled to."""


class Playhead:
    """A place in a motion, in its frames; moves on by `speed` frames a step and may loop."""

    def __init__(self, motion: Motion) -> None:
        self.motion = motion if motion.fps == FPS else resample(motion, FPS)
        self.place = 0.0
        self.wrapped = False
        """Whether the last step went over the seam of the loop."""

    @cached_property
    def room(self) -> tuple[float, float]:
        """How high the joints come over the floor, and how far they go from the pelvis sideways or
        forth, at most, metres: what a picture of the whole motion needs."""
        skeleton, some = self.motion.skeleton, slice(None, None, 5)
        frames = forward_kinematics(
            np.asarray(self.motion.joint_rotations, np.float64)[some],
            np.asarray(skeleton.joints, np.float64),
            skeleton.parents,
            np.asarray(self.motion.root_translation, np.float64)[some],
        )
        places = frames[..., :3, 3]
        away = np.linalg.norm((places - places[:, :1])[..., [0, 2]], axis=-1)
        return float(places[..., 1].max()), float(away.max())

    @property
    def last(self) -> float:
        """The last place."""
        return float(self.motion.frame_count - 1)

    def seek(self, place: float) -> None:
        """Go to a place, or as near as there is one."""
        self.place = min(max(place, 0.0), self.last)
        self.wrapped = False

    def step(self, speed: float, loop: bool) -> bool:
        """Go on by one shown frame; False at the end of a motion that does not loop."""
        place, self.wrapped = self.place + speed, False
        if place > self.last + 1e-9:
            if not loop or self.last == 0.0:
                self.place = self.last
                return False
            place, self.wrapped = math.fmod(place, self.last), True
        self.place = place
        return True

    def pose(self) -> Pose:
        """The pose here; between frames, on the shortest turn from one to the next."""
        before = int(self.place)
        fraction = self.place - before
        if fraction < 1e-9 or before + 1 >= self.motion.frame_count:
            rotations, root = self.motion.joint_rotations, self.motion.root_translation
            return Pose(rotations[before], root[before])
        around = slice(max(before - 1, 0), before + 3)
        few = Motion(
            "around",
            FPS,
            self.motion.joint_rotations[around],
            self.motion.root_translation[around],
            self.motion.skeleton,
        )
        between = sampled(few, np.array([self.place - around.start]), FPS)
        return Pose(between.joint_rotations[0], between.root_translation[0])


def rooted(motion: Motion, root: Root) -> Motion:
    """The motion with its root as chosen: free, kept over one spot, or held."""
    if root == "free":
        return motion
    rotations = np.array(motion.joint_rotations)
    translation = np.array(motion.root_translation)
    if root == "fixed":
        rotations[:, 0], translation[:] = rotations[0, 0], translation[0]
    else:
        translation[:, [0, 2]] = translation[0, [0, 2]]
    return Motion(motion.name, motion.fps, rotations, translation, motion.skeleton)
