"""Markers: joint angles and stature of the body that 40 virtual markers give, against the truth.

Takes are authored motions of unseen people of the population, skinned by the shipped sparse SMPL,
or with --captures a store of recorded flesh (corporeal capture, --protocol dyna), whose skin moves
over the bones as soft tissue does. Markers are Plug-in Gait's with two on each hand and the fifth
metatarsals, 9.5 mm off the skin; noise 3 mm about each axis, 5 % of places in gaps. One row of JSON
a take; a stopped run goes on where it was.

    python benchmarks/registration_markers.py --count 10
    python benchmarks/registration_markers.py --captures takes.zarr --misplaced 8 --workers 8
    python benchmarks/registration_markers.py --summary
"""

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measured_commit import commit

RESULTS = Path(__file__).parent / "results"
SEED = 20_992
LEFT_OUT = ("SACR", "ARIEL", "RBAK", "LTIB", "RTIB", "LFIN", "RFIN", "LHLX", "RHLX")
"""Of the built-in labels; 40 are left."""
UNSEEN = ("left_foot", "right_foot")
"""Body joints that no marker of these tells: toes."""
MOTIONS = (
    "chicken-wings",
    "hips",
    "jiggle-on-toes",
    "jumping-jacks",
    "knees",
    "light-hopping-loose",
    "one-leg-jump",
    "punching",
    "shake-arms",
    "shake-shoulders",
)


class Job(NamedTuple):
    """One take."""

    number: int
    subject: str
    motion: str
    captures: str
    misplaced_mm: float


def labels() -> tuple[str, ...]:
    """The forty."""
    from corporeal.registration.marker_sets import known_spots

    known = (name for name in known_spots() if "." not in name and name != "STERNUM")
    return tuple(name for name in known if name not in LEFT_OUT)


def authored(number: int, motion: str):
    """Skin frames, identity, pose and frames a second of an authored motion of an unseen person."""
    from corporeal.assets.default_body import load_default_body
    from corporeal.body.identity import Identity
    from corporeal.body.pose import Pose
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.models.smpl.shipped import SparseSmplSkinning
    from corporeal.motions.library import make_motion
    from corporeal.population.realise import realise
    from corporeal.population.sampling import sample_people

    made = realise(PhenotypeModel(), sample_people(0, number + 1, SEED, "adults"))
    identity = Identity(made.rest_vertices[number], made.joints[number], {})
    template = load_default_body().template
    moved = make_motion(motion, identity, template, seed=SEED + number, fps=60.0, duration=5.0)
    pose = Pose(np.asarray(moved.joint_rotations), np.asarray(moved.root_translation))
    skinning = SparseSmplSkinning(template)

    def frame(k: int):
        one = Pose(pose.joint_rotations[k], pose.root_translation[k])
        return np.asarray(skinning.vertices(identity, one), np.float64)

    return frame, identity, pose, 60.0


def captured(path: str, subject: str, motion: str):
    """The same of a recorded take."""
    from corporeal.body.pose import Pose
    from corporeal.pipelines.dataset import read_dataset

    data = read_dataset(Path(path))
    take = next(t for t in data.takes if (t.subject, t.sequence) == (subject, motion))
    identity = data.subjects[subject].identity
    assert take.truth is not None
    assert identity is not None
    count = take.frame_count
    pose = Pose(
        np.asarray(take.truth.joint_rotations[0:count]),
        np.asarray(take.truth.root_translation[0:count]),
    )

    def frame(k: int):
        return np.asarray(take.vertices[k : k + 1], np.float64)[0]

    return frame, identity, pose, take.fps


def recorded(job: Job):
    """Noisy marker places with gaps, and the truth."""
    from corporeal.geometry.surface import vertex_normals
    from corporeal.registration.marker_sets import marker_vertices
    from corporeal.registration.person_model import person_model

    model = person_model()
    space, triangles = model.space, np.asarray(model.template.mesh.triangles)
    given = captured(job.captures, job.subject, job.motion) if job.captures else None
    frame, identity, pose, fps = given or authored(job.number, job.motion)
    random = np.random.default_rng([SEED, job.number])
    names = labels()
    table = marker_vertices(names, model.template.skeleton, space.mean_vertices, space.mean_joints)
    rest = np.asarray(identity.rest_vertices, np.float64)
    rows = []
    for name in names:
        away = np.linalg.norm(rest - rest[table[name]], axis=1)
        rows.append(int(random.choice(np.flatnonzero(away <= 1e-3 * job.misplaced_mm))))
    step = max(1, round(fps / 30.0))
    kept = np.arange(0, len(pose.joint_rotations), step)
    places = []
    for k in kept:
        skin = frame(int(k))
        places.append((skin + 9.5e-3 * vertex_normals(skin, triangles))[rows])
    seen = np.stack(places) + 3e-3 * random.normal(size=(len(kept), len(rows), 3))
    gaps = np.zeros(seen.shape[:2], bool)
    while gaps.mean() < 0.05:
        first = random.integers(len(kept))
        gaps[first : first + random.integers(3, 15), random.integers(len(rows))] = True
    seen[gaps] = np.nan
    turns = np.asarray(pose.joint_rotations, np.float64)[kept]
    return names, seen, turns, rest, fps / step


