"""Train Dyna: total deformations of takes, what movement adds to them, and what predicts that."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corporeal._typing import Float32, NumpyArray
from corporeal.body.dynamics import DynamicDeformations, TriangleDynamics
from corporeal.body.registrations import Registrations, Take
from corporeal.body.skeleton import Skeleton
from corporeal.body.triangle_model import TriangleModel
from corporeal.dynamics.body_mass import body_mass_index
from corporeal.dynamics.known_takes import (
    known_genders,
    known_people,
    personal_means,
    require_twins,
    training_report,
)
from corporeal.dynamics.rest_offsets import frames_of
from corporeal.dynamics.training import (
    Against,
    DynamicsTraining,
    Learned,
    ProgressCallback,
    learn,
)
from corporeal.models.blendscape.triangles import (
    DeformedTriangles,
    triangle_frames,
    world_rotations,
)


@dataclass(frozen=True)
class TrainedDyna:
    """A model, how it came to be, and the takes as coefficients."""

    model: TriangleDynamics
    """The new model; its components are orthonormal."""
    report: Mapping[str, Any]
    """Settings, data and figures; JSON values."""
    learned: Learned
    """Components and coefficients of all frames."""


@dataclass(frozen=True)
class DynaTrainer:
    """Settings of one training; `fit` gives back a new model."""

    training: DynamicsTraining = field(
        default_factory=lambda: DynamicsTraining(count=40, most_rows=6000)
    )
    """Components, predictors, and what dynamics are the difference to."""

    def fit(
        self,
        takes: Registrations,
        body: TriangleModel,
        skeleton: Skeleton,
        callback: ProgressCallback | None = None,
    ) -> TrainedDyna:
        """Learn from movements whose poses and people are known."""
        people = known_people(takes)
        rows = TotalDeformations(body, self.training.against, takes)
        indices = {name: body_mass_index(who, body.triangles) for name, who in people.items()}
        genders = known_genders(takes)
        found = learn(
            takes.takes, skeleton, rows, people, indices, self.training, callback, genders
        )
        components = found.components
        count = len(body.triangles)
        dynamic = DynamicDeformations(
            components.directions.reshape(-1, count, 3, 3).astype(np.float32),
            components.mean.reshape(count, 3, 3).astype(np.float32),
            found.predictors,
        )
        report = training_report(self.training, takes, indices, found)
        return TrainedDyna(TriangleDynamics(body, dynamic), report, found)


class TotalDeformations:
    """D of a frame: T = R*⁺ V V̂⁻¹ Q⁻¹ less that of its quasi-static twin, or less S̄ (eq. 13).

    Every triangle by itself, its normal the third edge; `decomposition` is the smoothed one.
    """

    def __init__(self, body: TriangleModel, against: Against, takes: Registrations) -> None:
        self._triangles, self._against = DeformedTriangles(body), against
        if against == "twin":
            require_twins(takes.takes)
        self._own = personal_means(takes.takes, self._raw) if against == "model" else {}

    @property
    def size(self) -> int:
        """Numbers of a row."""
        return 9 * len(self._triangles.model.triangles)

    def rows(self, take: Take, frames: NumpyArray) -> Float32[NumpyArray, "n s"]:
        """D of some frames."""
        found = self._raw(take, frames)
        if self._against == "model":
            found = found - self._own[take.subject]
        return found.reshape(len(frames), -1)

    def _raw(self, take: Take, frames: NumpyArray) -> Float32[NumpyArray, "n F 3 3"]:
        model = self._triangles.model
        assert take.truth is not None
        turns = frames_of(take.truth.joint_rotations, frames)
        world = world_rotations(turns, model.parents)
        seen = frames_of(take.vertices, frames)
        still = None
        if self._against == "twin":
            assert take.twin is not None
            still = frames_of(take.twin.vertices, frames)
        found = np.empty((len(frames), len(model.triangles), 3, 3), np.float32)
        for n in range(len(frames)):
            posed = triangle_frames(seen[n].astype(np.float64), model.triangles)
            if still is not None:
                posed = posed - triangle_frames(still[n].astype(np.float64), model.triangles)
            found[n] = self._triangles.undone(world[n], turns[n], posed)
        return found
