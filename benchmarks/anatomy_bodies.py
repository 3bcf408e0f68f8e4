"""A thousand bodies of BMI 16 to 45: layers nested, bones beneath the skin, none without thickness.

    python benchmarks/anatomy_bodies.py --bodies 1120 --workers 16   # takes up where it ended
    python benchmarks/anatomy_bodies.py --bodies 1120 --limit 40     # 40 more of them, no more
    python benchmarks/anatomy_bodies.py --summary       # what the rows say, without new ones

People are drawn evenly over body mass index and age (`population.sampling`, crowd `even`) and
become bodies with all their dimensions. Every layered vertex of the muscle surface is asked whether
it lies in the skin, every one of the bone surface whether it lies in the muscle surface, and every
vertex of the detailed bones (without skull and jaw, which stand in the mouth) whether it lies in
the skin: by winding numbers from signed crossings of rays, in code that shares nothing with the
fit's. Every ten bodies add their rows to `results/anatomy_bodies.jsonl`; 3 processor seconds each.
"""

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from time import process_time

import numpy as np
from anatomy_fit import source_code
from measured_commit import commit
from numba import njit

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.anatomy.bone_margin import HEAD
from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.template import layered_template
from corporeal.anatomy.warp import transfer_bones
from corporeal.body.identity import Identity
from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.population.realise import realise
from corporeal.population.sampling import Persons, sample_people

RESULTS = Path(__file__).parent / "results" / "anatomy_bodies.json"
HEAVIEST, SEED, GROUP = 45.0, 17, 10
CELL = 0.01
"""Side of the squares that triangles are sorted into, metres."""
THINNEST = 2e-5
"""A layer thinner than this has none, metres."""
SLANT = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
"""A turn to no axis, so that no ray meets an edge."""


def winding_numbers(
    points: Float64[NumpyArray, "n 3"],
    vertices: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
) -> Int[NumpyArray, "n"]:
    """How often a closed surface goes round every point: signed crossings of one ray each."""
    turned, from_points = (np.ascontiguousarray(a @ SLANT) for a in (vertices, points))
    corners = np.ascontiguousarray(turned[triangles])
    low = corners[..., :2].min(axis=(0, 1)) - CELL
    size = np.ceil((corners[..., :2].max(axis=(0, 1)) + CELL - low) / CELL).astype(np.int64)
    first = ((corners[..., :2].min(axis=1) - low) / CELL).astype(np.int64)
    last = ((corners[..., :2].max(axis=1) - low) / CELL).astype(np.int64)
    return _crossings(from_points, corners, low, size, first, last)


@njit(cache=False)
def _crossings(points, corners, low, size, first, last):  # pragma: no cover
    counts = np.zeros(size[0] * size[1] + 1, np.int64)
    for f in range(len(corners)):
        for i in range(first[f, 0], last[f, 0] + 1):
            for j in range(first[f, 1], last[f, 1] + 1):
                counts[i * size[1] + j + 1] += 1
    starts = np.cumsum(counts)
    filled = starts[:-1].copy()
    members = np.empty(starts[-1], np.int64)
    for f in range(len(corners)):
        for i in range(first[f, 0], last[f, 0] + 1):
            for j in range(first[f, 1], last[f, 1] + 1):
                cell = i * size[1] + j
                members[filled[cell]] = f
                filled[cell] += 1
    found = np.zeros(len(points), np.int64)
    for n in range(len(points)):
        x, y, z = points[n]
        i, j = int(np.floor((x - low[0]) / CELL)), int(np.floor((y - low[1]) / CELL))
        if i < 0 or j < 0 or i >= size[0] or j >= size[1]:
            continue
        cell = i * size[1] + j
        for k in range(starts[cell], starts[cell + 1]):
            a, b, c = corners[members[k], 0], corners[members[k], 1], corners[members[k], 2]
            u = (b[0] - x) * (c[1] - y) - (b[1] - y) * (c[0] - x)
            v = (c[0] - x) * (a[1] - y) - (c[1] - y) * (a[0] - x)
            w = (a[0] - x) * (b[1] - y) - (a[1] - y) * (b[0] - x)
            within = (u > 0 and v > 0 and w > 0) or (u < 0 and v < 0 and w < 0)
            if within and (u * a[2] + v * b[2] + w * c[2]) / (u + v + w) > z:
                found[n] += 1 if u > 0 else -1
    return found


def examined(identity: Identity, sex: str, age: float) -> dict[str, object]:
    """One body: how many points are outside what should hold them."""
    wanted = predict_composition(identity, age, sex).composition
    layers = fit_layers(identity, sex, wanted, age=age)
    held = layers.composition
    assert held is not None
    skin, muscle, bone = (
        np.asarray(s, np.float64) for s in (layers.skin, layers.muscle, layers.bone)
    )
    template = layered_template(sex)
    region = np.flatnonzero(layers.layered)
    gaps = [np.linalg.norm(a - b, axis=1)[region] for a, b in ((skin, muscle), (muscle, bone))]
    bones = [b for b in transfer_bones(layers, template) if b.name not in HEAD]
    points = np.concatenate([b.vertices for b in bones])
    sign = 1 if winding_numbers(skin.mean(axis=0)[None], skin, layers.triangles)[0] > 0 else -1
    outside = {
        "muscle_outside_skin": winding_numbers(muscle[region], skin, layers.triangles),
        "bone_outside_muscle": winding_numbers(bone[region], muscle, layers.triangles),
        "bones_outside_skin": winding_numbers(points, skin, layers.triangles),
    }
    names = np.repeat([b.name for b in bones], [len(b.vertices) for b in bones])
    pierced = names[sign * outside["bones_outside_skin"] < 1]
    return {
        **{name: int((sign * winding < 1).sum()) for name, winding in outside.items()},
        "pierced_by": sorted(set(pierced.tolist())),
        "bone_points": len(points),
        "layered_vertices": len(region),
        "without_thickness": int((np.minimum(*gaps) < THINNEST).sum()),
        "lost_layers": int((template.layered & ~layers.layered).sum()),
        "fat_asked_kg": wanted.fat_mass,
        "fat_error_kg": held.fat_mass - wanted.fat_mass,
        "muscle_error_kg": held.muscle_mass - wanted.muscle_mass,
    }


