"""What there is to know about a motion before moving a body with it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.motions.flight import check_frame_rate
from corporeal.pipelines.animate import AnimateConfig, is_motion_file, load_body, load_motion


@dataclass(frozen=True)
class MotionFacts:
    """A motion in figures; SI units."""

    name: str
    """Of the motion."""
    frames: int
    """Number of frames."""
    fps: float
    """Frames a second."""
    duration: float
    """Seconds."""
    joints: int
    """Number of joints."""
    root_travel: float
    """Length of the pelvis' way over the ground, metres."""
    root_height: tuple[float, float]
    """Lowest and highest pelvis, metres."""
    fastest_joint: str
    """Name of the joint with the greatest turning speed."""
    fastest_speed: float
    """Greatest turning speed of any joint, rad/s."""
    frame_rate_check: str
    """What free flight says about the frame rate."""
    notes: tuple[str, ...]
    """What reading the file had to say, in words."""


def describe_motion(config: AnimateConfig) -> MotionFacts:
    """Read or author the motion that `config` names, for the body it names, and measure it."""
    if is_motion_file(config.motion) and not Path(config.motion).is_file():
        raise InputError(f"there is no file {config.motion}; expected a motion file.")
    body = load_body(config.body)
    motion, came = load_motion(config, body)
    return _facts(motion, tuple(came.get("motion_notes", ())))


def _facts(motion: Motion, notes: tuple[str, ...]) -> MotionFacts:
    from corporeal.motions.derivatives import turning_speed

    pelvis = np.asarray(motion.root_translation) + np.asarray(motion.skeleton.joints)[0]
    speed = turning_speed(motion)
    fastest = np.unravel_index(int(np.argmax(speed)), speed.shape)
    return MotionFacts(
        name=motion.name,
        frames=motion.frame_count,
        fps=motion.fps,
        duration=motion.duration,
        joints=motion.skeleton.joint_count,
        root_travel=float(np.linalg.norm(np.diff(pelvis[:, [0, 2]], axis=0), axis=1).sum()),
        root_height=(float(pelvis[:, 1].min()), float(pelvis[:, 1].max())),
        fastest_joint=motion.skeleton.names[int(fastest[1])],
        fastest_speed=float(speed[fastest]),
        frame_rate_check=check_frame_rate(motion).words,
        notes=notes,
    )
