"""A new person from one or a few scans: latent coordinates, poses, and the person's own dress shape
(Allen 2006, section 5)."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.enveloping import EnvelopingModel, coordinates
from corporeal.body.pose import RotationPose
from corporeal.errors import InputError
from corporeal.models.enveloping.bones import BoneLayout
from corporeal.models.enveloping.equations import Variances
from corporeal.models.enveloping.keys import RadialBasis
from corporeal.models.enveloping.rig import EnvelopingRig
from corporeal.models.enveloping.training.people import PersonLinearisation, fit_person
from corporeal.models.enveloping.training.problem import (
    Driver,
    Estimate,
    Problem,
    Scans,
    skins,
)
from corporeal.models.enveloping.training.scans import filled
from corporeal.models.smpl.fitting.edge_poses import first_poses
from corporeal.models.smpl.fitting.fit_pose import edge_differences
from corporeal.models.smpl.fitting.linearised import SkinnedPerson

_VARIANCE = 9e-6
"""σ_v² of a fit, m²: 3 mm."""
_LEAST_SEEN = 0.05


@dataclass(frozen=True, eq=False)
class FittedPerson:
    """What one or a few scans tell of a person."""

    x: Float64[NumpyArray, "s"]
    """Latent coordinates."""
    poses: RotationPose
    """Of every scan."""
    residual: Float[NumpyArray, "V 3"]
    """What the person's own dress shape has beyond W x + c̄, metres; 0 where nothing was seen."""
    vertices: Float[NumpyArray, "n V 3"]
    """What the model makes of the scans, without the residual, metres."""
    rms: float
    """Root mean square distance of seen vertices from them, metres."""


def rig_of(model: EnvelopingModel) -> EnvelopingRig:
    """Joints, helpers and bone parameters of a model."""
    layout = BoneLayout.of_size(
        model.joint_names, model.parents, np.asarray(model.layout_joints, np.float64),
        model.bones.shape[1],
    )  # fmt: skip
    return EnvelopingRig(layout, model.helper_joints, model.helper_shares)


