"""What capturing costs: poses and frames, on one worker and on two, and what is wrong with them.

    python benchmarks/capture.py                 small sets, under three minutes on two quiet cores
    python benchmarks/capture.py --full FOLDER   40 people × 45 poses, 10 people × 14 motions × 5 s
    python benchmarks/capture.py --full FOLDER --sets dyna    only one of them

The small form records two people with 1 and with 2 workers, and extrapolates the full sets from the
processor time of a person's layers, of a pose and of a frame, without what a worker pays once.
Both forms check what they made before they report a time: every frame is finite, and the skin that
is inside the body is listed for some frames. The full form leaves its stores, a contact sheet and a
film in FOLDER. Inverted tetrahedra are counted in poses and in a motion of one person.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from corporeal.assets.default_body import load_default_body
from corporeal.body.pose import Pose
from corporeal.capture.flesh import flesh_of
from corporeal.capture.protocols.dyna import DynaProtocol
from corporeal.capture.protocols.poses import PosesProtocol
from corporeal.capture.session import SessionSettings
from corporeal.formats.registrations import RegistrationsStore
from corporeal.pipelines.capture import CaptureConfig, capture, person_of
from corporeal.pipelines.dataset import Choice, export_dataset
from corporeal.pipelines.dataset_check import check_dataset
from corporeal.pipelines.people import PeopleConfig, make_people
from corporeal.population.people_store import read_people

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "capture.json"
SMALL = {"poses": {"poses": 5}, "dyna": {"duration": 2.0, "motions": ("jumping-jacks",)}}
FULL = {
    "poses": {"women": 20, "men": 20, "split": "train"},
    "dyna": {"women": 5, "men": 5, "split": "train"},
}
FEW = """name,gender,age,stature,mass
clara,female,34,1.63,68
david,male,41,1.77,92
"""
FULL_FRAMES = {"poses": (40, 40 * 45), "dyna": (10, 10 * 14 * 301)}  # people, frames
LIMITS = {"poses": 45 * 60.0, "dyna": 90 * 60.0}  # seconds on two cores


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", type=Path)
    parser.add_argument("--sets", nargs="+", choices=tuple(FULL), default=tuple(FULL))
    asked = parser.parse_args()
    report = {
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}",
        "load_before": os.getloadavg(),
    }
    with tempfile.TemporaryDirectory() as folder:
        home = asked.full or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        people = home / "people.zarr"
        if asked.full:
            if not people.exists():
                make_people(PeopleConfig(out=people, count=200, seed=1), workers=2)
        else:
            table = home / "people.csv"
            table.write_text(FEW)
            make_people(PeopleConfig(out=people, table=table), workers=1)
        report["inverted"] = inverted(people)
        print(json.dumps(report["inverted"]), flush=True)
        known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        if asked.full:
            report["full"] = known.get("full", {}) | full_sets(people, home, asked.sets)
        else:
            report["small"] = small_sets(people, home)
    RESULTS.write_text(json.dumps(known | report, indent=2) + "\n")
    if asked.full:
        pictures(asked.full, asked.sets)


def small_sets(people: Path, home: Path) -> dict:
    """Two people of each protocol, with one worker and with two."""
    found = {}
    for protocol, settings in SMALL.items():
        rows = {}
        for workers in (1, 2):
            out = home / f"{protocol}-{workers}.zarr"
            config = CaptureConfig(
                people=people, out=out, protocol=protocol, women=1, men=1, **settings
            )
            rows[f"{workers} workers"] = timed(config, workers)
            print(protocol, workers, json.dumps(rows[f"{workers} workers"]), flush=True)
        rows["checked"] = checked(out, 3)
        found[protocol] = rows
    return found


def full_sets(people: Path, home: Path, protocols: Sequence[str]) -> dict:
    """The sizes of the training sets of Loper 2015 and Pons-Moll 2015."""
    found = {}
    for protocol in protocols:
        settings = FULL[protocol]
        out = home / f"{protocol}.zarr"
        config = CaptureConfig(people=people, out=out, protocol=protocol, **settings)
        row = timed(config, 2)
        row["within_limit"] = row["wall_s"] < LIMITS[protocol]
        row["checked"] = checked(out, 5)
        print(protocol, json.dumps(row), flush=True)
        found[protocol] = row
    return found


def pictures(home: Path, protocols: Sequence[str]) -> None:
    """Contact sheets of the sets, and a film of movements."""
    for protocol in protocols:
        out = home / f"{protocol}.zarr"
        first = RegistrationsStore.open(out).read().takes[0].subject
        export_dataset(out, home / f"{protocol}.png", Choice(subjects=(first,)))
        if protocol == "dyna":
            choice = Choice(subjects=(first,), sequences=("jumping-jacks", "shake-hips"))
            export_dataset(out, home / "dyna.mp4", choice)


def timed(config: CaptureConfig, workers: int) -> dict:
    """Seconds by the clock, processor seconds of all workers, and frames."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    report = capture(config, workers=workers)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    error = report.error()
    if error is not None:
        raise error
    frames = sum(done.frames for done in report.done.values())
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "people": len(report.done),
        "frames": frames,
        "wall_s": round(wall, 1),
        "cpu_s": round(spent, 1),
        "frames_a_second": round(frames / wall, 2),
        "cpu_s_a_frame": round(spent / frames, 3),
    }


