"""Train BlendSCAPE: pose deformations from many poses of some people, shapes from many people."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from corporeal._typing import Float32, Float64, Int, NumpyArray
from corporeal.body.pose import Pose
from corporeal.body.registrations import Registrations, Take
from corporeal.body.template import Template
from corporeal.body.topology import topology_hash
from corporeal.body.triangle_model import TriangleModel
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.models.blendscape.model import BlendScape
from corporeal.models.blendscape.triangles import (
    DeformedTriangles,
    triangle_frames,
    world_rotations,
)
from corporeal.numerics.streamed_pca import PrincipalComponents, principal_components
from corporeal.skinning.unposing import inverse_matrices

_LEAST = 0.05
"""Determinant of a blended rotation below which a triangle is too flat to learn from."""
_USUAL = 0.1
"""Mean square of a component of a joint's rotation, rad²."""


@dataclass(frozen=True)
class TrainedBlendScape:
    """A model, and how it came to be."""

    model: TriangleModel
    """The new model."""
    report: Mapping[str, Any]
    """Settings, data and figures; JSON values."""


@dataclass(frozen=True)
class BlendScapeTrainer:
    """Settings of one training."""

    shape_count: int = 10
    """Shape coefficients; 300 in the paper."""
    ridge: float = 0.05
    """On pose deformations, in units of the usual mean square of a rotation, 0.1 rad²."""
    seed: int = 0
    """Of the components' random sketch."""
    rounds: int = 3
    """How often pose deformations are corrected by what the stitched surface lacks."""
    anchored: bool = True
    """Whether that surface has its limbs held in place, as `BlendScape` shows it."""

    def fit(
        self, poses: Registrations, shapes: Registrations, template: Template
    ) -> TrainedBlendScape:
        """Learn Q from `poses`, whose people are known at rest, and S from `shapes`."""
        first = initial_model(template)
        model = replace(first, pose_deformations=self._pose(poses, first, template))
        rows = list(_shapes(shapes, model))
        if len(rows) < 2:
            raise InputError(
                f"{len(rows)} people came to learn shapes from; expected at least two."
            )
        count = min(self.shape_count, len(rows) - 1)
        found: PrincipalComponents = principal_components(
            lambda: (row[None] for row in rows), count, self.seed, single=True
        )
        size = (-1, len(model.triangles), 3, 3)
        # a coefficient of one is a standard deviation
        basis = (found.deviations[:, None] * found.directions).reshape(size)
        model = replace(
            model,
            mean_shape=found.mean.reshape(size)[0].astype(np.float32),
            shape_deformations=basis.astype(np.float32),
        )
        report = {
            "settings": asdict(self),
            "data": {
                "registrations": poses.frame_count,
                "subjects": sorted({take.subject for take in poses.takes}),
                "people": len(rows),
            },
            "explained": found.explained.tolist(),
        }
        return TrainedBlendScape(model, report)

    def _pose(
        self, poses: Registrations, model: TriangleModel, template: Template
    ) -> Float32[NumpyArray, "F 2 3 3 3"]:
        """C by ridge regression of Q − I on the axis-angles of the two joints beside.

        Stitching changes what triangles were given, so what the stitched surface still lacks is
        regressed again, `rounds` times.
        """
        _require_topology(poses, model)
        people = {name: _rest_of(poses, name) for name in {t.subject for t in poses.takes}}
        found = np.zeros((len(model.triangles), 2, 3, 3, 3))
        for round_number in range(1 + self.rounds):
            so_far = DeformedTriangles(replace(model, pose_deformations=found))
            shapes = {name: so_far.shape_of(rest) for name, rest in people.items()}
            stitched = None
            if round_number:
                stitched = BlendScape(template, so_far.model, self.anchored)
            found = found + self._regressed(poses, so_far, shapes, stitched)
        return found.astype(np.float32)

    def _regressed(
        self,
        poses: Registrations,
        so_far: DeformedTriangles,
        shapes: Mapping[str, NumpyArray],
        stitched: BlendScape | None,
    ) -> Float64[NumpyArray, "F 2 3 3 3"]:
        """Regression of what triangles lack against S alone, or against what is stitched so far."""
        model = so_far.model
        count = len(model.triangles)
        square, right = np.zeros((count, 6, 6)), np.zeros((count, 6, 9))
        for take in poses.takes:
            shape = shapes[take.subject]
            for turns, world, frames in _posed(take, model):
                blended = so_far.blended(world)
                sound = (np.abs(np.linalg.det(blended)) > _LEAST).astype(np.float64)
                base = blended @ shape
                base[sound == 0] = np.eye(3)
                own = turns.copy()
                own[0] = 0.0
                features = own[model.pose_joints].reshape(count, 6) * sound[:, None]
                back = np.asarray(inverse_matrices(base))
                if stitched is None:
                    lacking = back @ frames @ so_far.template_inverse - np.eye(3)
                else:
                    who = poses.subjects[take.subject].identity
                    assert who is not None
                    made = stitched.vertices(who, Pose(turns[None], np.zeros((1, 3))))[0]
                    gap = frames - triangle_frames(made, model.triangles)
                    lacking = back @ gap @ so_far.template_inverse
                square += features[:, :, None] * features[:, None, :]
                right += features[:, :, None] * lacking.reshape(count, 1, 9)
        strength = self.ridge * poses.frame_count * _USUAL
        solved = np.linalg.solve(square + strength * np.eye(6), right)
        return solved.reshape(count, 2, 3, 3, 3)