def problem_of(model: EnvelopingModel, some_count: int = 2500) -> Problem:
    """What fits need of a model; nothing in it is mirrored or regressed."""
    rig = rig_of(model)
    drivers = tuple(
        Driver(
            d.joint, d.kind, RadialBasis.of(d.keys, model.softness), d.region, place,
            np.arange(len(d.keys) - 1), np.arange(len(d.region)),
        )
        for place, d in enumerate(model.corrections)
    )  # fmt: skip
    count = model.vertex_count
    return Problem(
        rig, drivers, edge_differences(np.asarray(model.triangles, np.int64), count), None,
        np.arange(len(rig.parents)), np.asarray(model.weights.dense()) > 0,
        np.zeros((rig.joint_count, count)), np.arange(0, count, max(1, count // some_count)),
    )  # fmt: skip


def estimate_of(
    model: EnvelopingModel, poses: RotationPose, x: Float[NumpyArray, "B s"]
) -> Estimate:
    """A model's arrays as training has them, with these poses and people."""
    return Estimate(
        np.asarray(poses.rotations, np.float64), np.asarray(poses.translation, np.float64),
        np.asarray(x, np.float64), np.asarray(model.dress, np.float32),
        np.asarray(model.bones, np.float64), np.asarray(model.weights.dense(), np.float64),
        tuple(np.asarray(d.offsets, np.float32) for d in model.corrections),
        Variances(observation=_VARIANCE),
    )  # fmt: skip


class PersonFitter:
    """Fits people to scans of a model's topology; prepared once for a model."""

    def __init__(self, model: EnvelopingModel, some_count: int = 2500) -> None:
        self.model, self.problem = model, problem_of(model, some_count)
        rig, dense = self.problem.rig, np.asarray(model.weights.dense(), np.float64)
        merged = dense[:, : rig.joint_count].copy()
        for place, joint in enumerate(rig.helper_joints.tolist()):
            merged[:, joint] += dense[:, rig.joint_count + place]
        rest = np.asarray(model.dress[0], np.float64)
        self._average = SkinnedPerson(
            rest, rig.layout.joints_of(model.bones[0]), merged,
            np.zeros((9 * (rig.joint_count - 1), len(rest), 3), np.float32), rig.layout.parents,
        )  # fmt: skip

    def fit(
        self,
        vertices: Float[NumpyArray, "n V 3"],
        confidence: Float[NumpyArray, "n V"] | None = None,
        *,
        x: Float[NumpyArray, "s"] | None = None,
        residual: Float[NumpyArray, "V 3"] | None = None,
        start: RotationPose | None = None,
        iterations: int = 12,
    ) -> FittedPerson:
        """The person and the poses of its scans; with `x` given, the poses alone.

        Vertices that are not a number, or have no confidence, were not seen. `residual` is added to
        the dress shape, as an earlier fit of the person found it.
        """
        scans = self._scans(vertices, confidence)
        poses = self._first(scans) if start is None else start
        known = np.zeros((1, self.model.latent_count)) if x is None else np.asarray(x)[None]
        estimate = estimate_of(self.model, poses, known)
        if residual is not None:
            dress = estimate.dress.copy()
            dress[0] += residual
            estimate = replace(estimate, dress=dress)
        line, some = PersonLinearisation(self.problem, estimate), self.problem.some
        if x is None:  # poses first, or shape takes over what they miss
            poses, _ = self._found(line, scans, poses, known[0], some, 3, latent=False)
        poses, found = self._found(line, scans, poses, known[0], some, iterations, latent=x is None)
        estimate = replace(
            estimate, rotations=poses.rotations, translations=poses.translation, x=found[None]
        )
        return self._finished(estimate, scans, poses, found)

    def _found(self, line, scans, poses, x, some, iterations, *, latent):
        return fit_person(
            line, poses, x, scans.vertices[:, some], scans.confidence[:, some],
            iterations=iterations, latent=latent, variance=_VARIANCE,
        )  # fmt: skip

    def _finished(
        self, estimate: Estimate, scans: Scans, poses: RotationPose, x: NumpyArray
    ) -> FittedPerson:
        made = skins(self.problem, estimate, scans, np.arange(len(scans.people)))
        off = np.where(scans.confidence[..., None] > 0, scans.vertices - made.vertices, 0.0)
        # Σ_α c Bᵀ B d = Σ_α c Bᵀ r, with a little pull to 0
        seen = scans.confidence[..., None, None]
        normal = np.sum(seen * np.swapaxes(made.blended, -1, -2) @ made.blended, axis=0)
        right = np.sum(
            scans.confidence[..., None]
            * np.einsum("nvba,nvb->nva", made.blended, off), axis=0
        )  # fmt: skip
        own = np.linalg.solve(normal + 0.05 * np.eye(3), right[..., None])[..., 0]
        squares = np.sum(scans.confidence * np.sum(off**2, axis=-1))
        return FittedPerson(
            x, poses, own, made.vertices, float(np.sqrt(squares / scans.confidence.sum()))
        )

    def _scans(self, vertices: NumpyArray, confidence: NumpyArray | None) -> Scans:
        if vertices.ndim != 3 or vertices.shape[1:] != (self.model.vertex_count, 3):
            raise InputError(
                f"scans have the shape {vertices.shape}; expected scans × "
                f"{self.model.vertex_count} vertices × 3, in the model's order."
            )
        finite = np.asarray(np.isfinite(vertices).all(axis=-1))
        seen = np.asarray(finite * (1.0 if confidence is None else np.asarray(confidence)))
        if seen.mean(axis=1).min() < _LEAST_SEEN:
            raise InputError(
                f"a scan shows {100 * seen.mean(axis=1).min():.1f} % of the surface; expected at "
                f"least {100 * _LEAST_SEEN:.0f} %. Leave it out."
            )
        places = np.where(finite[..., None], vertices, 0.0).astype(np.float32)
        return Scans(
            places,
            np.asarray(seen, np.float32),
            np.zeros(len(places), np.int64),
            np.zeros(1, np.int64),
        )

    def _first(self, scans: Scans) -> RotationPose:
        edges: csr_array = self.problem.edges
        whole = filled(scans, edges, np.asarray(self.model.dress[0], np.float64))
        return first_poses(whole, self._average, edges)


def character_joints(
    model: EnvelopingModel, x: Float[NumpyArray, "s"]
) -> Float64[NumpyArray, "J 3"]:
    """Joints of a person in the dress pose, metres."""
    return rig_of(model).layout.joints_of(coordinates(x) @ np.asarray(model.bones))
