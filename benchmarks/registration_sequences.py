"""Sequences: recorded flesh scanned frame by frame, tracked, and compared with the truth.

Takes of a store (corporeal capture, --protocol dyna, with quasi-static twins) are seen by the
virtual scanner; the first frame is registered without being told anything, the others are tracked.
Dynamic offsets are frame − twin, along the twin's normal, in belly, breasts and thighs; what runs
along the surface is told apart. One row of JSON a take; a take keeps its finished frames beside the
rows, so a stopped run goes on where it was.

    corporeal people --count 60 --seed 23 --out people.zarr
    corporeal capture --people people.zarr --protocol dyna --women 5 --men 5 --duration 5 \\
        --motions jumping-jacks --out takes.zarr
    python benchmarks/registration_sequences.py takes.zarr --count 10 --workers 10 --minutes 8.5
"""

import argparse
import json
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measured_commit import commit

RESULTS = Path(__file__).parent / "results"
SOFT = ("belly", "left_breast", "right_breast", "left_thigh", "right_thigh")
SEED = 20_993
CHUNK = 25
"""Frames that are kept together."""


class Job(NamedTuple):
    """One take."""

    store: str
    subject: str
    sequence: str
    frames: int
    noise: float
    kept: str
    until: float


def one(job: Job) -> dict[str, Any] | None:
    """Track one take; a row, or None where time was up before its end."""
    from corporeal.body.pose import Pose
    from corporeal.body.raw_scan import RawScan
    from corporeal.capture.scanner.scanner import Scanner, ScannerSettings
    from corporeal.pipelines.dataset import read_dataset
    from corporeal.registration.person_model import person_model
    from corporeal.registration.register import register_scan
    from corporeal.registration.tracking import Tracker

    data = read_dataset(Path(job.store))
    take = next(t for t in data.takes if (t.subject, t.sequence) == (job.subject, job.sequence))
    template = person_model().template
    triangles = np.asarray(template.mesh.triangles)
    scanner = Scanner(ScannerSettings(noise=job.noise, outliers=0.01), triangles)
    labels = np.array(template.part_names)[np.asarray(template.part_labels)]
    soft = np.isin(labels, SOFT)
    home = _home(job)
    home.mkdir(parents=True, exist_ok=True)

    def scan(k: int):
        skin = np.asarray(take.vertices[k : k + 1])[0]
        seen = scanner.scan(skin.astype(np.float32), np.random.default_rng([SEED, k]))
        return skin, RawScan(seen.points.astype(np.float64), confidence=seen.confidence)

    parts = sorted(home.glob("*.npz"))
    frames = min(job.frames, take.frame_count)
    if (home / "first.npz").is_file():
        parts.remove(home / "first.npz")
        first = np.load(home / "first.npz")
        first_cpu = float(first["cpu"])
    else:
        cpu = time.process_time()
        found = register_scan(scan(0)[1], unit="m", up="+y").registered
        first_cpu = time.process_time() - cpu
        np.savez(
            home / "first.npz",
            rest=found.identity.rest_vertices,
            joints=found.identity.joints,
            turns=found.pose.joint_rotations,
            place=found.pose.root_translation,
            cpu=first_cpu,
        )
        first = np.load(home / "first.npz")
    from corporeal.body.identity import Identity

    tracker = Tracker(Identity(first["rest"], first["joints"], {}))
    tracker.begin(Pose(first["turns"], first["place"]))
    if parts:
        last = np.load(parts[-1])
        tracker.begin(Pose(last["turns"][-1], last["places"][-1]))
    for start in range(CHUNK * len(parts), frames, CHUNK):
        if time.time() > job.until:
            return None
        rows = [
            _frame(tracker, *scan(k), take, k, soft, triangles)
            for k in range(start, min(start + CHUNK, frames))
        ]
        arrays = {key: np.stack([row[key] for row in rows]) for key in rows[0]}
        arrays["peak_mb"] = np.array([resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024])
        path = home / f"{start:05d}.npz"
        np.savez(path, **arrays)  # pyright: ignore[reportArgumentType]
        parts.append(path)
    return _judged(job, [dict(np.load(path)) for path in parts], first_cpu)


def _frame(tracker, skin, scan, take, k: int, soft, triangles) -> dict[str, Any]:
    """One frame tracked, and what is kept of it."""
    from corporeal.geometry.surface import vertex_normals

    cpu = time.process_time()
    found = tracker.frame(scan.points, np.asarray(scan.confidence, np.float64))
    cpu = time.process_time() - cpu
    twin = np.asarray(take.twin.vertices[k : k + 1], np.float64)[0]
    normals = vertex_normals(twin, triangles)[soft]
    truth, mine = (skin - twin)[soft], (found.vertices - twin)[soft]
    along = np.sum(truth * normals, axis=1), np.sum(mine * normals, axis=1)
    aside = [v - a[:, None] * normals for v, a in zip((truth, mine), along, strict=True)]
    return {
        "turns": found.pose.joint_rotations,
        "places": found.pose.root_translation,
        "error": np.linalg.norm(found.vertices - skin, axis=1).mean(),
        "median": found.median,
        "lost": 2 * found.lost + found.recovered,
        "true": along[0].astype(np.float32),
        "found": along[1].astype(np.float32),
        "aside": np.sqrt(np.mean(np.sum((aside[0] - aside[1]) ** 2, axis=1))),
        "aside_true": np.sqrt(np.mean(np.sum(aside[0] ** 2, axis=1))),
        "cpu": cpu,
    }


