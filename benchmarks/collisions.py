"""Skin on skin: what collisions leave of the overlaps, and what they cost.

    python benchmarks/collisions.py [--frames 12]
    python benchmarks/collisions.py --times

Static balance of the default body in a set of poses and in frames of ten captured clips (the set
`cmu-mocap` of docs/data.md, in the folder that `CORPOREAL_DATA` names), with collisions off, local
and global. Depths are measured apart from what detects collisions: winding numbers and distances of
the posed simulation skin, without
what overlaps at rest. Vertices that were deeper inside than the flesh over their bone is thick are
listed apart, since bones would have to give way. Measured by rays beside it: the volume that the
skin encloses twice, and that which it encloses inside out. Then a frame at 60 frames a second is
timed in the squat, with processor time beside wall time, since a busy machine shows in the latter,
and the ten iterations of a frame with crossed legs by themselves, with flesh that keeps its volume
and with Komaritzan 2022's. `--times` takes times alone, and puts them into the report that is
there.
"""

import argparse
import json
import os
import platform
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.evaluation.penetration import PenetrationMeter
from corporeal.evaluation.union_volume import union_volume
from corporeal.geometry.volume import enclosed_volume
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.incoming import motion_for_body
from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.fast_projective_skinning.controls import COLLISIONS, ProjectiveControls
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.solver.integration import State
from corporeal.runtime.threads import thread_count

RESULTS = Path(__file__).parent / "results" / "collisions.json"
DEEP = 1e-3  # metres

POSES: dict[str, dict[str, tuple[float, float, float]]] = {
    "hand-to-belly": {"left_shoulder": (1.097, -0.758, -0.709), "left_elbow": (0, -1.608, 0)},
    "crossed-legs": {
        "left_hip": (-1.5, 0, -0.45),
        "right_hip": (-1.4, 0, 0.1),
        "left_knee": (1.4, 0, 0),
        "right_knee": (1.5, 0, 0),
    },
    "deep-squat": {
        "left_hip": (-2.0, 0, 0.15),
        "right_hip": (-2.0, 0, -0.15),
        "left_knee": (2.3, 0, 0),
        "right_knee": (2.3, 0, 0),
        "left_ankle": (-0.5, 0, 0),
        "right_ankle": (-0.5, 0, 0),
        "spine1": (0.3, 0, 0),
    },
    "arms-crossed": {
        "left_shoulder": (1.0, -1.0, -0.6),
        "left_elbow": (0, -1.6, 0),
        "right_shoulder": (0.8, 1.2, 0.5),
        "right_elbow": (0, 1.6, 0),
    },
    "elbows-bent": {"left_elbow": (0, -2.5, 0), "right_elbow": (0, 2.5, 0)},
}


class Subject:
    """The default body under all three settings, and its meter."""

    def __init__(self) -> None:
        self.model = PhenotypeModel()
        self.identity: Identity = self.model.prepare()
        shared = Preparations(self.model.template)
        self.simulations = {
            mode: ProjectiveSimulation(
                self.model.template, ProjectiveControls(collisions=mode), preparations=shared
            )
            for mode in COLLISIONS
        }
        published = ProjectiveControls(
            collisions="global", volume=0.0, untangled=False, stress_free="t-pose"
        )
        self.losing_volume = ProjectiveSimulation(
            self.model.template, published, preparations=shared
        )
        self.body = self.simulations["off"].body(self.identity)
        flesh = self.body.model
        rest, self.triangles = np.asarray(flesh.skin, np.float64), flesh.triangles
        self.meter = PenetrationMeter(rest, self.triangles)
        self.twice_at_rest = overlap(rest, self.triangles)[0]
        self.thickness = np.linalg.norm(flesh.skin - flesh.inner, axis=1)

    def pose(self, rotation_vectors: dict[str, tuple[float, float, float]]) -> Pose:
        rotations = np.zeros((len(self.body.joints), 3))
        for name, turn in rotation_vectors.items():
            rotations[self.body.skeleton.index(name)] = turn
        return Pose(rotations, np.zeros(3))


def overlap(skin: np.ndarray, triangles: np.ndarray) -> tuple[float, float]:
    """Volumes that a closed skin encloses twice, and inside out, m³; exact but for the rays' grid
    where it winds at most twice, and once the wrong way."""
    inside_out = union_volume(skin, np.ascontiguousarray(triangles[:, ::-1]))
    surplus = float(enclosed_volume(skin, triangles)) - union_volume(skin, triangles)
    return surplus + inside_out, inside_out


def measured(subject: Subject, pose: Pose) -> dict[str, dict[str, float]]:
    """Penetration in static balance, for all settings."""
    rows: dict[str, dict[str, float]] = {}
    buried = np.zeros(0, bool)
    for mode, simulation in subject.simulations.items():
        state = simulation.start(subject.identity, pose)
        skin = np.ascontiguousarray(state.flesh.positions[: subject.body.model.vertex_count])
        depths = subject.meter.depths(skin)
        if mode == "off":
            buried = depths > subject.thickness
        counted = np.where(buried, 0.0, depths)
        twice, inside_out = overlap(skin, subject.triangles)
        rows[mode] = {
            "vertices": int((depths > 0).sum()),
            "deeper_than_1_mm": int((depths > DEEP).sum()),
            "summed_depth_m": round(float(depths.sum()), 5),
            "deepest_mm": round(1e3 * float(depths.max()), 3),
            "beyond_the_flesh_vertices": int(buried.sum()),
            "beyond_the_flesh_summed_m": round(float(depths[buried].sum()), 5),
            "else_summed_m": round(float(counted.sum()), 5),
            "else_deepest_mm": round(1e3 * float(counted.max()), 3),
            "else_deeper_than_1_mm": int((counted > DEEP).sum()),
            "overlap_ml": round(1e6 * (twice - subject.twice_at_rest), 2),
            "inside_out_ml": round(1e6 * inside_out, 2),
        }
    return rows