def one(job: Job) -> dict[str, Any]:
    """Fit one take; a row."""
    from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
    from corporeal.registration.marker_fit import fit_markers
    from corporeal.registration.person_model import person_model

    names, seen, turns, rest, fps = recorded(job)
    joints = person_model().template.skeleton.names[:22]
    cpu = time.process_time()
    fit = fit_markers(names, seen, fps=fps)
    cpu = time.process_time() - cpu
    found = matrix_from_axis_angle(np.asarray(fit.poses.joint_rotations))[:, :22]
    truth = matrix_from_axis_angle(turns)[:, :22]
    away = np.degrees(
        np.linalg.norm(axis_angle_from_matrix(found @ np.swapaxes(truth, -1, -2)), axis=2)
    )
    by_joint = np.sqrt((away**2).mean(axis=0))
    told = np.array([name not in UNSEEN for name in joints])
    tall = np.ptp(fit.identity.rest_vertices[:, 1]) - np.ptp(rest[:, 1])
    return {
        **job._asdict(),
        "markers": len(names),
        "frames": len(seen),
        "seen_deg": float(np.sqrt((by_joint[told] ** 2).mean())),
        "all_deg": float(np.sqrt((by_joint**2).mean())),
        "stature_mm": 1e3 * float(tall),
        "residual_mm": 1e3 * float(np.nanmean(fit.residuals)),
        "cpu_s": cpu,
        "joints_deg": {name: round(float(v), 2) for name, v in zip(joints, by_joint, strict=True)},
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Root mean squares over takes."""
    found: dict[str, Any] = {"takes": len(rows)}
    for key in ("seen_deg", "all_deg", "stature_mm"):
        values = np.array([row[key] for row in rows])
        found[key] = {
            "rms": round(float(np.sqrt((values**2).mean())), 3),
            "worst": round(float(np.abs(values).max()), 3),
        }
    names = rows[0]["joints_deg"] if rows else {}
    found["joints_deg"] = {
        name: round(float(np.sqrt(np.mean([row["joints_deg"][name] ** 2 for row in rows]))), 2)
        for name in names
    }
    return found


def jobs_of(given: argparse.Namespace) -> list[Job]:
    """The takes that are asked for."""
    path = "" if given.captures is None else str(given.captures)
    if not path:
        return [
            Job(n, "", MOTIONS[n % len(MOTIONS)], "", given.misplaced) for n in range(given.count)
        ]
    from corporeal.pipelines.dataset import read_dataset

    pairs = sorted((t.sequence, t.subject) for t in read_dataset(Path(path)).takes)
    # one motion after the other, so that few takes are of many motions and people
    order = sorted(range(len(pairs)), key=lambda i: (i * 7919) % len(pairs))
    return [
        Job(n, pairs[i][1], pairs[i][0], path, given.misplaced)
        for n, i in enumerate(order[: given.count])
    ]


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10, help="takes")
    parser.add_argument("--captures", type=Path, default=None, help="store of recorded takes")
    parser.add_argument("--misplaced", type=float, default=0.0, help="markers sit off by up to, mm")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=None, help="JSON lines to write")
    parser.add_argument("--summary", action="store_true", help="tell what the rows say, and end")
    given, version = parser.parse_args(), commit()
    kind = "authored" if given.captures is None else "captured"
    out = given.out or RESULTS / f"registration_markers_{kind}_{given.misplaced:g}mm.jsonl"
    rows = [json.loads(line) for line in out.read_text().splitlines()] if out.is_file() else []
    if not given.summary:
        done = {(row["subject"], row["motion"], row["number"]) for row in rows}
        left = [j for j in jobs_of(given) if (j.subject, j.motion, j.number) not in done]
        with ProcessPoolExecutor(given.workers) as pool:
            for row in pool.map(one, left):
                row |= {"commit": version}
                with out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                rows.append(row)
                print(json.dumps({k: v for k, v in row.items() if k != "joints_deg"}), flush=True)
    print(json.dumps(summary(rows), indent=2))


if __name__ == "__main__":
    main()