def checked(path: Path, thorough: int) -> dict:
    found = check_dataset(path, thorough, workers=2)
    if found.broken or found.unreadable:
        raise SystemExit(f"{path} is broken: {found.counts} {found.unreadable}")
    return {
        "frames": found.frames,
        "asked_for_penetration": found.frames_asked_for_penetration,
        "with_skin_2_mm_deep": found.counts.get("penetration", 0),
        "deepest_mm": round(1e3 * found.deepest, 1),
        "with_stretched_edges": found.counts.get("stretched edges", 0),
    }


def inverted(people: Path) -> dict:
    """Tetrahedra that are inside out, in static poses and in a motion, and cost without start."""
    template = load_default_body().template
    person = person_of(read_people(people), 0)
    start = time.process_time()
    flesh = flesh_of(person, template, "layered", seed=0)
    prepared = time.process_time() - start
    found = {"prepare_person_cpu_s": round(prepared, 2)}
    for protocol, frames in ((PosesProtocol(6), 6), (DynaProtocol(duration=2.0), 60)):
        name = protocol.sequences()[0]
        recording = protocol.direct(person, template, name, seed=1)
        controls = flesh.controls(recording.moving, SessionSettings.touch)
        simulation = flesh.deformer.simulation(controls)
        body = simulation.body(person.identity)
        strain = body.system.constraints[0].matrix
        at_rest = turned(strain, body.rest)
        motion = recording.motion
        poses = [
            Pose(np.asarray(motion.joint_rotations[n]), np.asarray(motion.root_translation[n]))
            for n in range(min(frames, motion.frame_count))
        ]
        state = simulation.start(person.identity, poses[0])
        start, counts = time.process_time(), []
        for pose in poses[1:]:
            if recording.moving:
                state = simulation.step(state, pose, 1 / motion.fps)
            else:
                state = simulation.start(person.identity, pose)
            counts.append(int((turned(strain, state.flesh.positions) & ~at_rest).sum()))
        found[protocol.name] = {
            "tetrahedra": len(at_rest),
            "frames": len(counts),
            "inverted_mean": round(float(np.mean(counts)), 2),
            "inverted_most": max(counts),
            "cpu_s_a_frame": round((time.process_time() - start) / len(counts), 3),
        }
    costs = {name: found[name]["cpu_s_a_frame"] for name in FULL_FRAMES}
    found["extrapolated_minutes_on_two_cores"] = {
        name: round((people * prepared + frames * costs[name]) / 2 / 60, 1)
        for name, (people, frames) in FULL_FRAMES.items()
    }
    return found


def turned(strain, positions) -> np.ndarray:
    """Which tetrahedra are inside out: those whose deformation gradient reflects."""
    gradients = (strain @ np.asarray(positions, np.float64)).reshape(-1, 3, 3)
    return np.linalg.det(gradients) <= 0


def commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT
    )
    return done.stdout.strip()


if __name__ == "__main__":
    main()
