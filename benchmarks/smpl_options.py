"""What other pose blend shapes buy: priors, features, dependence on shape, fewer components.

    python benchmarks/smpl_options.py DATA OUT

OUT is that of `smpl_captures.py` after `train`. Everything but the pose blend shapes is held as
SMPL-LBS's training left it, so one ridge regression a variant will do; every fourth vertex is used.
Writes `benchmarks/results/smpl_options.json`. Strengths are chosen on validation people (every
tenth of those who train, left out of the regression); errors are of test people in other poses,
their shape fitted by SMPL-LBS in one pose, as in pose generalisation.
"""

import argparse
import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from scipy.sparse.linalg import matrix_power
from smpl_captures import COMPARED, TRAINER, callback, reached

from corporeal.assets.default_body import load_default_body
from corporeal.assets.smpl_view import smpl_template
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.pose import RotationPose
from corporeal.evaluation.fitted_smpl import FittedSmpl
from corporeal.formats.registrations import RegistrationsStore
from corporeal.formats.smpl import read_smpl
from corporeal.models.smpl.features import Features, feature_values
from corporeal.models.smpl.fitting.edge_poses import first_poses
from corporeal.models.smpl.fitting.linearised import SkinnedPerson
from corporeal.models.smpl.fitting.many_people import shaped_person, solve_people
from corporeal.models.smpl.fitting.many_poses import solve_poses
from corporeal.models.smpl.reduction import dense_offsets, reduced_correctives
from corporeal.models.smpl.train import posed_meshes
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes
from corporeal.models.smpl.training.initial import initial_model
from corporeal.models.smpl.training.pose_shapes import Ridge, solved_pose_shapes
from corporeal.models.smpl.training.priors import ridge_of

RESULTS = Path(__file__).parent / "results" / "smpl_options.json"
STRIDE = 4
"""Of vertices."""
STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2)
"""λ_P, in registrations."""
RANKS = (16, 32, 64, 128)
SHAPE_BY = 2
"""Coefficients that shape-dependent blend shapes depend on."""


class Experiment:
    """Training data and test people, thinned."""

    def __init__(self, data: Path, out: Path) -> None:
        template = smpl_template(load_default_body().template)
        poses = RegistrationsStore.open(data / "poses.zarr").read()
        meshes, _ = posed_meshes(poses, template)
        whole = reached(out, meshes, template)
        self.edges = initial_model(template).edges
        self.whole = whole
        self.model = read_smpl(out / "SMPL-LBS.npz")
        self.meshes = PosedMeshes(meshes.vertices[:, ::STRIDE].copy(), meshes.subjects)
        self.estimate = replace(
            whole,
            weights=whole.weights[::STRIDE],
            rest_shapes=whole.rest_shapes[:, ::STRIDE],
            pose_offsets=np.ascontiguousarray(whole.pose_offsets[:, ::STRIDE]),
        )
        self._fit_test_people(data)

    def _fit_test_people(self, data: Path) -> None:
        """Shapes by SMPL-LBS in each person's first pose, and first poses in the others."""
        test = RegistrationsStore.open(data / "poses_test.zarr").read()
        model, fitted = self.model, FittedSmpl(self.model)
        self.betas, self.targets, self.starts = [], [], []
        for take in test.takes:
            frames = np.asarray(take.vertices[0 : take.frame_count], np.float32)
            mean = shaped_person(model, np.zeros(0), frames.dtype)
            start = first_poses(frames[:1], mean, fitted.edges)
            found = solve_people(model, frames[:1], start, COMPARED, iterations=15)
            person = shaped_person(model, found.betas[0], frames.dtype)
            self.betas.append(found.betas[0])
            self.targets.append(np.ascontiguousarray(frames[1:, ::STRIDE]))
            self.starts.append(first_poses(frames[1:], person, fitted.edges))

    def person(self, number: int, offsets: np.ndarray, features: Features) -> SkinnedPerson:
        """A test person with other pose blend shapes."""
        person = shaped_person(self.model, self.betas[number], np.dtype(np.float32))
        return replace(
            person,
            rest=np.ascontiguousarray(person.rest[::STRIDE]),
            weights=person.weights[::STRIDE],
            pose_offsets=offsets,
            features=features,
        )

    def test(
        self,
        offsets: Callable[[np.ndarray], np.ndarray],
        features: Features = "rotations",
    ) -> float:
        """Mean distance on test people, mm; `offsets` are given their coefficients."""
        errors = []
        for number, targets in enumerate(self.targets):
            person = self.person(number, offsets(self.betas[number]), features)
            found = solve_poses(person, targets, self.starts[number], iterations=12, tolerance=1e-4)
            errors.append(found.distances.mean())
        return 1e3 * float(np.mean(errors))

    def validate(self, ridge: Callable[[Estimate, int], Ridge]) -> float:
        """Mean distance of people left out of the regression, mm."""
        people = np.arange(self.meshes.subject_count)
        left_out = people % 10 == 5
        kept = np.flatnonzero(~left_out[self.meshes.subjects])
        numbers = np.cumsum(~left_out) - 1
        meshes = PosedMeshes(self.meshes.vertices[kept], numbers[self.meshes.subjects[kept]])
        estimate = replace(
            self.estimate,
            rotations=self.estimate.rotations[kept],
            translations=self.estimate.translations[kept],
            rest_shapes=self.estimate.rest_shapes[~left_out],
            joints=self.estimate.joints[~left_out],
        )
        shapes = solved_pose_shapes(meshes, estimate, ridge(estimate, len(kept)))
        again = replace(self.estimate, pose_offsets=shapes)
        errors = []
        for subject in people[left_out]:
            own = self.meshes.of_subject(subject)
            start = RotationPose(again.rotations[own], again.translations[own])
            targets = self.meshes.vertices[own]
            found = solve_poses(again.person(subject), targets, start, iterations=5)
            errors.append(found.distances.mean())
        return 1e3 * float(np.mean(errors))


