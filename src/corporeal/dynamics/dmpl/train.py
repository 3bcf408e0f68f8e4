"""Train DMPL: displacements of takes in the rest pose, their components, and what predicts them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corporeal._typing import Float32, NumpyArray
from corporeal.body.dynamics import DynamicBlendShapes
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.body.registrations import Registrations, Take
from corporeal.dynamics.body_mass import body_mass_index
from corporeal.dynamics.known_takes import (
    known_genders,
    known_people,
    personal_means,
    require_twins,
    training_report,
)
from corporeal.dynamics.rest_offsets import beyond_static, carried_back, frames_of
from corporeal.dynamics.training import (
    Against,
    DynamicsTraining,
    Learned,
    ProgressCallback,
    learn,
)
from corporeal.models.smpl.corrected import CorrectedSkinning


@dataclass(frozen=True)
class TrainedDmpl:
    """A model, how it came to be, and the takes as coefficients."""

    model: DynamicBlendShapes
    """The new model; its shapes are orthonormal."""
    report: Mapping[str, Any]
    """Settings, data and figures; JSON values."""
    learned: Learned
    """Components and coefficients of all frames."""


@dataclass(frozen=True)
class DmplTrainer:
    """Settings of one training; `fit` gives back a new model."""

    training: DynamicsTraining = field(default_factory=DynamicsTraining)
    """Components, predictors, and what dynamics are the difference to."""

    def fit(
        self,
        takes: Registrations,
        static: CorrectedSkinning,
        callback: ProgressCallback | None = None,
    ) -> TrainedDmpl:
        """Learn from movements whose poses and people are known; `static` is the SMPL."""
        skeleton = static.template.skeleton
        people = known_people(takes)
        offsets = RestDisplacements(static, people, self.training.against, takes)
        triangles = np.asarray(static.template.mesh.triangles)
        indices = {name: body_mass_index(who, triangles) for name, who in people.items()}
        genders = known_genders(takes)
        found = learn(
            takes.takes, skeleton, offsets, people, indices, self.training, callback, genders
        )
        components = found.components
        model = DynamicBlendShapes(
            components.directions.reshape(len(components.directions), -1, 3).astype(np.float32),
            components.mean.reshape(-1, 3).astype(np.float32),
            found.predictors,
        )
        return TrainedDmpl(model, training_report(self.training, takes, indices, found), found)


class RestDisplacements:
    """What a frame's flesh does beyond its static skin, in the rest pose: d = M⁻¹ (x − x̂).

    x̂ is the quasi-static twin, or SMPL's skin of the person with the mean of such displacements
    over all of the person's frames, as a personal template.
    """

    def __init__(
        self,
        static: CorrectedSkinning,
        people: Mapping[str, Identity],
        against: Against,
        takes: Registrations,
    ) -> None:
        self._static, self._people, self._against = static, people, against
        if against == "twin":
            require_twins(takes.takes)
        self._own = personal_means(takes.takes, self._raw) if against == "model" else {}

    @property
    def size(self) -> int:
        """Numbers of a row."""
        return 3 * self._static.template.mesh.vertex_count

    def rows(self, take: Take, frames: NumpyArray) -> Float32[NumpyArray, "n s"]:
        """Displacements of some frames, metres."""
        found = self._raw(take, frames)
        if self._against == "model":
            found = found - self._own[take.subject]
        return found.reshape(len(frames), -1)

    def _raw(self, take: Take, frames: NumpyArray) -> Float32[NumpyArray, "n V 3"]:
        identity, pose = self._people[take.subject], _poses(take, frames)
        seen = frames_of(take.vertices, frames)
        skinning = self._static.skinning
        rows = skinning.vertex_motions(identity, pose)
        if self._against == "twin":
            assert take.twin is not None
            return carried_back(rows, seen - frames_of(take.twin.vertices, frames))
        return beyond_static(self._static, identity, pose, rows, seen)


def _poses(take: Take, frames: NumpyArray) -> Pose:
    assert take.truth is not None
    turns = frames_of(take.truth.joint_rotations, frames)
    return Pose(turns, frames_of(take.truth.root_translation, frames))
