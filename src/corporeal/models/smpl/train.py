"""Train an SMPL from registrations: poses of some people, then shapes of many."""

import hashlib
import warnings
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.registrations import Registrations
from corporeal.body.shape_correctives import ShapeCorrectives
from corporeal.body.template import Template
from corporeal.body.topology import topology_hash
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.models.smpl.training.checkpoints import Checkpoints
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes, distances
from corporeal.models.smpl.training.pose_training import (
    PoseModel,
    PoseTraining,
    ProgressCallback,
    train_pose,
)
from corporeal.models.smpl.training.shape_dependence import (
    reduced_shape_correctives,
    shape_coefficients,
    solved_shape_dependence,
)
from corporeal.models.smpl.training.shape_training import ShapeTraining, train_shape


@dataclass(frozen=True)
class TrainedSmpl:
    """A model, and how it came to be."""

    model: LinearBodyModel
    """The new model."""
    report: Mapping[str, Any]
    """Settings, data, mean distances after every stage (metres), variance explained."""
    dependent: ShapeCorrectives | None = None
    """Pose blend shapes that depend on shape coefficients, where they were asked for."""


@dataclass(frozen=True)
class SmplTrainer:
    """Settings of one training; `fit` gives back a new model and changes nothing."""

    pose: PoseTraining = field(default_factory=PoseTraining)
    """Settings of the training on many poses."""
    shape: ShapeTraining = field(default_factory=ShapeTraining)
    """Settings of the training on many people."""
    shape_dependence: int = 0
    """Shape coefficients that pose blend shapes depend on; 0 as in Loper 2015."""
    dependence_ridge: float = 1e-2
    """Ridge of that dependence, in registrations, of squared features times coefficients."""

    def fit(
        self,
        poses: Registrations,
        shapes: Registrations,
        template: Template,
        *,
        callback: ProgressCallback | None = None,
        checkpoints: Path | None = None,
    ) -> TrainedSmpl:
        """Learn from many poses of some people (`poses`) and one scan each of many (`shapes`).

        Both have the template's topology; `template` gives parts, names and the mirror map. Those
        of `poses` join the shape space with the rest skins found there, not with their scans.
        """
        _warn_of_test_takes(poses, shapes)
        meshes, names = posed_meshes(poses, template)
        few = few_registrations(len(meshes.subjects), template)
        if few is not None and self.pose.learn_pose_shapes:
            warnings.warn(few, stacklevel=2)
        standing = standing_meshes(shapes, template, without=names)
        identifier = pose_identifier(meshes, template, self.pose)
        kept = None if checkpoints is None else Checkpoints(checkpoints, identifier)
        learned = train_pose(meshes, template, self.pose, callback, kept)
        first = model_of(learned, template)
        rest_shapes = learned.estimate.rest_shapes
        model, found = train_shape(standing, first, learned.initial.edges, self.shape, rest_shapes)
        if callback is not None:
            callback("shape space", float(found.explained[-1]))
        dependent = self._dependent(meshes, learned.estimate, model)
        errors = distances(meshes, learned.estimate)
        report = {
            "settings": asdict(self),
            "data": {
                "registrations": len(meshes.subjects),
                "subjects": names,
                "people": len(standing) + len(names),
                "hash": _digest(meshes.vertices, meshes.subjects, standing),
            },
            "stages": [{"stage": s, "mean_distance": m} for s, m in learned.history],
            "training_distance": float(errors.mean()),
            "explained": found.explained.tolist(),
        }
        return TrainedSmpl(model, report, dependent)

    def _dependent(
        self, meshes: PosedMeshes, estimate: Estimate, model: LinearBodyModel
    ) -> ShapeCorrectives | None:
        """Pose blend shapes again, linear in shape coefficients as well."""
        if not self.shape_dependence:
            return None
        betas = shape_coefficients(model, estimate.rest_shapes, self.shape_dependence)
        shapes = solved_shape_dependence(
            meshes, estimate, betas, ridge=self.pose.pose_ridge, dependence=self.dependence_ridge
        )
        return reduced_shape_correctives(model.joint_names[1:], shapes, estimate)


def few_registrations(count: int, template: Template) -> str | None:
    """What to say of so few registrations that pose blend shapes can copy each of them."""
    features = 9 * (template.skeleton.joint_count - 1)
    if count >= features:
        return None
    return (
        f"{count} registrations came for {features} pose features: pose blend shapes can copy all "
        f"of them, so the training distance says nothing of new poses. Record more, or measure on "
        f"takes kept for tests (corporeal evaluate models)."
    )


