"""Train SMPL and its rivals on virtual captures and see how they meet new people and poses.

    python benchmarks/smpl_captures.py DATA OUT [poses] [train] [rivals] [evaluate] [curves]

DATA holds `poses.zarr`, `poses_test.zarr` and `shapes.zarr` (`benchmarks/capture.py --full`;
`--shapes` names another file of standing people); OUT gets checkpoints and one model file each.
`evaluate` writes `benchmarks/results/smpl_captures.json` and the charts in `docs/pictures`.

- `poses`: the first part of `train`, which needs `poses.zarr` alone; `train` goes on from there.
- `train`: SMPL-LBS, from nothing, with checkpoints, as `corporeal train smpl` does.
- `rivals`: from what that found: a retrained LBS and DQS (P = 0), SMPL-DQBS, SMPL-LBS-sparse.
- `evaluate`: pose generalisation of all of them, and of LBS and DQS as Loper 2015 has them, SMPL
  with P = 0.
- `curves`: model and pose generalisation of the main ones against the number of coefficients.
"""

import argparse
import json
import platform
import resource
import subprocess
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from corporeal.assets.default_body import load_default_body
from corporeal.assets.smpl_view import smpl_template
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.registrations import Registrations
from corporeal.body.template import Template
from corporeal.evaluation.fitted_smpl import FittedSmpl
from corporeal.evaluation.generalisation import Generalisation, generalisation
from corporeal.formats.registrations import RegistrationsStore
from corporeal.formats.smpl import read_smpl, write_smpl
from corporeal.models.smpl.train import (
    SmplTrainer,
    model_of,
    pose_identifier,
    posed_meshes,
    standing_meshes,
)
from corporeal.models.smpl.training.checkpoints import Checkpoints
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes
from corporeal.models.smpl.training.pose_training import PoseTraining, stages, train_pose
from corporeal.models.smpl.training.shape_training import ShapeTraining, train_shape
from corporeal.scene.charts import Line, line_chart

RESULTS = Path(__file__).parent / "results" / "smpl_captures.json"
CHARTS = Path(__file__).parents[1] / "docs" / "pictures"
SHAPES = ShapeTraining(count=100)
TRAINER = SmplTrainer(PoseTraining(), SHAPES)
RIVALS = {
    "LBS-retrained": replace(TRAINER.pose, joint_rounds=1, shape_rounds=0),
    "DQS-retrained": replace(TRAINER.pose, joint_rounds=1, shape_rounds=0, blending="dqs"),
    "SMPL-DQBS": replace(TRAINER.pose, joint_rounds=0, shape_rounds=1, blending="dqs"),
    "SMPL-LBS-sparse": replace(TRAINER.pose, joint_rounds=0, shape_rounds=1, sparse=True),
}
"""Settings, from where SMPL-LBS ended."""
CURVE = (2, 5, 10, 20, 50, 100)
"""Shape coefficients of the curves."""
EVERY = 4
"""Registrations of the curves."""
COMPARED = 100
"""Shape coefficients of the table."""
MAIN = ("SMPL-LBS", "LBS", "DQS", "SMPL-DQBS")
"""Models of the curves."""
SEEN = "SMPL-LBS on training people"


def callback(stage: str, number: float) -> None:
    now = f"{time.process_time():.0f} s of processor"
    print(f"{datetime.now(UTC):%H:%M:%S} {stage}: {1e3 * number:.3f} mm ({now})", flush=True)


@dataclass(frozen=True)
class Sets:
    """Where registrations are."""

    folder: Path
    standing: str

    @property
    def poses(self) -> Registrations:
        """Many poses of the people who train."""
        return RegistrationsStore.open(self.folder / "poses.zarr").read()

    @property
    def shapes(self) -> Registrations:
        """One pose of many people who train."""
        held = RegistrationsStore.open(self.folder / self.standing).read()
        return held.where(lambda take: take.split != "test")

    @property
    def test_people(self) -> dict[str, np.ndarray]:
        """Frames of everybody who tests."""
        held = RegistrationsStore.open(self.folder / "poses_test.zarr").read()
        return {
            t.subject: np.asarray(t.vertices[0 : t.frame_count], np.float32) for t in held.takes
        }


def first_part(data: Sets, out: Path) -> None:
    """Pose training of SMPL-LBS, to its checkpoint."""
    template = smpl_template(load_default_body().template)
    meshes, _ = posed_meshes(data.poses, template)
    identifier = pose_identifier(meshes, template, TRAINER.pose)
    kept = Checkpoints(out / "SMPL-LBS.checkpoint.npz", identifier)
    train_pose(meshes, template, TRAINER.pose, callback, kept)


def train(data: Sets, out: Path) -> None:
    """SMPL-LBS."""
    template = smpl_template(load_default_body().template)
    began, used = time.perf_counter(), time.process_time()
    kept = out / "SMPL-LBS.checkpoint.npz"
    trained = TRAINER.fit(data.poses, data.shapes, template, callback=callback, checkpoints=kept)
    write_smpl(out / "SMPL-LBS.npz", trained.model)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    report = dict(trained.report) | {
        "wall_seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - used,
        "peak_gib": peak,
        "standing": data.standing,
    }
    (out / "SMPL-LBS.json").write_text(json.dumps(report, indent=1, default=str))


def reached(out: Path, meshes: PosedMeshes, template: Template) -> Estimate:
    """What SMPL-LBS's training ended with."""
    identifier = pose_identifier(meshes, template, TRAINER.pose)
    kept = Checkpoints(out / "SMPL-LBS.checkpoint.npz", identifier)
    _, estimate, _ = kept.latest(stages(TRAINER.pose, len(template.mesh.vertices)))
    assert estimate is not None
    return estimate


