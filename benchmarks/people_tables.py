"""Put the results of `benchmarks/people.py` into the method's page.

python benchmarks/people_tables.py
"""

import argparse
import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks/results/people.json"
PAGE = ROOT / "docs/methods/people.md"
FLEXED = ("biceps_circumference", "forearm_circumference")


def moment_table(report: dict[str, Any]) -> str:
    """Mean ± standard deviation of bodies and of the survey, and body minus person."""
    head = (
        "| dimension | women, bodies | women, survey | body − person (largest) "
        "| men, bodies | men, survey | body − person (largest) |\n" + "| --- " * 7 + "|"
    )
    return "\n".join([head, *(_row(report, name) for name in report["matched"])])


def _row(report: dict[str, Any], name: str) -> str:
    cells = [name.replace("_", " ") + (", flexed" if name in FLEXED else "")]
    digits = 1 if name == "mass" else 0
    for sex in ("female", "male"):
        found, off = report[sex]["moments"][name], report[sex]["residuals"][name]
        cells += [
            f"{found['mean']:.{digits}f} ± {found['sd']:.1f}",
            f"{found['survey_mean']:.{digits}f} ± {found['survey_sd']:.1f}",
            f"{off['mean']:.2f} ± {off['sd']:.2f} ({off['largest']:.2f})",
        ]
    return f"| {' | '.join(cells)} |"


def held_table(report: dict[str, Any]) -> str:
    """All dimensions of people that no fit saw: bodies against them."""
    rows = [
        "| dimension | women, mean | women, deviation | men, mean | men, deviation |",
        "| --- " * 5 + "|",
    ]
    for name in report["held_back"]["female"]["moments"]:
        cells = [name.replace("_", " ")]
        for sex in ("female", "male"):
            found = report["held_back"][sex]
            off = found["residuals"][name]
            ratio = found["moments"][name]["sd_ratio"]
            cells += [f"{off['mean']:+.1f} ± {off['sd']:.1f}", f"{ratio:.2f}"]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def adult_table(report: dict[str, Any]) -> str:
    """Percentiles of drawn adults and of NHANES."""
    levels = report["adults"]["percentiles"]
    rows = [
        "| | " + " | ".join(f"{level} %" for level in levels) + " |",
        "| --- " * (len(levels) + 1) + "|",
    ]
    names = {
        "age_years": "age, years",
        "stature_m": "stature, m",
        "bmi": "BMI",
        "waist_m": "waist, m",
    }
    for sex, word in (("female", "women"), ("male", "men")):
        for key, label in names.items():
            found = report["adults"][sex][key]
            digits = 2 if key.endswith("_m") else 1
            pairs = zip(found["people"], found["nhanes"], strict=True)
            cells = [f"{ours:.{digits}f} / {theirs:.{digits}f}" for ours, theirs in pairs]
            rows.append(f"| {word}, {label} | {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=PAGE, help="page to write")
    out = parser.parse_args().out
    report = json.loads(RESULTS.read_text())
    page = PAGE.read_text(encoding="utf-8")
    tables = {
        "moments": moment_table(report),
        "held back": held_table(report),
        "adults": adult_table(report),
    }
    for name, table in tables.items():
        start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, rest = page.split(start)
        page = f"{before}{start}\n{table}\n{end}{rest.split(end)[1]}"
    out.write_text(page, encoding="utf-8")
    for sex in ("female", "male"):
        found = report[sex]["correlations"]
        print(sex, {k: v for k, v in found.items() if k not in ("bodies", "survey")})
    print(report["soundness"], report["times"], report["extremes"]["soundness"])


if __name__ == "__main__":
    main()
