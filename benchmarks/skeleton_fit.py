"""Skeletons fitted to people whose joints are known: errors in millimetres, and time.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/skeleton_fit.py \\
        --out benchmarks/results/skeleton_fit.json

Every person has random sliders and modifiers (drawn with other seeds than the shape space of the
fit) and a random pose between T and A. In turn they are whole, decimated to 5 000 vertices, noisy
(3 mm), with holes, turned about the vertical, z up in millimetres, and with shuffled vertices. The
time is processor time.
"""

import argparse
import json
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from corporeal.body.mesh import Mesh
from corporeal.body.pose import Pose
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.volumetric_mesh.simulation_mesh import decimate
from corporeal.registration.skeleton_fit import fit_skeleton
from corporeal.skinning.linear import LinearBlendSkinning

Person = tuple[Mesh, np.ndarray]
BODY = 22


def person(model: PhenotypeModel, seed: int) -> Person:
    """A posed skin and its joints, metres."""
    random = np.random.default_rng([seed, 77])
    sliders = {p.name: random.uniform(p.low, p.high) for p in model.parameters}
    local = {
        p.name: 0.3 * random.uniform(max(p.low, -1.0), p.high)
        for p in model.local_parameters
        if random.random() < 0.15
    }
    identity, names = model.prepare(sliders, local), model.template.skeleton.names
    rotations = np.zeros((len(names), 3))
    rotations[1:BODY] = 0.04 * random.normal(size=(BODY - 1, 3))
    arms = random.uniform(0.0, 1.0)
    rotations[names.index("left_shoulder"), 2] -= arms
    rotations[names.index("right_shoulder"), 2] += arms
    skinning = LinearBlendSkinning(model.template)
    pose = Pose(rotations, np.zeros(3))
    skin = np.asarray(skinning.vertices(identity, pose), np.float64)
    joints = np.asarray(skinning.world_from_joint(identity, pose))[:, :3, 3]
    return Mesh(skin, model.template.mesh.triangles), joints


def whole(person: Person, random: np.random.Generator) -> Person:
    return person


def coarse(person: Person, random: np.random.Generator) -> Person:
    mesh, joints = person
    kept = decimate(mesh, np.zeros(mesh.vertex_count, int), np.array([5000]))
    return kept.surface(np.asarray(mesh.vertices)), joints


def noisy(person: Person, random: np.random.Generator) -> Person:
    mesh, joints = person
    return Mesh(
        mesh.vertices + 0.003 * random.normal(size=mesh.vertices.shape), mesh.triangles
    ), joints


def holed(person: Person, random: np.random.Generator) -> Person:
    """Everything within 6 cm of twelve random points is missing."""
    mesh, joints = person
    vertices = np.asarray(mesh.vertices)
    centres = vertices[random.choice(len(vertices), 12)]
    gone = (np.linalg.norm(vertices[:, None] - centres, axis=2) < 0.06).any(axis=1)
    return Mesh(vertices, mesh.triangles[~gone[mesh.triangles].any(axis=1)]), joints


def rotated(person: Person, random: np.random.Generator) -> Person:
    mesh, joints = person
    turn = matrix_from_axis_angle(np.array([0.0, random.uniform(-np.pi, np.pi), 0.0]))
    return Mesh(mesh.vertices @ turn.T, mesh.triangles), joints @ turn.T


def z_up_mm(person: Person, random: np.random.Generator) -> Person:
    mesh, joints = person
    axes = 1000.0 * np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])
    return Mesh(mesh.vertices @ axes.T, mesh.triangles), joints @ axes.T


def shuffled(person: Person, random: np.random.Generator) -> Person:
    mesh, joints = person
    order = random.permutation(mesh.vertex_count)
    place = np.argsort(order)
    return Mesh(np.asarray(mesh.vertices)[order], place[mesh.triangles]), joints


CHANGES: dict[str, Callable[[Person, np.random.Generator], Person]] = {
    "whole": whole,
    "decimated": coarse,
    "noisy": noisy,
    "holes": holed,
    "turned": rotated,
    "z_up_mm": z_up_mm,
    "shuffled": shuffled,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=21)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    model, names = PhenotypeModel(), PhenotypeModel().template.skeleton.names
    fit_skeleton(person(model, 0)[0])  # what is prepared once
    errors: dict[str, list[np.ndarray]] = {name: [] for name in CHANGES}
    seconds: list[float] = []
    for seed in range(arguments.people):
        change = list(CHANGES)[seed % len(CHANGES)]
        mesh, joints = CHANGES[change](person(model, seed), np.random.default_rng(seed))
        start = time.process_time()
        fit = fit_skeleton(mesh)
        seconds.append(time.process_time() - start)
        unit = 1000.0 if change == "z_up_mm" else 1.0
        away = np.linalg.norm(np.asarray(fit.skeleton.joints) - joints, axis=1) / unit
        errors[change].append(1e3 * away)
    every = np.concatenate([np.array(rows) for rows in errors.values() if rows])
    report = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": platform.platform(),
        "people": arguments.people,
        "seconds_a_fit": {"mean": float(np.mean(seconds)), "worst": float(np.max(seconds))},
        "body_joints_mm": {
            change: {
                "mean": round(float(np.mean([row[:BODY] for row in rows])), 2),
                "worst": round(float(np.max([row[:BODY] for row in rows])), 1),
            }
            for change, rows in errors.items()
            if rows
        },
        "finger_joints_mm": {"mean": round(float(every[:, BODY:].mean()), 2)},
        "by_joint_mm": {
            name: round(float(every[:, j].mean()), 1) for j, name in enumerate(names[:BODY])
        },
    }
    print(json.dumps(report, indent=2))
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