def initial_model(template: Template) -> TriangleModel:
    """The template's own triangles, weights and joints, without pose deformations and shapes."""
    triangles = np.asarray(template.mesh.triangles, np.int64)
    vertices = np.asarray(template.mesh.vertices, np.float64)
    dense = np.asarray(template.weights.dense(), np.float64)
    blend = dense[triangles].mean(axis=1)
    count = len(triangles)
    return TriangleModel(
        triangles,
        vertices,
        SkinWeights.from_dense(blend, 4),
        dense[:, 0] / dense[:, 0].sum(),
        _beside(blend, vertices[triangles].mean(axis=1), template),
        np.zeros((count, 2, 3, 3, 3), np.float32),
        np.broadcast_to(np.eye(3, dtype=np.float32), (count, 3, 3)).copy(),
        np.zeros((0, count, 3, 3), np.float32),
        template.skeleton.names,
        template.skeleton.parents,
    )


def _beside(
    blend: Float64[NumpyArray, "F J"], centres: Float64[NumpyArray, "F 3"], template: Template
) -> Int[NumpyArray, "F 2"]:
    """The two joints nearest to every triangle among those at both ends of its part."""
    parents = template.skeleton.parents
    joints = np.asarray(template.skeleton.joints, np.float64)
    ends = {
        part: [j for j in range(1, len(parents)) if j == part or parents[j] == part]
        for part in range(len(parents))
    }
    found = np.zeros((len(blend), 2), np.int64)
    for part in np.unique(blend.argmax(axis=1)):
        mine = np.flatnonzero(blend.argmax(axis=1) == part)
        near = np.asarray(ends[part] or [part])
        apart = np.linalg.norm(centres[mine, None] - joints[near], axis=-1)
        order = near[np.argsort(apart, axis=1)]
        found[mine, 0] = order[:, 0]
        # a part with one joint alone leaves the second place to the root, which deforms nothing
        found[mine, 1] = order[:, 1] if order.shape[1] > 1 else 0
    return found


def _shapes(shapes: Registrations, model: TriangleModel) -> Iterator[NumpyArray]:
    """S of everybody's first registration, undone from its pose."""
    _require_topology(shapes, model)
    triangles = DeformedTriangles(model)
    seen: set[str] = set()
    for take in shapes.takes:
        if take.subject not in seen:
            seen.add(take.subject)
            turns, world, frames = next(_posed(take, model))
            yield triangles.undone(world, turns, frames).reshape(-1).astype(np.float32)


def _posed(take: Take, model: TriangleModel) -> Iterator[tuple[NumpyArray, NumpyArray, NumpyArray]]:
    """Axis-angles, world rotations and triangles of every frame."""
    if take.truth is None:
        raise InputError(
            f"take {take.subject} {take.sequence} has no poses; expected the pose of every frame. "
            f"Register it with a body model first, or leave it out."
        )
    for n in range(take.frame_count):
        turns = np.asarray(take.truth.joint_rotations[n : n + 1], np.float64)
        vertices = np.asarray(take.vertices[n : n + 1], np.float64)[0]
        if not np.isfinite(vertices).all():
            raise InputError(
                f"take {take.subject} {take.sequence} holds numbers that are not finite; expected "
                f"whole frames. Leave it out."
            )
        yield (
            turns[0],
            world_rotations(turns, model.parents)[0],
            triangle_frames(vertices, model.triangles),
        )


def _rest_of(poses: Registrations, name: str) -> NumpyArray:
    subject = poses.subjects.get(name)
    if subject is None or subject.identity is None:
        raise InputError(
            f"the set does not hold the body of {name} at rest; expected it, to tell shape from "
            f"pose. Leave the person out."
        )
    return np.asarray(subject.identity.rest_vertices, np.float64)


def _require_topology(held: Registrations, model: TriangleModel) -> None:
    if not held.takes:
        raise InputError("the set of registrations is empty; expected takes.")
    if held.topology_hash != topology_hash(model.triangles, len(model.template_vertices)):
        raise InputError(
            f"registrations of {held.template} have {held.vertex_count} vertices and "
            f"{len(held.triangles)} triangles; the template has {len(model.template_vertices)} "
            f"and {len(model.triangles)}, or others. Expected one topology."
        )
