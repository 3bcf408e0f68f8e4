"""Registration of virtual scans: unseen people × poses, random starts, parts missing.

Truths are people of the population (`corporeal.population`, a seed that nothing was made with),
posed by the shipped sparse SMPL (the model uses the dense one; --truth dqs poses by dual
quaternions instead, whose bulges at bent joints no model here has), seen by the virtual scanner
with noise, holes and outliers. One row of JSON a scan, written as soon as it is there: a stopped
run goes on where it was.

    python benchmarks/registration.py people --workers 16             # 20 people × 5 poses
    python benchmarks/registration.py people --noise 1 --workers 16
    python benchmarks/registration.py people --without 5              # shape directions removed
    python benchmarks/registration.py starts --count 200 --workers 16 # facings, poses at random
    python benchmarks/registration.py missing --count 10              # front, limb, half, one view
    python benchmarks/registration.py people --summary                # what the rows say

--limit ends a run after so many rows of its own, --minutes after so long: both go on later.
"""

import argparse
import json
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit

RESULTS = Path(__file__).parent / "results"
KINDS = ("A", "T", "arms up", "sitting", "walking")
REMOVED = (
    "hip-scale-horiz",
    "torso-vshape",
    "stomach-pregnant",
    "upperarm-scale-vert",
    "hand-scale",
)
"""Unknowns of the population that no person of the reduced model differs in."""
MISSING = ("front", "limb", "upper half", "one view")
"""What a scan may lack: its back, one limb, all below the navel, all that one camera misses."""
LIMBS = (
    ("left_forearm", "left_hand"),
    ("right_forearm", "right_hand"),
    ("left_shin", "left_foot"),
    ("right_shin", "right_foot"),
)
SEED = 20_991


def drawn_pose(kind: str, names: tuple[str, ...], random: np.random.Generator, heading: float):
    """Rotation vectors of a kind of pose, varied as people vary it."""
    vectors = np.zeros((len(names), 3))
    spread = {"hip": 0.06, "knee": 0.04, "spine": 0.04, "neck": 0.08, "head": 0.08}
    spread |= {"shoulder": 0.12, "elbow": 0.1, "wrist": 0.1, "ankle": 0.05, "collar": 0.04}

    def turn(joint: str, *vector: float) -> None:
        for side, mirror in (("left", 1.0), ("right", -1.0)):
            vectors[names.index(f"{side}_{joint}")] += np.array(vector) * (1.0, mirror, mirror)

    if kind == "A":
        turn("shoulder", 0.0, 0.0, -random.uniform(0.5, 0.95))
    elif kind == "arms up":
        turn("shoulder", 0.0, 0.0, random.uniform(0.6, 1.1))
        turn("collar", 0.0, 0.0, 0.25)
    elif kind == "sitting":
        turn("hip", -1.45, 0.0, 0.1)
        turn("knee", 1.45, 0.0, 0.0)
        turn("shoulder", 0.0, 0.0, -1.05)
        turn("elbow", 0.0, -0.5, 0.0)
    elif kind == "walking":
        side = random.choice([-1.0, 1.0])
        turn("shoulder", 0.0, 0.0, -1.15)
        turn("elbow", 0.0, -0.4, 0.0)
        for name, step in (("left", side), ("right", -side)):
            vectors[names.index(f"{name}_hip")] += (-0.4 * step, 0.0, 0.0)
            vectors[names.index(f"{name}_knee")] += (0.2 if step > 0 else 0.55, 0.0, 0.0)
            vectors[names.index(f"{name}_shoulder")] += (0.0, 0.35 * side, 0.0)
    curl = {"left": random.uniform(0.05, 0.45), "right": random.uniform(0.05, 0.45)}
    for index, name in enumerate(names):
        side, _, stem = name.partition("_")
        if stem[:-1] in ("index", "middle", "ring", "pinky"):
            vectors[index, 2] = (-1.0 if side == "left" else 1.0) * curl[side]
            continue
        kind_of = next((key for key in spread if key in name), None)
        if kind_of is not None:
            axes = (1.0, 0.15, 0.15) if kind_of == "knee" else (1.0, 1.0, 1.0)
            vectors[index] += spread[kind_of] * random.normal(size=3) * axes
    vectors[0] = (0.0, heading, 0.0)
    return vectors


def virtual_scan(vertices, triangles, random, noise: float, points: int = 150_000):
    """Points and confidences, with holes over 15 % and 1 % outliers."""
    from corporeal.capture.scanner.scanner import Scanner, ScannerSettings

    settings = ScannerSettings(points=points, noise=noise, outliers=0.01)
    seen = Scanner(settings, triangles).scan(vertices.astype(np.float32), random)
    cloud = seen.points.astype(np.float64)
    kept = np.ones(len(cloud), bool)
    while (~kept).mean() < 0.15:
        middle = cloud[random.integers(len(cloud))]
        kept &= np.linalg.norm(cloud - middle, axis=1) > random.uniform(0.015, 0.06)
    return cloud[kept], seen.confidence[kept]


