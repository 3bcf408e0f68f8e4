"""What the rows of registration's benchmarks say, in one file that pages quote.

python benchmarks/registration_summary.py       # writes benchmarks/results/registration.json
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"
FIGURES = (
    "body_mm",
    "hands_face_mm",
    "largest_part_mm",
    "rest_mm",
    "mean_mm",
    "worst_part_mm",
    "unsound",
    "unseen_rest_mm",
    "seen_rest_mm",
    "interval_covers",
    "measurements_covered",
    "cpu_s",
)


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of a file; none where it is not there."""
    path = RESULTS / f"registration_{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def spread(values: list[float]) -> dict[str, float]:
    """Least, median, mean, most."""
    return {
        "least": round(float(np.min(values)), 4),
        "median": round(float(np.median(values)), 4),
        "mean": round(float(np.mean(values)), 4),
        "most": round(float(np.max(values)), 4),
    }


def told(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Figures over rows."""
    good = [row for row in rows if not row.get("refused")]
    found: dict[str, Any] = {
        "rows": len(rows),
        "refused": len(rows) - len(good),
        "commits": sorted({str(row.get("commit", "not kept")) for row in rows}),
    }
    for key in FIGURES:
        values = [float(row[key]) for row in good if row.get(key) is not None]
        if values:
            found[key] = spread(values)
    ratios = [row["residual_mm"] / row["noise_mm"] for row in good if "noise_mm" in row]
    if ratios:
        found["residual_over_noise"] = spread(ratios)
        found["body_within_4_mm"] = sum(row["body_mm"] <= 4.0 for row in good)
        found["hands_face_within_6_mm"] = sum(row["hands_face_mm"] <= 6.0 for row in good)
        found["outlier_limbs"] = sum(row["largest_part_mm"] > 30.0 for row in good)
        found["with_unsound_triangles"] = sum(row["unsound"] > 0 for row in good)
    if any("right" in row for row in good):
        found["right"] = sum(bool(row.get("right")) for row in good)
    return found


def within(rows: list[dict[str, Any]]) -> dict[str, int]:
    """How many scans are within 10 mm where they do not show, and in the band of the intervals."""
    good = [row for row in rows if not row.get("refused")]
    return {
        "within_10_mm": sum(row["unseen_rest_mm"] <= 10.0 for row in good),
        "covers_85_to_95": sum(0.85 <= row["interval_covers"] <= 0.95 for row in good),
    }


def offsets_met(row: dict[str, Any]) -> bool:
    """Whether a take's offsets are within 30 % or 1 mm, and correlate by 0.9."""
    least = max(0.3 * row["offset_mm"], 1.0)
    return row["offset_error_mm"] <= least and row["offset_correlation"] >= 0.9


def refused(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Figures over things that are no person."""
    found: dict[str, Any] = {
        "tried": len(rows),
        "refused": sum(row["refused"] for row in rows),
        "cpu_s": spread([row["cpu_s"] for row in rows]),
        "commits": sorted({str(row.get("commit", "not kept")) for row in rows}),
    }
    for key in ("wall_s", "peak_gb"):
        if key in rows[0]:
            found[key] = spread([row[key] for row in rows])
    return found


def main() -> None:
    """Gather, write, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULTS / "registration.json")
    given = parser.parse_args()
    found: dict[str, Any] = {"command": "python benchmarks/registration_summary.py"}
    for name in (
        "people_0.4mm",
        "people_0.4mm_4b8849f",
        "people_1mm",
        "people_0.4mm_without5",
        "starts_0.4mm",
    ):
        rows = rows_of(name)
        if not rows:
            continue
        found[name] = told(rows) | {
            "by_pose": {
                pose: told([row for row in rows if row["pose"] == pose])
                for pose in sorted({row["pose"] for row in rows})
            }
        }
    same = {(row["person"], row["pose"], row["seed"]) for row in rows_of("people_0.4mm_without5")}
    before = rows_of("people_0.4mm_4b8849f")  # of the same population
    beside = [r for r in before if (r["person"], r["pose"], r["seed"]) in same]
    if beside:
        found["people_0.4mm_of_the_same"] = told(beside)
    for name, words in (("missing_0.4mm", ""), ("missing_0.4mm_d416c55", " before")):
        missing = rows_of(name)
        for gone in sorted({row["missing"] for row in missing}):
            some = [row for row in missing if row["missing"] == gone]
            found[f"missing {gone}{words}"] = told(some) | within(some)
    for name in ("refusals", "things"):
        if rows := rows_of(name):
            found[name] = refused(rows)
    for name in ("kinds", "everyday"):
        rows = rows_of(name)
        found[name] = {row["kind"].replace(" ", "_"): row for row in rows}
        for row in rows:
            row.pop("seconds", None)
    for name in ("markers_authored_0mm", "markers_captured_8mm"):
        rows = rows_of(name)
        if rows:
            found[name] = {"takes": len(rows)} | {
                key: {
                    "rms": round(float(np.sqrt(np.mean([row[key] ** 2 for row in rows]))), 3),
                    "worst": round(float(np.max(np.abs([row[key] for row in rows]))), 3),
                }
                for key in ("seen_deg", "all_deg", "stature_mm")
            }
    for name in ("sequences", "sequences_begun", "sequences_f1bb236", "sequences_afd8680"):
        sequences = rows_of(name)
        if not sequences:
            continue
        keys = [key for key, value in sequences[0].items() if isinstance(value, int | float)]
        found[name] = {"takes": len(sequences)} | {
            key: spread([float(row[key]) for row in sequences]) for key in keys
        }
        found[name]["within_4_mm"] = sum(row["mean_mm"] <= 4.0 for row in sequences)
        found[name]["offsets_met"] = sum(offsets_met(row) for row in sequences)
        found[name]["commits"] = sorted({str(row["commit"]) for row in sequences})
    for name in ("body", "training"):
        path = RESULTS / f"registration_{name}.json"
        if path.is_file():
            found[name] = json.loads(path.read_text())
    if "training" in found:
        report = found["training"]["evaluation"]["report"]
        for kind in ("model_mm", "pose_mm"):
            pairs = zip(report["registered"][kind], report["truth"][kind], strict=True)
            found["training"][f"{kind[:-3]}_ratio"] = [
                round(mine / best, 4) for mine, best in pairs
            ]
    given.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
