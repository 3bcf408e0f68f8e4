"""How well a body model meets people and poses it has not seen (Loper et al. 2015, section 5.1).

*Model generalisation*: pose and shape are fitted to every test registration by itself. *Pose
generalisation*: each person's shape is fitted to one registration, and then only the pose to the
others of the same person. Both are mean absolute distances of vertices, against the number of
shape coefficients used. Any model that can be fitted takes part: it is given by two functions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.errors import InputError

Shape = TypeVar("Shape")


@runtime_checkable
class FittedModel(Protocol, Generic[Shape]):
    """What a model must do to be evaluated."""

    def fit_people(
        self, vertices: Float[NumpyArray, "N V 3"], shape_count: int
    ) -> tuple[list[Shape], Float[NumpyArray, "N V 3"]]:
        """For each registration the shape and skin that come closest, with so many coefficients."""
        ...

    def fit_poses(
        self, vertices: Float[NumpyArray, "N V 3"], shape: Shape
    ) -> Float[NumpyArray, "N V 3"]:
        """For each registration the skin of this shape that comes closest, in its best pose."""
        ...


@dataclass(frozen=True)
class Generalisation:
    """Errors of one model; rows are test registrations, columns numbers of coefficients."""

    shape_counts: tuple[int, ...]
    """Numbers of shape coefficients that were tried, one a column."""
    model: Float64[NumpyArray, "n c"]
    """Mean distance of vertices with pose and shape fitted, metres."""
    pose: Float64[NumpyArray, "n c"]
    """With the shape of the person's first registration; NaN for that one itself, metres."""
    by_vertex: Float64[NumpyArray, "V"]
    """Mean distance over registrations, pose generalisation, most coefficients, metres."""

    @property
    def mean_model(self) -> Float64[NumpyArray, "c"]:
        """Metres."""
        return np.nanmean(self.model, axis=0)

    @property
    def mean_pose(self) -> Float64[NumpyArray, "c"]:
        """Metres."""
        return np.nanmean(self.pose, axis=0)


def generalisation(
    model: FittedModel[Shape],
    people: Mapping[str, Float[NumpyArray, "N V 3"]],
    shape_counts: Sequence[int],
    *,
    pose_alone: bool = False,
) -> Generalisation:
    """Fit `model` to the registrations of test people, by name.

    With `pose_alone` shapes are fitted to first registrations only, and `Generalisation.model` is
    NaN for the others: a tenth of the work.
    """
    alone = [name for name, frames in people.items() if len(frames) < 2]
    if alone or not people:
        raise InputError(
            f"{', '.join(alone[:5]) or 'nobody'} has a single test registration; expected at least "
            f"two of everybody, so that a shape found in one can be tried in another."
        )
    model_rows, pose_rows, distances = [], [], []
    for frames in people.values():
        model_errors = np.full((len(frames), len(shape_counts)), np.nan)
        seen = frames[:1] if pose_alone else frames
        pose_errors = np.full((len(frames), len(shape_counts)), np.nan)
        for column, count in enumerate(shape_counts):
            shapes, posed_vertices = model.fit_people(seen, count)
            model_errors[: len(seen), column] = _apart(posed_vertices, seen).mean(axis=1)
            off = _apart(model.fit_poses(frames[1:], shapes[0]), frames[1:])
            pose_errors[1:, column] = off.mean(axis=1)
            if column == len(shape_counts) - 1:
                distances.append(off)
        model_rows.append(model_errors)
        pose_rows.append(pose_errors)
    return Generalisation(
        tuple(shape_counts),
        np.concatenate(model_rows),
        np.concatenate(pose_rows),
        np.concatenate(distances).mean(axis=0),
    )


def _apart(posed_vertices: NumpyArray, targets: NumpyArray) -> Float64[NumpyArray, "N V"]:
    return np.linalg.norm(np.asarray(posed_vertices, np.float64) - targets, axis=2)
