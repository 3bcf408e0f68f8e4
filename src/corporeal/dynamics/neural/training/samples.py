"""From takes to what a network is trained on: features of the motion, coefficients of the offsets.

Of every frame the posed skin x and its quasi-static twin x̂ are unposed by the base's skinning,
x = M (r + P(θ) + q + s) + m: s = M⁻¹ (x − x̂) is what the movement did, q = M⁻¹ (x̂ − m) − r − P(θ)
what the pose does beyond the base's correctives P. Takes without a twin count whole as movement
(Casas 2018, eq. 5).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float32, Float64, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.registrations import Registrations, Take
from corporeal.body.skeleton import Skeleton
from corporeal.dynamics.neural.features import clip_features
from corporeal.dynamics.neural.person import Tissue, person_numbers
from corporeal.dynamics.rest_offsets import beyond_static, carried_back
from corporeal.errors import InputError
from corporeal.models.smpl.corrected import CorrectedSkinning

_FRAMES_AT_ONCE = 16


@dataclass(frozen=True, eq=False)
class Sample:
    """One take as a network sees it."""

    subject: str
    """Who moves."""
    sequence: str
    """What they do."""
    fps: float
    """Frames a second."""
    movement: Float32[NumpyArray, "N m"]
    """See `features`."""
    pose: Float32[NumpyArray, "N p"]
    """See `features`."""
    person: Float64[NumpyArray, "q"]
    """See `person`; not yet standardised."""
    dynamic: Float32[NumpyArray, "N d"]
    """Coefficients of the movement's offsets."""
    static: Float32[NumpyArray, "N s"]
    """Coefficients of the pose's offsets."""


def take_motion(take: Take, skeleton: Skeleton) -> Motion:
    """The recorded poses of a take as a motion."""
    if take.truth is None or take.fps <= 0:
        raise InputError(
            f"take {take.subject} {take.sequence} has no recorded poses or frame rate; learning "
            f"movement needs both. Register it first, or leave it out."
        )
    rotations = np.asarray(take.truth.joint_rotations[0 : take.frame_count], np.float64)
    translation = np.asarray(take.truth.root_translation[0 : take.frame_count], np.float64)
    if rotations.shape[1] != skeleton.joint_count:
        raise InputError(
            f"take {take.subject} {take.sequence} has {rotations.shape[1]} joints; expected "
            f"{skeleton.joint_count}."
        )
    return Motion(take.sequence, take.fps, rotations, translation, skeleton)


def offset_blocks(
    take: Take, held: Registrations, base: CorrectedSkinning
) -> Iterator[tuple[slice, NumpyArray, NumpyArray]]:
    """Rows, s and q (metres, float32) of a few frames at a time."""
    identity = held.subjects[take.subject].identity
    if identity is None:
        raise InputError(
            f"the body of {take.subject} at rest is not known; learning movement needs it."
        )
    motion = take_motion(take, base.template.skeleton)
    for first in range(0, take.frame_count, _FRAMES_AT_ONCE):
        rows = slice(first, min(first + _FRAMES_AT_ONCE, take.frame_count))
        pose = Pose(motion.joint_rotations[rows], motion.root_translation[rows])
        blended = base.skinning.vertex_motions(identity, pose)
        skin = np.asarray(take.vertices[rows], np.float32)
        if take.twin is None:
            whole = beyond_static(base, identity, pose, blended, skin)
            yield rows, whole, np.zeros_like(whole)
            continue
        still = np.asarray(take.twin.vertices[rows], np.float32)
        posed = beyond_static(base, identity, pose, blended, still)
        yield rows, carried_back(blended, skin - still), posed


def take_features(
    take: Take, held: Registrations, base: CorrectedSkinning
) -> tuple[NumpyArray, NumpyArray, NumpyArray]:
    """Movement, pose and person of a take."""
    subject = held.subjects[take.subject]
    assert subject.identity is not None
    assert take.truth is not None
    motion = take_motion(take, base.template.skeleton)
    movement, pose = clip_features(motion, np.asarray(subject.identity.joints))
    tissue = Tissue.from_materials(take.truth.materials)
    person = person_numbers(np.asarray(subject.identity.rest_vertices), tissue)
    return movement.astype(np.float32), pose.astype(np.float32), person
