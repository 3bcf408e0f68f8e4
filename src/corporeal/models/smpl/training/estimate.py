"""What pose training looks for, and what it looks at."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.linear_model import Blending
from corporeal.body.pose import RotationPose
from corporeal.errors import InputError
from corporeal.models.smpl.features import feature_values
from corporeal.models.smpl.fitting.linearised import SkinnedPerson
from corporeal.models.smpl.fitting.many_poses import AT_ONCE
from corporeal.skinning.gradients import influences_of, skin_gradient
from corporeal.skinning.kinematics import KinematicState


@dataclass(frozen=True)
class PosedMeshes:
    """The multi-pose set: registrations of known subjects in unknown poses."""

    vertices: Float[NumpyArray, "N V 3"]
    """Metres."""
    subjects: Int[NumpyArray, "N"]
    """Subject of every registration, from 0 on."""

    def __post_init__(self) -> None:
        if len(self.vertices) != len(self.subjects) or not len(self.subjects):
            raise InputError(
                f"{len(self.vertices)} registrations of {len(self.subjects)} subjects' numbers "
                f"came; expected as many, and at least one."
            )
        if set(self.subjects.tolist()) != set(range(self.subject_count)):
            raise InputError(
                f"subjects are numbered {sorted(set(self.subjects.tolist()))[:8]} …; expected 0 to "
                f"{self.subject_count - 1} without gaps."
            )

    @property
    def subject_count(self) -> int:
        """Number I of subjects."""
        return int(self.subjects.max()) + 1

    def of_subject(self, subject: int) -> Int[NumpyArray, "n"]:
        """The registrations of one subject."""
        return np.flatnonzero(self.subjects == subject)


@dataclass(frozen=True)
class Estimate:
    """Poses Θ, subjects {T̂, Ĵ}, blend weights W and pose blend shapes P, as far as found."""

    rotations: Float[NumpyArray, "N J 3 3"]
    """Θ: parent-relative rotation of every joint in every registration."""
    translations: Float[NumpyArray, "N 3"]
    """Metres."""
    rest_shapes: Float[NumpyArray, "I V 3"]
    """T̂_i: every subject in the zero pose, metres."""
    joints: Float[NumpyArray, "I J 3"]
    """Ĵ_i, metres."""
    weights: Float[NumpyArray, "V J"]
    """𝒲: skin weights; every row sums to 1."""
    pose_offsets: Float[NumpyArray, "P V 3"]
    """In the registrations' precision, metres."""
    parents: tuple[int, ...]
    """Parent of every joint, −1 for the root."""
    blending: Blending = "lbs"
    """How joint motions are blended."""

    @property
    def dtype(self) -> Any:
        """The precision in which skins are computed."""
        return self.pose_offsets.dtype

    def pose(self, registration: int) -> RotationPose:
        """The pose of one registration."""
        return RotationPose(self.rotations[registration], self.translations[registration])

    def poses(self, which: NumpyArray) -> RotationPose:
        """Of some registrations."""
        return RotationPose(self.rotations[which], self.translations[which])

    def person(self, subject: int) -> SkinnedPerson:
        """One subject, ready to be posed and differentiated."""
        return SkinnedPerson(
            self.rest_shapes[subject].astype(self.dtype),
            self.joints[subject],
            self.weights.astype(self.dtype),
            self.pose_offsets,
            self.parents,
            self.blending,
        )

    def features(self) -> Float64[NumpyArray, "N P"]:
        """R(θ) − R(θ*) of every registration."""
        return feature_values("rotations", self.rotations)


@dataclass(frozen=True)
class SomeRegistrations:
    """Neighbouring registrations of one subject, and the model's skins for them."""

    subject: int
    """Whose they are."""
    which: Int[NumpyArray, "n"]
    """Their numbers among all registrations."""
    tree: KinematicState
    """Forward kinematics of their poses."""
    points: Float[NumpyArray, "n V 3"]
    """Rest skins with their pose offsets, metres."""
    targets: Float[NumpyArray, "n V 3"]
    """Vertices of the registrations, metres."""


def walk(meshes: PosedMeshes, estimate: Estimate) -> Iterator[SomeRegistrations]:
    """All registrations, a few of one subject at a time."""
    for subject in range(meshes.subject_count):
        person, own = estimate.person(subject), meshes.of_subject(subject)
        for first in range(0, len(own), AT_ONCE):
            which = own[first : first + AT_ONCE]
            poses = estimate.poses(which)
            tree, points = person.kinematics(poses), person.corrected(poses.rotations)
            yield SomeRegistrations(subject, which, tree, points, meshes.vertices[which])


def distances(meshes: PosedMeshes, estimate: Estimate) -> Float64[NumpyArray, "N"]:
    """Mean distance of the vertices of every registration from the model, metres."""
    influences = influences_of(estimate.weights)
    result = np.empty(len(meshes.subjects))
    for some in walk(meshes, estimate):
        found = skin_gradient(estimate.blending, influences, some.points, some.tree, some.targets)
        result[some.which] = found.distances
    return result