@cache
def people(count: int):
    """Unseen people's rest skins and joints; kept by commit, since the population changes."""
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.population.realise import realise
    from corporeal.population.sampling import sample_people

    folder = Path(tempfile.gettempdir()) / f"corporeal-registration-people-{SEED}-{commit()}.npz"
    if folder.is_file():
        stored = np.load(folder)
        if len(stored["vertices"]) >= count:
            return stored["vertices"][:count], stored["joints"][:count]
    made = realise(PhenotypeModel(), sample_people(0, count, SEED, "adults"))
    np.savez(folder, vertices=made.rest_vertices, joints=made.joints)
    return made.rest_vertices, made.joints


def measured(truth, identity, found, scan, triangles, names) -> dict[str, Any]:
    """Errors of one registration against its truth, millimetres."""
    from corporeal.registration.coupled_stage import matches

    registered = found.registered
    mine = found.placement.back(registered.vertices)
    error = 1e3 * np.linalg.norm(mine - truth, axis=1)
    fine = np.isin(names, ["left_hand", "right_hand", "head"])
    inside = np.isin(names, ["inner_mouth", "left_eye_socket", "right_eye_socket"])
    own = np.linalg.norm(matches(truth, triangles, scan).feet - scan, axis=1)
    left = np.linalg.norm(matches(mine, triangles, scan).feet - scan, axis=1)
    rest, true_rest = registered.identity.rest_vertices, identity.rest_vertices
    shift = (rest - true_rest).mean(axis=0)
    parts = {str(n): round(float(error[names == n].mean()), 2) for n in np.unique(names)}
    return {
        "body_mm": float(error[~fine & ~inside].mean()),
        "hands_face_mm": float(error[fine].mean()),
        "largest_part_mm": max(parts.values()),
        "max_mm": float(error.max()),
        "rest_mm": float(1e3 * np.linalg.norm(rest - true_rest - shift, axis=1).mean()),
        "residual_mm": float(1e3 * np.median(left)),
        "noise_mm": float(1e3 * np.median(own)),
        "unsound": registered.quality.unsound,
        "parts_mm": parts,
        "seconds": {name: round(value, 2) for name, value in registered.seconds},
    }


def interval_row(found, identity) -> dict[str, Any]:
    """How many of the person's true measurements lie in their intervals, and how wide these are."""
    from corporeal.anthropometry.measure import measure
    from corporeal.pipelines.avatar import USUAL_AGE, body_of
    from corporeal.pipelines.scan_intervals import scan_intervals

    body, sex = body_of(found)
    intervals = scan_intervals(body, found.registered.seen, sex, USUAL_AGE)
    rows = {}
    for name, value in measure(identity).values.items():
        if name not in intervals:  # of women alone, where the scan was taken for a man's
            continue
        low, high = intervals[name]
        error = float(body.measurements[name]) - float(value)
        rows[name] = [round(error, 5), round(0.5 * (high - low), 5)]
    inside = [abs(error) <= half for error, half in rows.values()]
    return {"measurements": rows, "measurements_covered": float(np.mean(inside))}


def cut_away(what: str, points, truth, labels, heading: float, random):
    """Points that a scan with something missing keeps, and the vertices that it then shows."""
    from scipy.spatial import KDTree

    forwards = np.array([np.sin(heading), 0.0, np.cos(heading)])
    if what == "limb":
        limb = LIMBS[int(random.integers(len(LIMBS)))]
        shown = ~np.isin(labels, limb)
    elif what == "upper half":
        shown = truth[:, 1] > np.median(truth[np.isin(labels, ["belly"]), 1])
    else:
        shown = np.ones(len(truth), bool)
    kept = shown[KDTree(truth).query(points)[1]]
    if what in ("front", "one view"):
        visible = _seen_from(points, points.mean(axis=0) + 2.5 * forwards, what == "one view")
        kept &= visible
        near = KDTree(points[kept]).query(truth)[0]
        shown = near < 0.012
    return kept, shown


