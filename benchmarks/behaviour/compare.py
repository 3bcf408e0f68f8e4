"""Compare two records of `record.py`: is every number what it was?

    python benchmarks/behaviour/compare.py old.npz new.npz --step A
    python benchmarks/behaviour/compare.py old.npz new.npz --step B --spread p1.npz p2.npz p3.npz

Step A (moves and renames): every array equal to the bit, every report key there under its name or
under the one that `rename_table.json` gives it, every value equal.

Step B (merged kinematics and solvers), by the largest difference of an array:

- float64: at most 1e-12 of the array's largest magnitude;
- float32: at most 4 units in the last place of the array's largest magnitude;
- chaotic cases (contacts, fits, trainings, pictures): at most the same, or the largest difference
  between the old record and its perturbed ones (`--spread`), whichever is larger;
- whole numbers and text: equal; reported numbers as float32, or one unit of their last decimal.

Prints a line a case that differs, writes all of them as JSON (`--out`), and exits with 1 if one is
outside. Sentences in reports may be reworded: they are counted, not judged.
"""

import argparse
import fnmatch
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

TABLE = Path(__file__).with_name("rename_table.json")
FLOAT64_RELATIVE = 1e-12
FLOAT32_UNITS = 4
_NUMBERS = "numbers"  # what a text file holds: decimals of float32 results


@dataclass(frozen=True)
class Renames:
    """The committed table: how a later commit calls what an old record holds."""

    keys: dict[str, str] = field(default_factory=dict)
    """Part of a path (between slashes) → part, for arrays and reports."""
    values: dict[str, str] = field(default_factory=dict)
    """Text → text, such as a deformer's name; or `above/name=number` → text, where a number
    became a word."""
    added: tuple[str, ...] = ()
    """Last parts of paths that the old commit did not report and the new one does."""

    def path(self, path: str) -> str:
        """A path in the later words."""
        return "/".join(self.keys.get(part, part) for part in path.split("/"))

    def value(self, path: str, was: Any) -> Any:
        """A reported value in the later words."""
        if isinstance(was, str):
            return self.values.get(was, was)
        return self.values.get(f"{'/'.join(path.split('/')[-2:])}={was}", was)

    def is_added(self, path: str) -> bool:
        """Whether the table knows this path as new."""
        return any(part in self.added for part in path.split("/"))


@dataclass(frozen=True)
class Record:
    """A record file: its index, and arrays by hash, read when asked for."""

    about: dict[str, Any]
    cases: dict[str, Any]
    blobs: Any

    @classmethod
    def read(cls, path: Path) -> "Record":
        """Open a file; arrays stay on disk."""
        file = np.load(path, allow_pickle=False)
        index = json.loads(str(file["index"]))
        return cls(index["about"], index["cases"], file)

    def rows(self, described: dict[str, Any]) -> np.ndarray:
        """The kept rows of an array."""
        return self.blobs[described["rows"]]


@dataclass
class Verdict:
    """What was found about one case."""

    case: str
    ok: bool = True
    equal: bool = True
    """To the bit, values included."""
    worst: str = ""
    """The array or value that is furthest out, by difference over what is allowed."""
    difference: float = 0.0
    allowed: float = 0.0
    ratio: float = 0.0
    rms: float = 0.0
    """Root mean square of the worst array's differences, to see whether one vertex or all moved."""
    spread_rms: float = 0.0
    """The same of the perturbed records, where the case is chaotic."""
    remarks: list[str] = field(default_factory=list)

    def refuse(self, remark: str) -> None:
        """Note a fault that no tolerance covers."""
        self.ok = self.equal = False
        self.remarks.append(remark)

    def note(
        self,
        name: str,
        difference: float,
        allowed: float,
        rms: float = 0.0,
        spread_rms: float = 0.0,
    ) -> None:
        """Note a difference; the worst by ratio is kept."""
        self.equal = False
        if not math.isfinite(difference):
            ratio = math.inf
        elif allowed > 0:
            ratio = difference / allowed
        else:
            ratio = math.inf if difference > 0 else 0.0
        if not ratio <= 1.0:
            self.ok = False
            self.remarks.append(f"{name}: {difference:.3e}, allowed {allowed:.3e}")
        if ratio >= self.ratio:
            self.worst, self.difference, self.allowed = name, difference, allowed
            self.ratio, self.rms, self.spread_rms = ratio, rms, spread_rms


