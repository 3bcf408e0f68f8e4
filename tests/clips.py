"""Small motion-capture files of our own, for tests that need a clip but not somebody's capture."""

from functools import cache
from pathlib import Path

import numpy as np

from corporeal.assets.default_body import load_default_body
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.formats.bvh import write_bvh
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion

BODY_JOINTS = 22


@cache
def _authored(name: str, fps: float, duration: float) -> Motion:
    """An authored motion of the average body, without fingers, after one frame of T-pose."""
    motion = make_motion(
        name, PhenotypeModel().prepare(), load_default_body().template, fps=fps, duration=duration
    )
    whole = motion.skeleton
    skeleton = Skeleton(
        whole.names[:BODY_JOINTS], whole.parents[:BODY_JOINTS], whole.joints[:BODY_JOINTS]
    )
    rotations = np.asarray(motion.joint_rotations)[:, :BODY_JOINTS]
    way = np.asarray(motion.root_translation)
    return Motion(
        name,
        fps,
        np.concatenate([np.zeros_like(rotations[:1]), rotations]),
        np.concatenate([np.zeros_like(way[:1]), way]),
        skeleton,
    )


def write_authored_clip(
    path: Path, name: str = "jumping-jacks", fps: float = 120.0, duration: float = 2.0
) -> Path:
    """A BVH file such as a capture gives: body joints alone, a T-pose before the first frame."""
    write_bvh(path, _authored(name, fps, duration))
    return path