def _home(job: Job) -> Path:
    """Where a take's finished frames are."""
    return Path(job.kept) / f"{job.subject}_{job.sequence}"


def so_far(job: Job) -> dict[str, Any] | None:
    """The row of the frames that are done, of a take that was stopped; None where none is."""
    home = _home(job)
    parts = [dict(np.load(path)) for path in sorted(home.glob("[0-9]*.npz"))]
    return _judged(job, parts, float(np.load(home / "first.npz")["cpu"])) if parts else None


def _judged(job: Job, parts: list[dict[str, Any]], first_cpu: float) -> dict[str, Any]:
    kept = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    true, found = kept["true"].reshape(-1), kept["found"].reshape(-1)
    peaks = kept["peak_mb"]
    return {
        "subject": job.subject,
        "sequence": job.sequence,
        "frames": len(kept["error"]),
        "mean_mm": 1e3 * float(kept["error"].mean()),
        "worst_frame_mm": 1e3 * float(kept["error"].max()),
        "residual_mm": 1e3 * float(np.median(kept["median"])),
        "lost": int((kept["lost"] >= 2).sum()),
        "recovered": int((kept["lost"] % 2).sum()),
        "offset_mm": 1e3 * float(np.sqrt(np.mean(true**2))),
        "offset_error_mm": 1e3 * float(np.sqrt(np.mean((true - found) ** 2))),
        "offset_correlation": float(np.corrcoef(true, found)[0, 1]),
        "tangential_mm": 1e3 * float(np.sqrt(np.mean(kept["aside_true"] ** 2))),
        "tangential_error_mm": 1e3 * float(np.sqrt(np.mean(kept["aside"] ** 2))),
        "first_cpu_s": first_cpu,
        "frame_cpu_s": float(np.median(kept["cpu"])),
        "frame_cpu_most_s": float(kept["cpu"].max()),
        "peak_mb": float(peaks.max()),
        "memory_rise_mb": _risen(peaks),
    }


def _risen(peaks: np.ndarray) -> float:
    """Rise of the peak of memory over a take, without each process's first frames: one that goes on
    with a take begins below the peak of the one before."""
    if len(peaks) < 2:
        return 0.0
    steps = np.diff(peaks)
    warm = np.concatenate([[False], steps[:-1] >= 0.0])
    return float(np.clip(steps[warm], 0.0, None).sum())


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means and extremes over takes."""
    found: dict[str, Any] = {"takes": len(rows)}
    for key in rows[0] if rows else ():
        values = [row[key] for row in rows]
        if not isinstance(values[0], str):
            found[key] = {
                "mean": round(float(np.mean(values)), 3),
                "least": round(float(np.min(values)), 3),
                "most": round(float(np.max(values)), 3),
            }
    return found


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("captures", type=Path, help="store of recorded takes with twins")
    parser.add_argument("--count", type=int, default=10, help="takes")
    parser.add_argument("--only", nargs="*", default=None, help="takes, as PERSON_MOTION")
    parser.add_argument("--frames", type=int, default=300, help="of every take")
    parser.add_argument("--noise", type=float, default=0.4, help="of the scanner, mm")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--minutes", type=float, default=1e6, help="stop after so long")
    parser.add_argument("--out", type=Path, default=RESULTS / "registration_sequences.jsonl")
    parser.add_argument("--summary", action="store_true", help="tell what the rows say, and end")
    given = parser.parse_args()
    out = given.out
    rows = [json.loads(line) for line in out.read_text().splitlines()] if out.is_file() else []
    if not given.summary:
        from corporeal.pipelines.dataset import read_dataset

        takes = [t for t in read_dataset(given.captures).takes if t.twin is not None]
        if given.only is not None:
            named = {f"{t.subject}_{t.sequence}": t for t in takes}
            takes = [named[name] for name in given.only]
        done = {(row["subject"], row["sequence"]) for row in rows}
        until = time.time() + 60.0 * given.minutes
        kept = str(out.with_name("." + out.stem + "_frames"))
        common = (given.frames, 1e-3 * given.noise, kept, until)
        jobs = [
            Job(str(given.captures), t.subject, t.sequence, *common)
            for t in takes[: given.count]
            if (t.subject, t.sequence) not in done
        ]
        with ProcessPoolExecutor(given.workers) as pool:
            for row in pool.map(one, jobs):
                if row is None:
                    print("time was up before a take's end; the same call goes on", flush=True)
                    continue
                row |= {"commit": commit()}
                with out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                rows.append(row)
                print(json.dumps(row), flush=True)
    print(json.dumps(summary(rows), indent=2))


if __name__ == "__main__":
    main()