def compare(
    old: Record,
    new: Record,
    step: str,
    renames: Renames,
    spread: list[Record],
    only: Sequence[str] = ("*",),
) -> list[Verdict]:
    """A verdict a case whose name fits one of `only`; cases of one record alone are faults."""
    verdicts = []
    names = sorted(old.cases.keys() | new.cases.keys())
    for name in (n for n in names if any(fnmatch.fnmatch(n, pattern) for pattern in only)):
        verdict = Verdict(name)
        verdicts.append(verdict)
        if name not in old.cases or name not in new.cases:
            verdict.refuse(f"is in {'the new' if name in new.cases else 'the old'} record alone")
            continue
        one, two = old.cases[name], new.cases[name]
        if one["exit_code"] != two["exit_code"]:
            said = two.get("error", "")[-300:]
            verdict.refuse(f"exit code {two['exit_code']}, was {one['exit_code']}: {said}")
            continue
        perturbed = [p for p in spread if one["spread_of"] in p.cases]
        _compare_arrays(verdict, old, new, step, renames, perturbed)
        _compare_values(
            verdict, one, two, step, renames, [_recorded_values(p, one) for p in perturbed]
        )
    return verdicts


def _recorded_values(record: Record, case: dict[str, Any]) -> dict[str, Any]:
    return record.cases[case["spread_of"]]["values"]


def _compare_arrays(
    verdict: Verdict,
    old: Record,
    new: Record,
    step: str,
    renames: Renames,
    perturbed: list[Record],
) -> None:
    one, two = old.cases[verdict.case], new.cases[verdict.case]
    expected = {renames.path(name): name for name in one["arrays"]}
    _require_names(verdict, set(expected), set(two["arrays"]), renames, "array")
    for name in expected.keys() & two["arrays"].keys():
        was, now = one["arrays"][expected[name]], two["arrays"][name]
        if was["sha256"] == now["sha256"]:
            continue
        if (was["dtype"], was["shape"]) != (now["dtype"], now["shape"]):
            have = f"{now['dtype']} {now['shape']}, was {was['dtype']} {was['shape']}"
            verdict.refuse(f"array {name} is {have}")
            continue
        before, after = old.rows(was), new.rows(now)
        away = difference(before, after)
        allowed = spread_rms = 0.0
        if step == "B":
            allowed = tolerance(name, before)
            if one["chaotic"]:
                samples = _spread(old, one, expected[name], perturbed)
                allowed = max([allowed, *(difference(*pair) for pair in samples)])
                spread_rms = max((root_mean_square(*pair) for pair in samples), default=0.0)
        if away == 0.0 and step == "B":
            verdict.equal = False
            verdict.remarks.append(f"array {name} differs in no row that is kept")
        elif away == 0.0:
            verdict.refuse(f"array {name} differs in rows that are not kept, or in signs of zeros")
        else:
            rms = root_mean_square(before, after)
            verdict.note(f"array {name}", away, allowed, rms, spread_rms)


