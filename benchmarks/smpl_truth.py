"""Train SMPL on registrations of a known one and see how much of it comes back.

    python benchmarks/smpl_truth.py [--small]

Writes `benchmarks/results/smpl_truth.json`. The known SMPL has 24 joints and 2 000 vertices; 20
people in 600 poses train, 4 other people in 6 poses each and new poses of trained people test.
Joints are compared where they lie in the skin: the zero pose is a convention that data do not fix
(a part of the rest skin may be turned if all its poses are turned back), so the true person is
first posed as the found rest skin is.
"""

import argparse
import json
import platform
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from corporeal.body.pose import RotationPose
from corporeal.evaluation.fitted_smpl import FittedSmpl
from corporeal.evaluation.known_smpl import KnownSmpl, known_smpl, sample_people
from corporeal.models.smpl.fitting.many_poses import solve_poses
from corporeal.models.smpl.train import model_of
from corporeal.models.smpl.training.estimate import Estimate, distances
from corporeal.models.smpl.training.initial import initial_model
from corporeal.models.smpl.training.pose_training import PoseModel, PoseTraining, train_pose
from corporeal.models.smpl.training.shape_training import ShapeTraining, train_shape

RESULTS = Path(__file__).parent / "results" / "smpl_truth.json"
POSE_SCALE = 0.005
"""Metres: linear blending alone then misses by 3 to 4 mm on average."""
SETTINGS = PoseTraining(joint_rounds=12, shape_rounds=16, pose_ridge=1e-5)
"""Data without noise need hardly any ridge, and show what more turns still find."""


def joint_errors(found: Estimate, truth: Estimate) -> np.ndarray:
    """Distance of every subject's joints from the true ones, in the found rest pose, metres."""
    rows = []
    for subject, rest in enumerate(found.rest_shapes):
        person = replace(truth.person(subject), pose_offsets=np.zeros_like(truth.pose_offsets))
        still = np.tile(np.eye(3), (1, len(truth.parents), 1, 1))
        start = RotationPose(still, np.mean(rest - truth.rest_shapes[subject], axis=0)[None])
        target = rest[None].astype(person.rest.dtype)
        poses = solve_poses(person, target, start, iterations=30).poses
        centres = person.kinematics(poses).centres[0]
        rows.append(np.linalg.norm(found.joints[subject] - centres, axis=1))
    return np.array(rows)


def excited(truth: Estimate, joint: int) -> bool:
    """Whether a joint turns by more than 30° about two axes."""
    vectors = truth.rotations[:, joint]
    skew = np.stack([vectors[:, 2, 1], vectors[:, 0, 2], vectors[:, 1, 0]], axis=1)
    return int((np.abs(skew).max(axis=0) > 2 * np.sin(np.radians(30)) / 2).sum()) >= 2


def held_out(known: KnownSmpl, trained: PoseModel) -> dict[str, float]:
    """New people in new poses: pose and shape fitted, and poses of a shape found elsewhere."""
    model = model_of(trained, known.template)
    standing, _ = sample_people(known, 40, 40, seed=11, bend=0.05)
    edges = trained.initial.edges
    settings, rest_shapes = ShapeTraining(count=8, rounds=3), trained.estimate.rest_shapes
    model, _ = train_shape(standing.vertices, model, edges, settings, rest_shapes)
    meshes, _ = sample_people(known, 4, 24, seed=12, bend=0.35)
    fitted, errors, poses = FittedSmpl(model, iterations=25), [], []
    for subject in range(4):
        frames = meshes.vertices[meshes.of_subject(subject)]
        shapes, posed_vertices = fitted.fit_people(frames, 8)
        errors.append(np.linalg.norm(posed_vertices - frames, axis=2).mean())
        rest = fitted.fit_poses(frames[1:], shapes[0])
        poses.append(np.linalg.norm(rest - frames[1:], axis=2).mean())
    return {
        "new_people_model_mm": 1e3 * float(np.mean(errors)),
        "new_people_pose_mm": 1e3 * float(np.mean(poses)),
    }


def new_poses(known: KnownSmpl, trained: PoseModel, people: int) -> float:
    """Mean distance in new poses of trained people, poses alone fitted, metres."""
    meshes, truth = sample_people(known, people, 4 * people, seed=1, bend=0.35)
    again, errors = trained.estimate, []
    for subject in range(people):
        own = meshes.of_subject(subject)
        found = solve_poses(
            again.person(subject), meshes.vertices[own], truth.poses(own), iterations=30
        )
        errors.append(found.distances.mean())
    return float(np.mean(errors))


def run(vertices: int, people: int, poses: int, scale: float) -> tuple[dict, PoseModel, KnownSmpl]:
    """Train on one known model."""
    known = known_smpl(vertices, pose_scale=scale)
    meshes, truth = sample_people(known, people, poses)
    rings = initial_model(known.template).regressor
    near = np.einsum("jv,iva->ija", rings, truth.rest_shapes, optimize=True)
    began = time.process_time()
    trained = train_pose(meshes, known.template, SETTINGS)
    seconds = time.process_time() - began
    errors = joint_errors(trained.estimate, truth)
    counted = [j for j in range(1, errors.shape[1]) if excited(truth, j)]
    offsets = trained.estimate.pose_offsets.reshape(len(trained.estimate.pose_offsets), -1)
    moved = trained.estimate.features() @ offsets
    return (
        {
            "truth_joint_from_ring_mm": 1e3
            * float(np.linalg.norm(near - truth.joints, axis=2).max()),
            "training_mm": 1e3 * float(distances(meshes, trained.estimate).mean()),
            "joints_excited": len(counted),
            "joint_mean_mm": 1e3 * float(errors[:, counted].mean()),
            "joint_worst_mean_mm": 1e3 * float(errors[:, counted].mean(axis=0).max()),
            "joint_worst_mm": 1e3 * float(errors[:, counted].max()),
            "correctives_rms_mm": 1e3 * float(np.sqrt(np.mean(moved**2))),
            "blend_shapes_rms_mm": 1e3 * float(np.sqrt(np.mean(offsets**2))),
            "stages_mm": [[stage, 1e3 * mean] for stage, mean in trained.history],
            "cpu_seconds": seconds,
        },
        trained,
        known,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="400 vertices, 5 people, 300 poses")
    small = parser.parse_args().small
    sizes = (400, 5, 300) if small else (2000, 20, 600)
    first, trained, known = run(*sizes, POSE_SCALE)
    first["new_poses_mm"] = 1e3 * new_poses(known, trained, sizes[1])
    first |= held_out(known, trained)
    print(json.dumps(first, indent=1), flush=True)
    zero, _, _ = run(*sizes, 0.0)
    print(json.dumps(zero, indent=1))
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True)
    result = {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip(),
        "machine": f"{platform.processor() or platform.machine()}, {platform.system()}",
        "vertices": known.model.vertex_count,
        "people": sizes[1],
        "poses": sizes[2],
        "pose_scale_m": POSE_SCALE,
        "known_correctives": first,
        "zero_correctives": zero,
    }
    name = RESULTS.with_stem("smpl_truth_small") if small else RESULTS
    name.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
