"""How verbs speak: results on stdout (JSON for machines), everything else on stderr."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from corporeal.runtime.input_files import shortened
from corporeal.runtime.jobs import JobReport
from corporeal.runtime.manifest import to_json
from corporeal.runtime.progress import is_quiet
from corporeal.units import reading_unit

_SHOWN = ("stature", "mass", "bmi", "volume", "surface_area")
"""Measurements that stand first in a table."""


def say(text: str) -> None:
    """Tell the person at the terminal what happens, unless they asked for quiet."""
    if not is_quiet():
        print(shortened(text), file=sys.stderr, flush=True)


def print_json(content: Any) -> None:
    """One JSON document, and nothing else, on stdout."""
    print(json.dumps(to_json(content), indent=2, allow_nan=False, ensure_ascii=False))


def tell_made(made: Any, notes: Sequence[str], summary: str, *, as_json: bool) -> None:
    """Tell what a run made: notes first, then all of it for machines or a summary for people."""
    for note in notes:
        say(note)
    if as_json:
        print_json(made)
    else:
        print(summary)


def tell_batch(
    report: JobReport[Any], *, as_json: bool, notes: Callable[[Any], Sequence[str]] | None = None
) -> int:
    """Tell what became of a batch; gives back the exit code. `notes` are a result's, in words."""
    for name, result in report.done.items() if notes is not None else ():
        for note in notes(result) if notes is not None else ():
            say(f"{name}: {note}")
    failed = {name: failure.message for name, failure in report.failed.items()}
    if as_json:
        print_json({"done": report.done, "skipped": report.skipped, "failed": failed})
    else:
        made, there = len(report.done), len(report.skipped)
        print(f"{made} made, {there} were there already, {len(failed)} failed")
    error = report.error()
    if error is None:
        return 0
    print(f"corporeal: {error}", file=sys.stderr, flush=True)
    return error.exit_code


def measurement_table(measurements: Mapping[str, float], asked: Sequence[str] = ()) -> str:
    """Measurements in the units that people read them in; `asked` ones are marked."""
    names = [name for name in _SHOWN if name in measurements]
    names += [name for name in measurements if name not in _SHOWN]
    rows = [_row(name, measurements[name], name in asked) for name in names]
    width = max(len(label) for label, _, _ in rows)
    return "\n".join(f"  {label:<{width}}  {value:>7} {unit}" for label, value, unit in rows)


def _row(name: str, value: float, asked: bool) -> tuple[str, str, str]:
    label = name.replace("_", " ").capitalize() if name != "bmi" else "BMI"
    factor, unit, decimals = reading_unit(name)
    return label, f"{factor * value:.{decimals}f}", unit + " ←" * asked