def clip_paths() -> list[Path]:
    """The captured clips, sorted; none where `CORPOREAL_DATA` names no folder that has them."""
    folder = os.environ.get("CORPOREAL_DATA")
    return sorted((Path(folder) / "cmu-mocap").glob("*.bvh")) if folder else []


def clip_poses(subject: Subject, a_clip: int) -> dict[str, Pose]:
    """Frames spread over every clip, retargeted to the body."""
    poses = {}
    for path in clip_paths():
        motion = motion_for_body(path, subject.model.template, subject.identity).motion
        places = np.linspace(0, motion.frame_count - 1, a_clip + 2)[1:-1].astype(int)
        for place in places:
            rotations = np.asarray(motion.joint_rotations[place], np.float64).copy()
            rotations[0] = 0.0  # upright, so that gravity acts as at rest
            poses[f"{path.stem} {place}"] = Pose(rotations, np.zeros(3))
    return poses


def shares(rows: dict[str, dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """What each setting leaves of the off-state's sums, over all poses."""
    totals = {}
    for key in ("summed_depth_m", "else_summed_m", "overlap_ml"):
        off = sum(row["off"][key] for row in rows.values())
        totals[key] = {
            mode: round(sum(row[mode][key] for row in rows.values()) / max(off, 1e-9), 5)
            for mode in COLLISIONS
        }
    return totals


def timed(subject: Subject, frames: int = 40) -> dict[str, dict[str, float]]:
    """A frame at 60 frames a second, held in the squat: two steps of five iterations."""
    times = {}
    pose = subject.pose(POSES["deep-squat"])
    for mode, simulation in subject.simulations.items():
        state = simulation.step(simulation.start(subject.identity, pose), pose, 1 / 60)
        wall, processor = [], []
        for _ in range(frames):
            begun, worked = time.perf_counter(), time.process_time()
            state = simulation.step(state, pose, 1 / 60)
            wall.append(1e3 * (time.perf_counter() - begun))
            processor.append(1e3 * (time.process_time() - worked))
        touching = state.flesh.touching
        times[mode] = {
            "contacts": 0 if touching is None else len(touching),
            "wall_least_ms": round(min(wall), 3),
            "wall_median_ms": round(float(np.median(wall)), 3),
            "processor_median_ms": round(float(np.median(processor)), 3),
        }
    return times


def timed_iterations(
    subject: Subject, simulation: ProjectiveSimulation, frames: int = 40
) -> dict[str, float]:
    """Ten iterations a frame with crossed legs: finding contacts, and two steps of five iterations
    with them and without; least of all frames, and processor time of the median one."""
    body, pose = simulation.body(subject.identity), subject.pose(POSES["crossed-legs"])
    flesh = simulation.start(subject.identity, pose).flesh
    frame = body.frames(pose)
    solver, anchors = body.solver(1 / 120), body.carriers(frame)[body.system.anchored]
    kinds = ("contacts", "steps", "steps_without")
    wall: dict[str, list[float]] = {kind: [] for kind in kinds}
    processor: dict[str, list[float]] = {kind: [] for kind in kinds}

    def timed_call(kind: str, work):
        begun, worked = time.perf_counter(), time.process_time()
        result = work()
        wall[kind].append(1e3 * (time.perf_counter() - begun))
        processor[kind].append(1e3 * (time.process_time() - worked))
        return result

    def steps(begin: State, rows: Contacts | None) -> State:
        middle = solver.step(begin, anchors, body.weight, None, rows)
        return solver.step(middle, anchors, body.weight, None, rows)

    count = 0
    for _ in range(frames):
        rows, pairs = timed_call("contacts", partial(body.self_contacts, flesh, frame))
        timed_call("steps_without", partial(steps, flesh, None))
        flesh = replace(timed_call("steps", partial(steps, flesh, rows)), touching=pairs)
        count = 0 if rows is None else len(rows)
    report: dict[str, float] = {"contacts": count}
    for kind in kinds:
        report[f"{kind}_wall_least_ms"] = round(min(wall[kind]), 3)
        report[f"{kind}_processor_median_ms"] = round(float(np.median(processor[kind])), 3)
    return report


def times(subject: Subject) -> dict[str, Any]:
    """All that is timed, and where."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return {
        "commit": commit,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {thread_count()} threads, Python "
        f"{platform.python_version()}",
        "load_before_timing": os.getloadavg(),
        "frame_ms": timed(subject),
        "ten_iterations_ms": timed_iterations(subject, subject.simulations["global"]),
        "ten_iterations_without_volume_ms": timed_iterations(subject, subject.losing_volume),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=1, help="frames of every clip")
    parser.add_argument("--times", action="store_true", help="take times alone")
    asked = parser.parse_args()
    subject = Subject()
    if asked.times:
        report = json.loads(RESULTS.read_text()) | {"times": times(subject)}
    else:
        named = {
            name: measured(subject, subject.pose(rotation_vectors))
            for name, rotation_vectors in POSES.items()
        }
        found = {}
        for name, pose in clip_poses(subject, asked.frames).items():
            found[name] = measured(subject, pose)
            print(name, found[name]["global"], flush=True)
        report = {
            "times": times(subject),
            "left_in_poses": shares(named),
            "left_in_clips": shares(found)
            if found
            else "CORPOREAL_DATA names no folder with cmu-mocap",
            "poses": named,
            "clips": found,
        }
    RESULTS.write_text(json.dumps(report, indent=2) + "\n")
    print(json.dumps({k: v for k, v in report.items() if k not in ("clips",)}, indent=2))


if __name__ == "__main__":
    main()