def _spread(
    old: Record, case: dict[str, Any], name: str, perturbed: list[Record]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """An array of the old record beside that of each perturbed one, by the case that stands for it;
    where that is another case with other outputs, its array of the same last name."""
    standing = old.cases[case["spread_of"]]["arrays"]
    if name not in standing:
        leaf = name.rsplit("/", 1)[-1]
        name = next((n for n in standing if n.rsplit("/", 1)[-1] == leaf), "")
    found = []
    for record in perturbed:
        moved = record.cases[case["spread_of"]]["arrays"]
        if name in standing and name in moved and moved[name]["shape"] == standing[name]["shape"]:
            found.append((old.rows(standing[name]), record.rows(moved[name])))
    return found


def _compare_values(
    verdict: Verdict,
    one: dict[str, Any],
    two: dict[str, Any],
    step: str,
    renames: Renames,
    perturbed: list[dict[str, Any]],
) -> None:
    expected = {renames.path(name): name for name in one["values"]}
    _require_names(verdict, set(expected), set(two["values"]), renames, "key")
    for name in sorted(expected.keys() & two["values"].keys()):
        was, now = one["values"][expected[name]], two["values"][name]
        was = renames.value(name, was)
        if was == now:
            continue
        if _is_number(was) and _is_number(now):
            allowed = 0.0
            if step == "B" and isinstance(was, float):
                samples = [p[expected[name]] for p in perturbed if expected[name] in p]
                away = [abs(s - was) for s in samples if _is_number(s)] if one["chaotic"] else []
                allowed = max([_reported_tolerance(was), *away])
            verdict.note(f"value {name}", abs(now - was), allowed)
        elif isinstance(was, str) and isinstance(now, str) and " " in was:
            verdict.remarks.append(f"{name} is worded otherwise")
        else:
            verdict.refuse(f"value {name} is {now!r}, was {was!r}")


def _require_names(
    verdict: Verdict, expected: set[str], found: set[str], renames: Renames, what: str
) -> None:
    for name in sorted(expected - found):
        verdict.refuse(f"{what} {name} is missing")
    for name in sorted(found - expected):
        if not renames.is_added(name):
            verdict.refuse(f"{what} {name} is new, and not in the rename table")


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference of two arrays of one shape; 1 for text that differs, infinite where
    only one is finite."""
    if one.dtype.kind not in "biuf":
        return 0.0 if np.array_equal(one, other) else 1.0
    a, b = one.astype(np.float64), other.astype(np.float64)
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return math.inf
    return float(np.abs(a[finite] - b[finite]).max(initial=0.0))


def root_mean_square(one: np.ndarray, other: np.ndarray) -> float:
    """Of the differences of two arrays' finite numbers; 0 for text."""
    if one.dtype.kind not in "biuf" or not one.size:
        return 0.0
    away = one.astype(np.float64) - other.astype(np.float64)
    return float(np.sqrt(np.mean(np.square(away[np.isfinite(away)]))))


def tolerance(name: str, array: np.ndarray) -> float:
    """What step B allows in a case that is not chaotic; 0 for whole numbers and text."""
    if array.dtype.kind != "f":
        return 0.0
    finite = array[np.isfinite(array)]
    largest = float(np.abs(finite).max(initial=0.0))
    if array.dtype == np.float64 and name.rsplit("/", 1)[-1] != _NUMBERS:
        return FLOAT64_RELATIVE * largest
    return FLOAT32_UNITS * float(np.spacing(np.float32(largest)))


def _reported_tolerance(value: float) -> float:
    """A reported number comes of float32 results, and may be rounded to some decimals."""
    text = repr(value)
    decimals = len(text.partition(".")[2]) if "e" not in text else 17
    rounded = 10.0**-decimals * (1 + 1e-9) if decimals <= 8 else 0.0
    return max(FLOAT32_UNITS * float(np.spacing(np.float32(abs(value)))), rounded)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def read_renames(path: Path = TABLE) -> Renames:
    """The committed table."""
    table = json.loads(path.read_text())
    return Renames(table["keys"], table["values"], tuple(table["added"]))


def _finite(document: Any) -> Any:
    """Infinite numbers as text: JSON has none."""
    if isinstance(document, dict):
        return {key: _finite(value) for key, value in document.items()}
    if isinstance(document, list):
        return [_finite(value) for value in document]
    return (
        str(document) if isinstance(document, float) and not math.isfinite(document) else document
    )


def table(verdicts: list[Verdict], every: bool) -> str:
    """A line a case: largest difference, what is allowed, verdict."""
    head = f"{'difference':>11s} {'allowed':>11s} {'rms':>11s} {'spread rms':>11s}"
    lines = [f"{'case':48s} {head}  verdict"]
    for verdict in verdicts:
        word = "equal" if verdict.equal else ("within" if verdict.ok else "OUTSIDE")
        if every or not verdict.equal:
            numbers = f"{verdict.difference:11.3e} {verdict.allowed:11.3e}"
            rms = f"{verdict.rms:11.3e} {verdict.spread_rms:11.3e}"
            lines.append(f"{verdict.case:48s} {numbers} {rms}  {word}  {verdict.worst}")
            lines += [f"    {remark}" for remark in verdict.remarks[:5]]
            if len(verdict.remarks) > 5:
                lines.append(f"    … and {len(verdict.remarks) - 5} more")
    equal, fine = sum(v.equal for v in verdicts), sum(v.ok for v in verdicts)
    lines.append(f"{len(verdicts)} cases: {equal} equal to the bit, {fine} within, ")
    lines[-1] += f"{len(verdicts) - fine} outside"
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--step", choices=("A", "B"), required=True)
    parser.add_argument("--spread", type=Path, nargs="*", default=[], help="perturbed old records")
    parser.add_argument("--only", nargs="+", default=["*"], help="patterns of names of cases")
    parser.add_argument("--out", type=Path, help="JSON to write")
    parser.add_argument("--every", action="store_true", help="also print cases that are equal")
    arguments = parser.parse_args()
    old, new = Record.read(arguments.old), Record.read(arguments.new)
    spread = [Record.read(path) for path in arguments.spread]
    for record in (new, *spread):
        if record.about["threads"] != old.about["threads"]:
            raise SystemExit("the records were made with different numbers of threads.")
    verdicts = compare(old, new, arguments.step, read_renames(), spread, arguments.only)
    print(table(verdicts, arguments.every))
    if arguments.out:
        report = {
            "step": arguments.step,
            "old": old.about,
            "new": new.about,
            "spread": [record.about for record in spread],
            "cases": [asdict(verdict) for verdict in verdicts],
        }
        arguments.out.write_text(json.dumps(_finite(report), indent=1, allow_nan=False) + "\n")
    raise SystemExit(0 if all(v.ok for v in verdicts) else 1)


if __name__ == "__main__":
    main()