def _seen_from(points, camera, one: bool):
    """Points that a camera sees: the nearest of its pixels' columns; three cameras unless one."""
    aim = points.mean(axis=0) - camera
    aim /= np.linalg.norm(aim)
    aside = np.cross(aim, [0.0, 1.0, 0.0])
    seen = np.zeros(len(points), bool)
    for turn in (0.0,) if one else (-0.9, 0.0, 0.9):
        way = np.cos(turn) * aim + np.sin(turn) * aside
        place = points.mean(axis=0) - 2.5 * way
        right = np.cross(way, [0.0, 1.0, 0.0])
        gap = points - place
        depth = gap @ way
        column = np.floor(400 * (gap @ right) / depth).astype(int)
        row = np.floor(400 * gap[:, 1] / depth).astype(int)
        key = column * 100_000 + row
        order = np.lexsort((depth, key))
        first = np.ones(len(order), bool)
        first[1:] = key[order][1:] != key[order][:-1]
        nearest = np.empty(len(order))
        nearest[order] = np.repeat(depth[order][first], np.diff(np.flatnonzero([*first, True])))
        seen |= depth < nearest + 0.02
    return seen


def unseen_errors(found, identity, shown) -> dict[str, Any]:
    """Unposed errors of what the scan did not show, and how well intervals cover them, mm."""
    from corporeal.registration.uncertainty import rest_spread

    registered = found.registered
    rest, truth = registered.identity.rest_vertices, np.asarray(identity.rest_vertices)
    shift = (truth - rest)[shown].mean(axis=0)
    error = rest + shift - truth
    away = 1e3 * np.linalg.norm(error, axis=1)
    spread = rest_spread(registered.seen)
    inside = np.abs(error) < 1.645 * spread[:, None]
    return {
        "unseen_share": float((~shown).mean()),
        "unseen_rest_mm": float(away[~shown].mean()),
        "seen_rest_mm": float(away[shown].mean()),
        "interval_covers": float(inside[~shown].mean()),
        "interval_mm": 1e3 * float(1.645 * spread[~shown].mean()),
    }


def one(
    person: int,
    kind: str,
    noise: float,
    skins,
    without: tuple[str, ...],
    seed: int,
    only_start: bool = False,
    truth_by: str = "smpl-sparse",
    missing: str = "",
):
    """Register one virtual scan; a row."""
    from corporeal.assets.default_body import load_default_body
    from corporeal.body.identity import Identity
    from corporeal.body.pose import Pose
    from corporeal.body.raw_scan import RawScan
    from corporeal.errors import InputError
    from corporeal.models.smpl.shipped import SparseSmplSkinning
    from corporeal.registration.person_model import person_model
    from corporeal.registration.register import register_scan
    from corporeal.skinning.dual_quaternion import DualQuaternionSkinning

    template = load_default_body().template
    random = np.random.default_rng([SEED, seed, person])
    identity = Identity(skins[0][person], skins[1][person], {})
    names = template.skeleton.names
    heading = random.uniform(-np.pi, np.pi)
    vectors = drawn_pose(kind, names, random, heading)
    skinning = (DualQuaternionSkinning if truth_by == "dqs" else SparseSmplSkinning)(template)
    truth = np.asarray(skinning.vertices(identity, Pose(vectors, np.zeros(3))), np.float64)
    triangles = np.asarray(template.mesh.triangles)
    points, confidence = virtual_scan(
        truth, triangles, random, noise, 40_000 if only_start else 150_000
    )
    labels = np.array(template.part_names)[np.asarray(template.part_labels)]
    shown = np.ones(len(truth), bool)
    if missing:
        kept, shown = cut_away(missing, points, truth, labels, heading, random)
        points, confidence = points[kept], confidence[kept]
    row: dict[str, Any] = {"person": person, "pose": kind, "noise_mm_said": 1e3 * noise}
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        if only_start:
            row |= _start_only(points, confidence, truth)
        else:
            model = person_model(without=without) if without else None
            unit = "m" if missing else "auto"
            found = register_scan(RawScan(points, confidence=confidence), unit=unit, model=model)
            row |= measured(truth, identity, found, points, triangles, labels)
            row |= interval_row(found, identity)
            if missing:
                row |= {"missing": missing} | unseen_errors(found, identity, shown)
    except InputError as error:
        row["refused"] = str(error)
    row |= {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    return row


def _start_only(points, confidence, truth) -> dict[str, Any]:
    """Where the best start lies, and whether that is right: no part more than 15 cm off."""
    from corporeal.body.raw_scan import RawScan
    from corporeal.registration.model_stage import FINE, fit_model
    from corporeal.registration.person_model import person_model
    from corporeal.registration.preparing import prepare
    from corporeal.registration.register import started

    model = person_model()
    fits, surface, rotation, _ = started(
        model, prepare(RawScan(points, confidence=confidence)), "auto"
    )
    firsts = [fit_model(model, surface, fit.state, FINE[:1]) for fit in fits]
    best = min(firsts, key=lambda fit: fit.energy)
    error = np.linalg.norm(best.posed.vertices @ rotation - truth, axis=1)
    labels = np.asarray(model.template.part_labels)
    worst = max(float(error[labels == k].mean()) for k in range(len(model.template.part_names)))
    return {
        "mean_mm": 1e3 * float(error.mean()),
        "worst_part_mm": 1e3 * worst,
        "right": worst < 0.1,
    }


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("people", "starts", "missing"))
    parser.add_argument("--count", type=int, default=20, help="people, or starts")
    parser.add_argument("--noise", type=float, default=0.4, help="of the scanner, mm")
    parser.add_argument(
        "--without", type=int, default=0, help="shape directions to remove, up to 5"
    )
    parser.add_argument("--truth", choices=("smpl-sparse", "dqs"), default="smpl-sparse")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--limit", type=int, default=None, help="rows of this run, at most")
    parser.add_argument("--minutes", type=float, default=None, help="begin no row after so long")
    parser.add_argument("--out", type=Path, default=None, help="JSON lines to write")
    parser.add_argument("--summary", action="store_true", help="tell what the rows say, and end")
    given = parser.parse_args()
    label = f"registration_{given.what}_{given.noise:g}mm" + (
        f"_without{given.without}" if given.without else ""
    )
    label += "_dqs" if given.truth == "dqs" else ""
    out = given.out or RESULTS / f"{label}.jsonl"
    rows = [json.loads(line) for line in out.read_text().splitlines()] if out.is_file() else []
    if not given.summary:
        people(20)
        done = {(row["person"], row["pose"], row["seed"], row.get("missing", "")) for row in rows}
        left = [job for job in jobs_of(given.what, given.count) if job not in done]
        rows += run(left[: given.limit], given, out)
    print(json.dumps(summary(rows), indent=2))


