"""What pose training looks for, and what it looks at."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.linear_model import Blending
from corporeal.errors import InputError
from corporeal.models.smpl.blends import Blend, make_blend
from corporeal.models.smpl.linearised import PoseState, SkinnedPerson, chained


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
        return int(self.subjects.max()) + 1

    def of_subject(self, subject: int) -> Int[NumpyArray, "n"]:
        """The registrations of one subject."""
        return np.flatnonzero(self.subjects == subject)


@dataclass(frozen=True)
class Estimate:
    """Poses Θ, subjects {T̂, Ĵ}, blend weights W and pose blend shapes P, as far as found."""

    rotations: Float[NumpyArray, "N J 3 3"]
    translations: Float[NumpyArray, "N 3"]
    """Metres."""
    rests: Float[NumpyArray, "I V 3"]
    """T̂_i: every subject in the zero pose, metres."""
    joints: Float[NumpyArray, "I J 3"]
    """Ĵ_i, metres."""
    weights: Float[NumpyArray, "V J"]
    pose_offsets: Float[NumpyArray, "P V 3"]
    parents: tuple[int, ...]
    blending: Blending = "lbs"

    def pose(self, registration: int) -> PoseState:
        return PoseState(self.rotations[registration], self.translations[registration])

    def person(self, subject: int) -> SkinnedPerson:
        return SkinnedPerson(
            self.rests[subject],
            self.joints[subject],
            self.weights,
            self.pose_offsets,
            self.parents,
            self.blending,
        )

    def blend(self, registration: int, subject: int) -> Blend:
        """How the parts move the skin of one registration, without the root's translation."""
        joints = self.joints[subject]
        world, centres = chained(self.rotations[registration], joints, self.parents)
        shifts = centres - np.einsum("kab,kb->ka", world, joints)
        return make_blend(self.blending, self.weights, world, shifts)

    def features(self) -> Float[NumpyArray, "N P"]:
        """R(θ) − R(θ*) of every registration."""
        count = len(self.rotations)
        return (self.rotations[:, 1:] - np.eye(3)).reshape(count, -1)


def distances(meshes: PosedMeshes, estimate: Estimate) -> Float[NumpyArray, "N"]:
    """Mean distance of the vertices of every registration from the model, metres."""
    people = [estimate.person(i) for i in range(meshes.subject_count)]
    return np.array(
        [
            np.mean(np.linalg.norm(people[s].posed(estimate.pose(n)).vertices - v, axis=1))
            for n, (v, s) in enumerate(zip(meshes.vertices, meshes.subjects.tolist(), strict=True))
        ]
    )
