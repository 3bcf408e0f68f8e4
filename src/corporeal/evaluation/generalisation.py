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

    def fit_person(
        self, vertices: Float[NumpyArray, "V 3"], shape_count: int
    ) -> tuple[Shape, Float[NumpyArray, "V 3"]]:
        """Shape and skin that come closest, with so many coefficients of shape."""
        ...

    def fit_pose(
        self, vertices: Float[NumpyArray, "V 3"], shape: Shape
    ) -> Float[NumpyArray, "V 3"]:
        """The skin of this shape that comes closest, in its best pose."""
        ...


@dataclass(frozen=True)
class Generalisation:
    """Errors of one model; rows are test registrations, columns numbers of coefficients."""

    shape_counts: tuple[int, ...]
    model: Float64[NumpyArray, "n c"]
    """Mean distance of vertices with pose and shape fitted, metres."""
    pose: Float64[NumpyArray, "n c"]
    """With the shape of the person's first registration; NaN for that one itself, metres."""
    by_vertex: Float64[NumpyArray, "V"]
    """Mean distance over registrations, pose generalisation, most coefficients, metres."""

    @property
    def mean_model(self) -> Float64[NumpyArray, "c"]:
        """Metres."""
        return self.model.mean(axis=0)

    @property
    def mean_pose(self) -> Float64[NumpyArray, "c"]:
        """Metres."""
        return np.nanmean(self.pose, axis=0)


def generalisation(
    model: FittedModel[Shape],
    people: Mapping[str, Float[NumpyArray, "N V 3"]],
    shape_counts: Sequence[int],
) -> Generalisation:
    """Fit `model` to the registrations of test people, by name."""
    alone = [name for name, frames in people.items() if len(frames) < 2]
    if alone or not people:
        raise InputError(
            f"{', '.join(alone[:5]) or 'nobody'} has a single test registration; expected at least "
            f"two of everybody, so that a shape found in one can be tried in another."
        )
    model_rows, pose_rows, distances = [], [], []
    for frames in people.values():
        model_errors = np.zeros((len(frames), len(shape_counts)))
        pose_errors = np.full((len(frames), len(shape_counts)), np.nan)
        for column, count in enumerate(shape_counts):
            shape = None
            for row, vertices in enumerate(frames):
                found, skin = model.fit_person(vertices, count)
                model_errors[row, column] = _apart(skin, vertices).mean()
                if shape is None:
                    shape = found
                    continue
                off = _apart(model.fit_pose(vertices, shape), vertices)
                pose_errors[row, column] = off.mean()
                if column == len(shape_counts) - 1:
                    distances.append(off)
        model_rows.append(model_errors)
        pose_rows.append(pose_errors)
    return Generalisation(
        tuple(shape_counts),
        np.concatenate(model_rows),
        np.concatenate(pose_rows),
        np.mean(distances, axis=0),
    )


def _apart(skin: NumpyArray, target: NumpyArray) -> Float64[NumpyArray, "V"]:
    return np.linalg.norm(np.asarray(skin, np.float64) - target, axis=1)
