"""The harness that compares two commits sees a unit in the last place, a renamed key, a lost file.

Records are made here from known arrays, so that what must be found is known. One case of the list
is really run, against the package under test.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks" / "behaviour"
POINTS = np.linspace(-1.9, 1.7, 300, dtype=np.float32).reshape(10, 10, 3)
FRAMES = np.linspace(-0.5, 3.0, 48).reshape(4, 12)


@pytest.fixture(scope="module")
def harness() -> Iterator[tuple[ModuleType, ModuleType]]:
    """The modules `compare` and `record`, which lie beside each other and not in a package."""
    names = ("cases", "inputs", "outputs", "record", "compare")
    sys.path.insert(0, str(FOLDER))
    import compare
    import record

    yield compare, record
    sys.path.remove(str(FOLDER))
    for name in names:
        del sys.modules[name]


def case(
    record: ModuleType, blobs: dict, arrays: dict, values: dict, chaotic: bool = False
) -> dict[str, Any]:
    return {
        "exit_code": 0,
        "chaotic": chaotic,
        "spread_of": "case",
        "seconds": 1.0,
        "arrays": {name: record.kept(array, blobs) for name, array in arrays.items()},
        "values": values,
    }


def found(
    harness: tuple[ModuleType, ModuleType],
    folder: Path,
    new: dict,
    step: str,
    told: dict | None = None,
    spread: dict | None = None,
    **renames: Any,
) -> Any:
    """The verdict on `new` beside the known arrays; `spread` are arrays of a perturbed run."""
    compare, record = harness
    old = {"a.npz/vertices": POINTS, "a.npz/joints": FRAMES}
    chaotic = spread is not None
    sets = {
        "old": (old, {"report/energy": 2.5}),
        "new": (old | new, told or {"report/energy": 2.5}),
    }
    if spread is not None:
        sets["spread"] = (old | spread, {"report/energy": 2.5})
    read = {}
    for name, (arrays, values) in sets.items():
        blobs: dict = {}
        index = {
            "about": {"threads": 1},
            "cases": {"case": case(record, blobs, arrays, values, chaotic)},
        }
        record.write_record(folder / f"{name}.npz", index, blobs)
        read[name] = compare.Record.read(folder / f"{name}.npz")
    perturbed = [read["spread"]] if chaotic else []
    table = compare.Renames(**renames)
    (verdict,) = compare.compare(read["old"], read["new"], step, table, perturbed)
    return verdict


def test_equal_records_are_equal(harness: tuple, tmp_path: Path) -> None:
    verdict = found(harness, tmp_path, {}, "A")
    assert (verdict.ok, verdict.equal, verdict.remarks) == (True, True, [])


def test_a_unit_in_the_last_place_is_seen(harness: tuple, tmp_path: Path) -> None:
    """Step A refuses one bit of one number; step B allows four units of the largest coordinate,
    which for numbers from 1 to 2 are 4 · 2⁻²³, and refuses five."""
    changed = POINTS.copy()
    changed[3, 4, 1] = np.nextafter(changed[3, 4, 1], np.float32(9))
    verdict = found(harness, tmp_path, {"a.npz/vertices": changed}, "A")
    assert not verdict.ok
    assert verdict.worst == "array a.npz/vertices"
    unit = 2.0**-23
    for units, fine in ((4, True), (5, False)):
        changed = POINTS.copy()
        changed[0, 0, 0] += np.float32(units * unit)
        verdict = found(harness, tmp_path, {"a.npz/vertices": changed}, "B")
        assert (verdict.ok, verdict.equal) == (fine, False)
        assert verdict.difference == pytest.approx(units * unit, rel=1e-6)
        assert verdict.allowed == pytest.approx(4 * unit, rel=1e-12)


def test_doubles_are_held_to_a_relative_bound(harness: tuple, tmp_path: Path) -> None:
    """1e-12 of the largest, which is 3."""
    for away, fine in ((2.9e-12, True), (3.2e-12, False)):
        changed = FRAMES.copy()
        changed[1, 2] += away
        assert found(harness, tmp_path, {"a.npz/joints": changed}, "B").ok is fine


def test_a_chaotic_case_is_held_to_its_spread(harness: tuple, tmp_path: Path) -> None:
    """A perturbed run was 1 mm away: so may the new one be, and no further; in step A nothing."""
    spread = {"a.npz/vertices": POINTS + np.float32(1e-3)}
    near = {"a.npz/vertices": POINTS - np.float32(0.9e-3)}
    far = {"a.npz/vertices": POINTS - np.float32(1.2e-3)}
    assert found(harness, tmp_path, near, "B", spread=spread).ok
    assert not found(harness, tmp_path, far, "B", spread=spread).ok
    assert not found(harness, tmp_path, near, "B").ok
    assert not found(harness, tmp_path, near, "A", spread=spread).ok


def test_shapes_types_and_numbers_that_are_not_finite(harness: tuple, tmp_path: Path) -> None:
    broken = POINTS.copy()
    broken[0, 0, 0] = np.nan
    for array in (broken, POINTS[:-1], POINTS.astype(np.float64)):
        assert not found(harness, tmp_path, {"a.npz/vertices": array}, "B").ok


def test_rows_that_are_not_kept_still_count(harness: tuple, tmp_path: Path) -> None:
    """Of an array over 0.8 MB some rows are kept; step A sees any other by the hash."""
    large = np.zeros((100_000, 3))
    changed = large.copy()
    changed[1, 0] = 1e-300
    compare, record = harness
    read = []
    for name, array in (("old", large), ("new", changed)):
        blobs: dict = {}
        cases = {"case": case(record, blobs, {"x": array}, {})}
        record.write_record(tmp_path / f"{name}.npz", {"about": {}, "cases": cases}, blobs)
        read.append(compare.Record.read(tmp_path / f"{name}.npz"))
        assert sum(blob.nbytes for blob in blobs.values()) <= 800_000
    (verdict,) = compare.compare(*read, "A", compare.Renames(), [])
    assert not verdict.ok


def test_report_keys_go_through_the_table(harness: tuple, tmp_path: Path) -> None:
    """A key that is gone or new is a fault, unless the table has it."""
    told = {"report/strain_energy": 2.5}
    assert not found(harness, tmp_path, {}, "A", told).ok
    assert found(harness, tmp_path, {}, "A", told, keys={"energy": "strain_energy"}).ok
    more = {"report/energy": 2.5, "report/rounds": 3}
    assert not found(harness, tmp_path, {}, "A", more).ok
    assert found(harness, tmp_path, {}, "A", more, added=("rounds",)).ok
    assert not found(harness, tmp_path, {}, "A", {"report/energy": 2.6}).ok
    assert not found(harness, tmp_path, {}, "B", {"report/energy": 2.7}).ok


def test_the_committed_table_is_well_formed(harness: tuple) -> None:
    compare, _ = harness
    table = json.loads((FOLDER / "rename_table.json").read_text())
    assert set(table) == {"arguments", "keys", "values", "added"}
    compare.read_renames()


def test_the_list_is_the_one_that_was_promised(harness: tuple) -> None:
    """Six deformers × three bodies × four motions, once each, and no name twice."""
    import cases

    names = [case.name for case in cases.all_cases()]
    assert len(names) == len(set(names))
    for deformer in ("lbs", "dqs", "smpl", "smpl-sparse", "projective", "layered"):
        assert sum(name.startswith(f"animate/{deformer}/") for name in names) >= 12


def test_a_case_is_recorded_and_equals_itself(tmp_path: Path) -> None:
    """Two real recordings of a body that is made from sliders, in processes of their own."""
    (tmp_path / "inputs").mkdir()
    source = FOLDER.parents[1] / "src"
    for name in ("one", "two"):
        flags = ["--source", source, "--inputs", tmp_path / "inputs", "--only", "body/lean"]
        command = [sys.executable, FOLDER / "record.py", *flags, "--out", tmp_path / f"{name}.npz"]
        subprocess.run(command, check=True, capture_output=True)
    command = [sys.executable, FOLDER / "compare.py", tmp_path / "one.npz", tmp_path / "two.npz"]
    done = subprocess.run(
        [*command, "--step", "A", "--out", tmp_path / "c.json"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "1 cases: 1 equal to the bit, 1 within, 0 outside" in done.stdout
    assert json.loads((tmp_path / "c.json").read_text())["cases"][0]["case"] == "body/lean"