def posed_meshes(
    registrations: Registrations, template: Template
) -> tuple[PosedMeshes, tuple[str, ...]]:
    """All frames of a set with their subjects' numbers, and the subjects' names."""
    _require_topology(registrations, template)
    vertices, subjects, names = [], [], []
    for take in registrations.takes:
        if take.subject not in names:
            names.append(take.subject)
        some = np.asarray(take.vertices[0 : take.frame_count], np.float32)
        require_finite(some, f"{take.subject} {take.sequence}")
        vertices.append(some)
        subjects.append(np.full(len(some), names.index(take.subject)))
    meshes = PosedMeshes(np.concatenate(vertices), np.concatenate(subjects))
    counts = np.bincount(meshes.subjects)
    if counts.min() < 2:
        few = [name for name, count in zip(names, counts, strict=True) if count < 2]
        raise InputError(
            f"{', '.join(few[:5])} came in one pose alone; expected at least two of everybody, or "
            f"joints cannot be found. Leave them out, or give them as --shapes."
        )
    return meshes, tuple(names)


def standing_meshes(
    registrations: Registrations, template: Template, without: Collection[str] = ()
) -> Float[NumpyArray, "M V 3"]:
    """The first frame of everybody's first take, but for some people."""
    _require_topology(registrations, template)
    found: dict[str, NumpyArray] = {}
    for take in registrations.takes:
        if take.subject not in found and take.subject not in without:
            first = np.asarray(take.vertices[0:1], np.float32)
            found[take.subject] = first[0]
            require_finite(first, f"{take.subject} {take.sequence}")
    nobody = np.zeros((0, registrations.vertex_count, 3), np.float32)
    return np.stack(list(found.values())) if found else nobody


def model_of(learned: PoseModel, template: Template) -> LinearBodyModel:
    """What pose training found, about the mean of its subjects, without a shape space."""
    estimate = learned.estimate
    roots = np.einsum("v,iva->ia", learned.regressor[0], estimate.rest_shapes)
    mean = (estimate.rest_shapes - roots[:, None]).mean(axis=0)
    # the root joint stands where the template's stands
    mean = mean + np.asarray(template.skeleton.joints, np.float64)[0]
    return LinearBodyModel(
        np.asarray(template.mesh.triangles, np.int64),
        mean,
        np.zeros((0, len(mean), 3)),
        estimate.pose_offsets,
        learned.regressor,
        SkinWeights.from_dense(estimate.weights, 4),
        template.skeleton.names,
        template.skeleton.parents,
        estimate.blending,
    )


def _warn_of_test_takes(*sets: Registrations) -> None:
    """Whoever is trained on cannot test: say so."""
    marked = sorted({t.subject for s in sets for t in s.takes if t.split == "test"})
    if marked:
        warnings.warn(
            f"takes of {', '.join(marked[:5])} ({len(marked)} subjects) are marked as test and are "
            f"trained on; what is measured on them says nothing of new people. Leave them out with "
            f"where(lambda take: take.split != 'test').",
            stacklevel=3,
        )


def _require_topology(registrations: Registrations, template: Template) -> None:
    mesh = template.mesh
    if not registrations.takes:
        raise InputError("the set of registrations is empty; expected at least two takes.")
    if registrations.topology_hash != topology_hash(mesh.triangles, mesh.vertex_count):
        raise InputError(
            f"registrations of {registrations.template} have {registrations.vertex_count} vertices "
            f"and {len(registrations.triangles)} triangles; the template has {mesh.vertex_count} "
            f"and {len(mesh.triangles)}, or the same ones in another order. Expected one topology."
        )


def require_finite(vertices: Float[NumpyArray, "N V 3"], who: str) -> None:
    """Raise `InputError` unless all numbers of these registrations are finite."""
    bad = ~np.isfinite(vertices)
    if bad.any():
        raise InputError(
            f"registrations of {who} hold {int(bad.sum())} numbers that are not finite; expected "
            f"none. Leave the take out (corporeal dataset validate finds them)."
        )


def pose_identifier(meshes: PosedMeshes, template: Template, settings: PoseTraining) -> str:
    """What decides the result of pose training, as one word: data, template and settings."""
    parts = template.weights
    arrays = (
        meshes.vertices, meshes.subjects, template.mesh.triangles,
        np.asarray(template.mesh.vertices), parts.values, parts.joint_indices,
    )  # fmt: skip
    callback = asdict(settings)
    if callback["blending"] == "dqs":  # as checkpoints have always called it
        callback["blending"] = "dqbs"
    return _digest(*arrays, callback=repr(callback))


def _digest(*arrays: NumpyArray, callback: str = "") -> str:
    digest = hashlib.sha256(callback.encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
