"""A sequence of scans of one known person, frame after frame (Pons-Moll 2015, section 3.4.2).

The shape is the person's own mesh; pose and free mesh of a frame begin where the last frame ended,
and one stage of a few steps follows the motion (eq. 9 to 11). A frame whose points lie far from its
mesh, or whose pose has jumped, is noticed: it is begun again from the poses before, more coarsely,
and if that does not help, from nothing.
"""

from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose, RotationPose
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
from corporeal.geometry.surface import vertex_normals
from corporeal.registration.coupled_stage import Coupled, CoupledStage, couple, matches
from corporeal.registration.model_stage import ModelStage, fit_model
from corporeal.registration.person_model import (
    BODY_JOINTS,
    PersonModel,
    PersonState,
    person_model,
    with_identity,
)
from corporeal.registration.scan_surface import ScanSurface, cell_means, thinned
from corporeal.registration.soundness import FEW_ROUNDS, mended
from corporeal.registration.starts import best_starts

POINTS = 24_000
"""Points of a frame that are used."""
FOLLOW = (
    ModelStage(2, 0.04, 0.2, 0, 2500, fingers=True, back=0.3),
    ModelStage(1, 0.015, 0.05, 0, 4000, fingers=True, back=0.3),
)
"""Pose alone, from the last frame's."""
RECOVER = (
    ModelStage(6, 0.12, 0.5, 0, 1500),
    ModelStage(5, 0.05, 0.2, 0, 3000, fingers=True),
    ModelStage(4, 0.015, 0.05, 0, 4000, fingers=True, back=0.3),
)
"""Pose alone, where a frame was lost."""
COUPLED = (CoupledStage(2, 0.008, 0.3, 0, slide=0.001, most_iterations=15, straight=400.0),)
"""Pose and free mesh together; one stage. Points hardly hold what slides along the surface: flesh
then follows there from how it moves across. Left to points, straight arms overhead turned by 70°
about themselves, and the forearms back by 40°."""
_EVERY = 3
"""Of so many vertices one takes part while the pose alone is followed."""
_JUDGED = 6000
"""Points that tell whether a frame is lost."""
GOING_ON = 0.8
"""Share of the last motion with which the next frame is expected: in one, hands move by more than a
finger's breadth."""
LOST = 0.006
"""Median distance of a frame's points from its mesh above which it counts as lost, metres."""


@dataclass(frozen=True, eq=False)
class TrackedFrame:
    """One frame."""

    vertices: Float64[NumpyArray, "V 3"]
    """The registered mesh, metres."""
    pose: Pose
    """Radians and metres, of the tracked person."""
    median: float
    """Median distance of the frame's points, metres."""
    recovered: bool
    """Whether the frame had been lost and was begun again."""
    lost: bool
    """Whether it still is."""