def jobs_of(what: str, count: int) -> list[tuple[int, str, int, str]]:
    """Person, kind of pose, seed and what is missing, of every row."""
    if what == "people":
        # every person once, then again in another pose: any beginning of the rows is a fair sample
        kinds = len(KINDS)
        pairs = [(p, (p + turn) % kinds) for turn in range(kinds) for p in range(count)]
        return [(p, KINDS[k], k, "") for p, k in pairs]
    if what == "missing":
        return [
            (p, KINDS[(p + k) % 2], 500 + k, gone)
            for p in range(count)
            for k, gone in enumerate(MISSING)
        ]
    return [(n % 20, KINDS[(n // 3) % len(KINDS)], 1000 + n, "") for n in range(count)]


def run(
    jobs: list[tuple[int, str, int, str]], given: argparse.Namespace, out: Path
) -> list[dict[str, Any]]:
    """Work through jobs; every row is written as soon as it is there."""
    begun, version, rows = time.perf_counter(), commit(), []
    common = (given.noise, given.without, given.what == "starts", given.truth)
    waiting = list(jobs)
    with ProcessPoolExecutor(given.workers) as pool:
        running = set()
        while waiting or running:
            late = given.minutes and time.perf_counter() - begun > 60.0 * given.minutes
            while waiting and not late and len(running) < given.workers:
                running.add(pool.submit(row_of, *waiting.pop(0), *common))
            if not running:
                break
            first = next(as_completed(running))
            running.discard(first)
            row = first.result() | {"commit": version}
            with out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            rows.append(row)
            print(json.dumps({k: v for k, v in row.items() if k != "parts_mm"}), flush=True)
    return rows


def row_of(
    person: int, kind: str, seed: int, gone: str, noise: float, without: int, start: bool, by: str
) -> dict[str, Any]:
    """One row, as a process of its own makes it."""
    row = one(person, kind, 1e-3 * noise, people(20), REMOVED[:without], seed, start, by, gone)
    return row | {"seed": seed, "missing": gone}


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over all rows."""
    good = [row for row in rows if "refused" not in row]
    found: dict[str, Any] = {"rows": len(rows), "refused": len(rows) - len(good)}
    for key in (
        "body_mm",
        "hands_face_mm",
        "largest_part_mm",
        "rest_mm",
        "mean_mm",
        "cpu_s",
        "unsound",
        "unseen_rest_mm",
        "interval_covers",
        "measurements_covered",
    ):
        values = [row[key] for row in good if key in row]
        if values:
            found[key] = {
                "mean": round(float(np.mean(values)), 3),
                "max": round(float(np.max(values)), 3),
            }
    ratios = [row["residual_mm"] / row["noise_mm"] for row in good if "residual_mm" in row]
    if ratios:
        found["residual_over_noise"] = {"median": float(np.median(ratios)), "max": max(ratios)}
    if any("right" in row for row in good):
        found["right"] = sum(row.get("right", False) for row in good) / len(rows)
    return found


if __name__ == "__main__":
    main()