def by_strength(it: Experiment) -> dict[str, float]:
    """Validation error of each λ_P."""
    return {f"{s:g}": it.validate(lambda _, n, s=s: Ridge(s * n)) for s in STRENGTHS}


def by_prior(it: Experiment, strength: float) -> dict[str, dict[str, float]]:
    """Test errors of the priors, and how many joints still move a vertex by them."""
    edges = _thinned_edges(it)
    settings = {
        "ridge": {},
        "sparse": {"sparse": True},
        "locality 0.3": {"locality": 0.3},
        "locality 3": {"locality": 3.0},
        "lasso 10 mm": {"lasso": 1e-2},
        "smoothness 3": {"smoothness": 3.0},
    }
    rows = {}
    whole = strength * len(it.meshes.subjects)
    for name, given in settings.items():
        ridge = ridge_of(it.estimate, edges, strength=whole, **given)
        shapes = solved_pose_shapes(it.meshes, it.estimate, ridge)
        blocks = np.sqrt(np.square(shapes.reshape(23, 9, -1, 3)).sum(axis=(1, 3)))
        rows[name] = {
            "test_mm": it.test(lambda _, shapes=shapes: shapes),
            "joints_a_vertex": float((blocks > 1e-3).sum(axis=0).mean()),
        }
        callback(f"{name}: test", rows[name]["test_mm"] / 1e3)
    return rows


def _thinned_edges(it: Experiment):
    """Neighbours among the kept vertices: those whose own neighbours touch."""
    joined = matrix_power(abs(it.edges).T @ abs(it.edges), STRIDE)
    near = joined.tocsr()[::STRIDE][:, ::STRIDE].tocoo()
    upper = near.row < near.col
    pairs = np.stack([near.row[upper], near.col[upper]], axis=1)
    rows = np.repeat(np.arange(len(pairs)), 2)
    signs = np.tile([-1.0, 1.0], len(pairs))
    shape = (len(pairs), near.shape[0])
    return type(it.edges)((signs, (rows, pairs.reshape(-1))), shape=shape)


def by_features(it: Experiment, strength: float) -> dict[str, float]:
    """Test errors with axis-angles, quaternions and rotation matrices."""
    rows = {}
    for kind in ("angles", "quaternions", "rotations"):
        features = feature_values(kind, it.estimate.rotations)
        ridge = Ridge(strength * len(features))
        shapes = solved_pose_shapes(it.meshes, it.estimate, ridge, features)
        rows[kind] = it.test(lambda _, shapes=shapes: shapes, kind)
        callback(f"{kind}: test", rows[kind] / 1e3)
    return rows


def by_shape(it: Experiment, strength: float) -> float:
    """Test error of P(β) = P_0 + Σ_s β_s P_s."""
    betas = subject_betas(it.model, it.whole)[:, :SHAPE_BY]
    factors = np.concatenate([np.ones((len(betas), 1)), betas], axis=1)[it.meshes.subjects]
    plain = it.estimate.features()
    features = (factors[:, :, None] * plain[:, None]).reshape(len(plain), -1)
    ridge = Ridge(strength * len(plain))
    shapes = solved_pose_shapes(it.meshes, it.estimate, ridge, features)
    blocks = shapes.reshape(1 + SHAPE_BY, plain.shape[1], -1, 3)

    def offsets(betas: np.ndarray) -> np.ndarray:
        share = np.concatenate([[1.0], betas[:SHAPE_BY]]).astype(np.float32)
        return np.ascontiguousarray(np.tensordot(share, blocks, axes=1))

    return it.test(offsets)


def subject_betas(model: LinearBodyModel, whole: Estimate) -> np.ndarray:
    """Coefficients of the people who train, from their rest skins."""
    root = model.joint_regressor[0]
    centred = whole.rest_shapes - np.einsum("v,iva->ia", root, whole.rest_shapes)[:, None]
    apart = centred - (model.mean_vertices - root @ model.mean_vertices)
    flat = model.shape_offsets.reshape(model.shape_count, -1)
    return np.linalg.lstsq(flat.T, apart.reshape(len(apart), -1).T, rcond=None)[0].T


def by_rank(it: Experiment) -> dict[str, float]:
    """Test error with the strongest components of P over the training poses."""
    features = it.estimate.features()
    moments = features.T @ features / len(features)
    rows = {}
    for rank in RANKS:
        fewer = dense_offsets(reduced_correctives(it.model, rank, moments))
        shapes = np.ascontiguousarray(fewer[:, ::STRIDE], np.float32)
        rows[str(rank)] = it.test(lambda _, shapes=shapes: shapes)
        callback(f"{rank} components: test", rows[str(rank)] / 1e3)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    began = time.process_time()
    it = Experiment(asked.data, asked.out)
    strength = TRAINER.pose.pose_ridge
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True)
    result = {"made": datetime.now(UTC).isoformat(timespec="seconds")}
    result |= {"commit": commit.stdout.strip(), "strength": strength}
    steps = {
        "features_mm": lambda: by_features(it, strength),
        "shape_dependent_mm": lambda: by_shape(it, strength),
        "components_mm": lambda: by_rank(it),
        "priors": lambda: by_prior(it, strength),
        "validation_by_strength_mm": lambda: by_strength(it),
    }
    for name, step in steps.items():
        result[name] = step()
        result["cpu_seconds"] = time.process_time() - began
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")
        print(name, json.dumps(result[name]), flush=True)


if __name__ == "__main__":
    main()