class Tracker:
    """Follows one person from frame to frame."""

    def __init__(self, identity: Identity, model: PersonModel | None = None) -> None:
        """`identity` is the person in the zero pose, metres."""
        rest = np.asarray(identity.rest_vertices, np.float64)
        joints = np.asarray(identity.joints, np.float64)
        self.model = with_identity(model or person_model(), rest, joints)
        self._shaped = model or person_model()
        self._coarse = self.model.cut(np.arange(0, len(rest), _EVERY))
        self._last: Coupled | None = None
        self._before: PersonState | None = None
        self._cell: float | None = None

    def begin(self, pose: Pose) -> None:
        """Say where the person is, before the first frame."""
        rotations = matrix_from_axis_angle(np.asarray(pose.joint_rotations, np.float64))
        state = PersonState(
            np.zeros(0), RotationPose(rotations, np.asarray(pose.root_translation, np.float64))
        )
        vertices = self.model.posed(state).vertices
        self._last, self._before = Coupled(state, vertices, vertices), None

    def frame(
        self,
        points: Float64[NumpyArray, "n 3"],
        confidence: Float64[NumpyArray, "n"] | None = None,
    ) -> TrackedFrame:
        """Register the next frame; metres, y up."""
        weights = np.ones(len(points)) if confidence is None else confidence
        size, cloud, weights = self._thinned(np.asarray(points, np.float64), weights)
        if self._last is None:
            return self._from_nothing(cloud, weights, size)
        surface = self._oriented(cloud, weights, size, self._last.vertices)
        start = self._predicted()
        fit = fit_model(self._coarse, surface, start, FOLLOW[:1])
        fit = fit_model(self.model, surface, fit.state, FOLLOW[1:])
        coupled, median = self._coupled(surface, fit.state)
        if median <= LOST:
            return self._kept(coupled, median, recovered=False)
        fit = fit_model(self._coarse, surface, self._last.state, RECOVER[:2])
        fit = fit_model(self.model, surface, fit.state, RECOVER[2:])
        again, other = self._coupled(surface, fit.state)
        if other <= LOST:
            return self._kept(again, other, recovered=True)
        return self._from_nothing(cloud, weights, size)

    def _thinned(
        self, points: NumpyArray, weights: NumpyArray
    ) -> tuple[float, NumpyArray, NumpyArray]:
        """About `POINTS` points; the cells of the last frame do for the next, if they still do."""
        if self._cell is not None:
            cloud, some = cell_means(points, self._cell, weights)
            if 0.6 < len(cloud) / min(POINTS, len(points)) < 1.5:
                return self._cell, cloud, some
        self._cell, (cloud, some) = thinned(points, POINTS, weights)
        return self._cell, cloud, some

    def _predicted(self) -> PersonState:
        """The last pose, moved on nearly as it moved before."""
        assert self._last is not None
        state, before = self._last.state, self._before
        if before is None:
            return state
        shift = GOING_ON * (state.pose.translation - before.pose.translation)
        turns = axis_angle_from_matrix(
            state.pose.rotations @ np.swapaxes(before.pose.rotations, -1, -2)
        )
        turns[BODY_JOINTS:] = 0.0
        rotations = matrix_from_axis_angle(GOING_ON * turns) @ state.pose.rotations
        return replace(state, pose=RotationPose(rotations, state.pose.translation + shift))

    def _coupled(self, surface: ScanSurface, state: PersonState) -> tuple[Coupled, float]:
        last = self._last
        free = None if last is None else last.vertices - last.model_vertices
        coupled = couple(self.model, surface, state, COUPLED, free)
        points = surface.points[:: max(1, len(surface.points) // _JUDGED)]
        near = matches(coupled.vertices, np.asarray(self.model.template.mesh.triangles), points)
        return coupled, float(np.median(np.linalg.norm(near.feet - points, axis=1)))

    def _kept(self, coupled: Coupled, median: float, recovered: bool) -> TrackedFrame:
        triangles = np.asarray(self.model.template.mesh.triangles)
        vertices, _ = mended(coupled.vertices, coupled.model_vertices, triangles, FEW_ROUNDS)
        self._before = None if self._last is None or recovered else self._last.state
        self._last = replace(coupled, vertices=vertices)
        return TrackedFrame(vertices, coupled.state.axis_angles, median, recovered, median > LOST)

    def _from_nothing(self, cloud: NumpyArray, weights: NumpyArray, size: float) -> TrackedFrame:
        """As a first scan: any heading, any kind of pose; then this person's shape."""
        from corporeal.registration.orientation import outward_normals

        surface = ScanSurface(cloud, outward_normals(cloud), weights, size)
        start = best_starts(self._shaped, surface, 1)[0].state
        place = self._shaped.space.joints(start.shape)[0] - self.model.space.mean_joints[0]
        state = PersonState(
            np.zeros(0), RotationPose(start.pose.rotations, start.pose.translation + place)
        )
        fit = fit_model(self.model, surface, state, RECOVER)
        coupled, median = self._coupled(surface, fit.state)
        return self._kept(coupled, median, recovered=self._last is not None)

    def _oriented(
        self, points: NumpyArray, weights: NumpyArray, size: float, mesh: NumpyArray
    ) -> ScanSurface:
        """Normals of the points' own planes, facing as the last frame's mesh does there."""
        from scipy.spatial import KDTree

        near = np.asarray(KDTree(points).query(points, 10)[1])
        around = points[near] - points[near].mean(axis=1, keepdims=True)
        own = np.linalg.eigh(np.einsum("nka,nkb->nab", around, around))[1][:, :, 0]
        facing = vertex_normals(mesh, np.asarray(self.model.template.mesh.triangles))
        like = facing[np.asarray(KDTree(mesh).query(points)[1])]
        signs = np.where(np.sum(own * like, axis=1) < 0, -1.0, 1.0)
        return ScanSurface(points, own * signs[:, None], weights, size)