def run(count: int, file: Path, code: str, workers: int, limit: int | None) -> None:
    """Adds the rows of the first `count` people that `file` lacks, `limit` of them at most."""
    done = {row["person"] for row in read_rows(file, code)}
    left = [number for number in range(count) if number not in done][:limit]
    groups = [left[start : start + GROUP] for start in range(0, len(left), GROUP)]
    made = len(done)
    with executor(workers) as each:
        for rows in each(group_rows, groups):
            with file.open("a") as rows_file:
                for row in rows:
                    rows_file.write(json.dumps(row | {"code": code}, default=float) + "\n")
            made += len(rows)
            print(f"{made} of {count}", flush=True)


@contextmanager
def executor(workers: int) -> Iterator[Callable]:
    """A `map` in no order that works in this process, or in some others, one thread each."""
    if workers == 1:
        yield map
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        yield lambda work, items: (
            future.result() for future in as_completed([pool.submit(work, item) for item in items])
        )


def group_rows(numbers: list[int]) -> list[dict[str, object]]:
    """Rows of some people, whose bodies are made together."""
    single = [sample_people(number, 1, SEED, "even") for number in numbers]
    people = Persons(
        tuple(one.names[0] for one in single),
        tuple(one.sexes[0] for one in single),
        np.concatenate([one.ages for one in single]),
        np.concatenate([one.dimensions for one in single]),
    )
    bmi = people.dimensions[:, 1] / people.dimensions[:, 0] ** 2
    bodies, rows = realise(PhenotypeModel(), people), []
    for index, number in enumerate(numbers):
        sex, age = people.sexes[index], float(people.ages[index])
        row: dict[str, object] = {"person": number, "sex": sex, "age": age, "bmi": bmi[index]}
        started = process_time()
        if bmi[index] > HEAVIEST:
            row["left_out"] = "heavier than asked"
        else:
            try:
                row |= examined(bodies.identity(index), sex, age)
            except InputError as error:
                row["refused"] = str(error)
        rows.append(row | {"processor_s": round(process_time() - started, 2)})
    return rows


def read_rows(file: Path, code: str) -> list[dict]:
    """Rows that this code made."""
    if not file.exists():
        return []
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return sorted((row for row in rows if row["code"] == code), key=lambda row: row["person"])


def summary(rows: list[dict]) -> dict[str, object]:
    """What the rows of examined bodies say together."""
    counted = (
        "muscle_outside_skin",
        "bone_outside_muscle",
        "bones_outside_skin",
        "without_thickness",
        "lost_layers",
    )
    return {
        "bodies": len(rows),
        "women": sum(row["sex"] == "female" for row in rows),
        "bmi": [min(row["bmi"] for row in rows), max(row["bmi"] for row in rows)],
        "points_asked": sum(row["bone_points"] + 2 * row["layered_vertices"] for row in rows),
        **{name: sum(row[name] for row in rows) for name in counted},
        "bodies_with": {name: sum(row[name] > 0 for row in rows) for name in counted},
        "fat_mean_abs_error_kg": float(np.mean([abs(row["fat_error_kg"]) for row in rows])),
        "fat_worst_error_kg": max(abs(row["fat_error_kg"]) for row in rows),
        "muscle_worst_error_kg": max(abs(row["muscle_error_kg"]) for row in rows),
        "processor_s_median": float(np.median([row["processor_s"] for row in rows])),
        "not_whole": [row for row in rows if any(row[name] for name in counted)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bodies", type=int, default=40, help="people drawn")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--limit", type=int, help="new bodies at most")
    parser.add_argument("--summary", action="store_true", help="no new bodies")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file")
    asked = parser.parse_args()
    file, code = asked.out.with_suffix(".jsonl"), source_code()
    if not asked.summary:
        run(asked.bodies, file, code, asked.workers, asked.limit)
    rows = read_rows(file, code)
    examined_rows = [row for row in rows if "bone_points" in row]
    report = {
        "commit": commit(),
        "code": code,
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        "load": os.getloadavg()[0],
        "summary": summary(examined_rows),
        "refused": [row for row in rows if "refused" in row],
    }
    asked.out.write_text(json.dumps(report, indent=1, default=float) + "\n")
    shown = {k: v for k, v in report["summary"].items() if k != "not_whole"}
    print(json.dumps(shown | {"refused": len(report["refused"])}, indent=1))


if __name__ == "__main__":
    main()
