"""Put the results of `benchmarks/anthropometry.py` into the tables of the method's page.

python benchmarks/anthropometry_tables.py
"""

import argparse
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks/results/anthropometry.json"
PAGE = ROOT / "docs/methods/measurements-to-shape.md"
GIVEN = ("stature, mass", "stature, mass, waist_circumference")
END = "### On people that no choice was made on"


def table(results: dict, given: str) -> str:
    """One table: women and men, a row a dimension."""
    women, men = results[f"female from {given}"], results[f"male from {given}"]
    lines = [
        f"### Given {given.replace('_', ' ')}",
        "",
        "100 women and 100 men; millimetres (mass: kilograms): mean ± sd of body minus person, "
        "largest, and RMSE over the regression's.",
        "",
        "| dimension | women | largest | ratio | men | largest | ratio |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in women:
        cells = [cell for person in (women[name], men[name]) for cell in _cells(person)]
        lines.append(f"| {name.replace('_', ' ')} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n\n"


def _cells(found: dict[str, float]) -> tuple[str, str, str]:
    digits = 0 if "ratio" in found else 2
    spread = f"{found['mean']:.{digits}f} ± {found['sd']:.{digits}f}"
    ratio = f"{found['ratio']:.2f}" if "ratio" in found else "given"
    return spread, f"{found['max']:.{digits}f}", ratio


def main() -> None:
    """Rewrite the part of the page between its two headings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=PAGE, help="page to write")
    out = parser.parse_args().out
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    text = PAGE.read_text(encoding="utf-8")
    start, end = text.index(f"### Given {GIVEN[0]}\n"), text.index(END)
    tables = "".join(table(results, given) for given in GIVEN)
    out.write_text(text[:start] + tables + text[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
