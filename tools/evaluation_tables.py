"""What pages made of stored results share: figures with their ties, and tables of them."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from check_figures import value_at

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results"
NONE = "–"
"""A figure that is not stored."""


def tied(way: str, decimals: int = 1, scale: float = 1.0) -> str:
    """A figure with the comment that ties it to its result; a dash where there is no way."""
    if not way:
        return NONE
    full = way + (f" * {scale:g}" if scale != 1 else "")
    return f"{value_at(ROOT, full):.{decimals}f}<!--= {full} -->"


def table(head: Sequence[str], rows: Iterator[Sequence[str]] | Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def read(name: str) -> dict[str, Any]:
    """A stored result."""
    return json.loads((RESULTS / name).read_text())