def rivals(data: Sets, out: Path) -> None:
    """The others, from where SMPL-LBS ended."""
    template = smpl_template(load_default_body().template)
    meshes, names = posed_meshes(data.poses, template)
    standing = standing_meshes(data.shapes, template, without=names)
    whole = reached(out, meshes, template)
    bare = replace(whole, pose_offsets=np.zeros_like(whole.pose_offsets))
    for name, settings in RIVALS.items():
        if (out / f"{name}.npz").exists():
            continue
        begin = bare if settings.joint_rounds else whole
        learned = train_pose(meshes, template, settings, callback, begin=begin)
        first = model_of(learned, template)
        edges = learned.initial.edges
        rest_shapes, rule = learned.estimate.rest_shapes, replace(SHAPES, rounds=1)
        model, found = train_shape(standing, first, edges, rule, rest_shapes)
        write_smpl(out / f"{name}.npz", model)
        report = {
            "stages": [{"stage": s, "mean_distance": m} for s, m in learned.history],
            "explained": found.explained.tolist(),
        }
        (out / f"{name}.json").write_text(json.dumps(report, indent=1))


def bare_of(model: LinearBodyModel, blending: str) -> LinearBodyModel:
    """The same without pose blend shapes."""
    offsets = np.zeros_like(model.pose_offsets)
    return replace(model, pose_offsets=offsets, blending=blending)


def contenders(out: Path) -> dict[str, LinearBodyModel]:
    models = {"SMPL-LBS": read_smpl(out / "SMPL-LBS.npz")}
    models |= {n: read_smpl(out / f"{n}.npz") for n in RIVALS if (out / f"{n}.npz").exists()}
    whole = models["SMPL-LBS"]
    return models | {"LBS": bare_of(whole, "lbs"), "DQS": bare_of(whole, "dqs")}


def row(found: Generalisation) -> dict[str, object]:
    return {
        "shape_counts": list(found.shape_counts),
        "model_mm": (1e3 * found.mean_model).tolist(),
        "pose_mm": (1e3 * found.mean_pose).tolist(),
    }


def evaluate(data: Sets, out: Path) -> None:
    """Every model on test people, SMPL-LBS on some training people too."""
    people = data.test_people
    rows, errors = {}, {}
    for name, model in contenders(out).items():
        began = time.process_time()
        found = generalisation(FittedSmpl(model), people, (COMPARED,), pose_alone=True)
        rows[name], errors[name] = row(found), found.by_vertex
        callback(f"{name}: pose generalisation", float(found.mean_pose[0]))
        rows[name]["cpu_seconds"] = time.process_time() - began
        np.savez(out / "by_vertex.npz", **errors)
        write(out, people, rows)
    takes = data.poses.takes
    some = {
        t.subject: np.asarray(t.vertices[0:20], np.float32)
        for t in takes[:: max(1, len(takes) // 6)][:6]
    }
    fitted = FittedSmpl(read_smpl(out / "SMPL-LBS.npz"))
    rows[SEEN] = row(generalisation(fitted, some, (COMPARED,), pose_alone=True))
    write(out, people, rows)


def curves(data: Sets, out: Path) -> None:
    """Model and pose generalisation against the number of coefficients, of the main models."""
    whole = data.test_people
    people = {name: frames[::EVERY] for name, frames in whole.items()}
    rows = json.loads(RESULTS.read_text())["models"]
    for name, model in contenders(out).items():
        if name in MAIN:
            found = generalisation(FittedSmpl(model), people, CURVE)
            rows[f"{name} by coefficients"] = row(found)
            callback(f"{name}: model generalisation", float(found.mean_model[-1]))
            write(out, whole, rows)


def write(out: Path, people: dict[str, np.ndarray], rows: dict) -> None:
    """Figures and charts."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True)
    training = json.loads((out / "SMPL-LBS.json").read_text())
    result = {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip(),
        "machine": f"{platform.processor() or platform.machine()}, {platform.system()}",
        "test_people": len(people),
        "test_registrations": sum(map(len, people.values())),
        "training": {k: training[k] for k in training if k != "settings"},
        "models": rows,
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    explained = training["explained"]
    across = list(range(1, len(explained) + 1))
    charts = {
        "smpl-variance": line_chart(
            "Variance explained", "shape coefficients", "share",
            {"SMPL": Line(across, explained)},
        )
    }  # fmt: skip
    for kind, title in (("model", "Model generalisation"), ("pose", "Pose generalisation")):
        lines = {
            name.removesuffix(" by coefficients"): Line(r["shape_counts"], r[f"{kind}_mm"])
            for name, r in rows.items()
            if len(r["shape_counts"]) > 1
        }
        if lines:
            chart = line_chart(title, "shape coefficients", "mean distance, mm", lines)
            charts[f"smpl-{kind}-generalisation"] = chart
    for name, chart in charts.items():
        (CHARTS / f"{name}.svg").write_text(chart + "\n")


STEPS = {
    "poses": first_part,
    "train": train,
    "rivals": rivals,
    "evaluate": evaluate,
    "curves": curves,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("steps", nargs="*", default=["train", "rivals", "evaluate", "curves"])
    parser.add_argument("--shapes", default="shapes.zarr", help="file of standing people in DATA")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    for step in asked.steps:
        STEPS[step](Sets(asked.data, asked.shapes), asked.out)


if __name__ == "__main__":
    main()
