"""Compare the figures that documentation quotes with the results they came from.

    python tools/check_figures.py             all pages; ends with 1 where a figure differs
    python tools/check_figures.py --count     how many figures every page has tied to a result

A figure is tied by a comment right after it, which no reader sees:

    training ends at **3.3**<!--= enveloping.json/budget/training_rms_mm --> mm

The file lies in `benchmarks/results`, or as `assets/NAME.json` in `src/corporeal/assets/data`; the
rest is the way through its keys and places of lists. `* 100` after it scales what the file has.
A figure is right if it is the result rounded to the decimals that it shows.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = "benchmarks/results"
ASSETS = "src/corporeal/assets/data"
QUOTED = re.compile(
    r"(?P<figure>[-−]?\d[\d ]*(?:\.\d+)?)\**[  ]?%?\**<!--=\s*(?P<way>[^>]+?)\s*-->"
)
TIE = re.compile(r"<!--=")
MEASURED = re.compile(r"\d[\d ]*(?:\.\d+)?[  ](?:ms|mm|ml|MB|GB|fps|times)\b")
"""A number with a unit that only measuring gives."""


@dataclass(frozen=True)
class Figure:
    """A number on a page, and where it is said to come from."""

    page: Path
    line: int
    shown: str
    way: str

    def wrong(self, root: Path) -> str:
        """What is wrong with it, in words; empty where nothing is."""
        try:
            result = value_at(root, self.way)
        except (OSError, KeyError, IndexError, ValueError, TypeError) as error:
            return f"{self.where}: no result at {self.way!r} ({type(error).__name__}: {error})"
        plain = self.shown.replace("−", "-").replace(" ", "").replace(" ", "")
        decimals = len(plain.partition(".")[2])
        if abs(float(plain) - result) <= 0.5 * 10.0**-decimals * (1 + 1e-9):
            return ""
        return f"{self.where}: says {plain}; {self.way} is {result:.{decimals + 2}f}"

    @property
    def where(self) -> str:
        """Page and line."""
        return f"{self.page.name}:{self.line}"


def value_at(root: Path, way: str) -> float:
    """The number that a tie leads to."""
    path, _, scale = way.partition(" * ")
    folder, names = RESULTS, path.split("/")
    if names[0] == "assets":
        folder, names = ASSETS, names[1:]
    found: Any = json.loads((root / folder / names[0]).read_text())
    for name in names[1:]:
        found = found[int(name)] if isinstance(found, list) else found[name]
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise ValueError(f"{found!r} is no number")
    return float(found) * float(scale or 1)


def figures_of(page: Path) -> Iterator[Figure]:
    """All tied figures of a page; a tie without a figure before it is one that shows nothing."""
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        tied = list(QUOTED.finditer(line))
        for match in tied:
            yield Figure(page, number, match["figure"].strip(), match["way"])
        if len(TIE.findall(line)) != len(tied):
            raise SystemExit(f"{page.name}:{number} has a tie without a figure right before it.")


def untied(page: Path) -> Iterator[str]:
    """Measured figures of a page that no comment ties, in words; code and links are passed over."""
    text = re.sub(
        r"```.*?```", lambda code: "\n" * code[0].count("\n"), page.read_text(), flags=re.S
    )
    for number, line in enumerate(text.splitlines(), start=1):
        plain = re.sub(r"`[^`]*`|!\[[^]]*\]\([^)]*\)|\]\([^)]*\)", "", QUOTED.sub("", line))
        for match in MEASURED.finditer(plain):
            yield f"{page.name}:{number}: {match[0].strip()} has no tie"


def pages(root: Path) -> list[Path]:
    """Everything that may quote."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--count", action="store_true", help="tell how many are tied, and how many are not"
    )
    given = parser.parse_args()
    found = {page: list(figures_of(page)) for page in pages(ROOT)}
    if given.count:
        for page, figures in found.items():
            if figures or list(untied(page)):
                loose = len(list(untied(page)))
                print(f"{page.relative_to(ROOT)}: {len(figures)} tied, {loose} with a unit are not")
    wrong = [words for figures in found.values() for f in figures if (words := f.wrong(ROOT))]
    print(*wrong, sep="\n" if wrong else "")
    print(f"{sum(map(len, found.values()))} figures are tied to results, {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
