"""The record that orders the test files, and the quick ones among them."""

import re
from pathlib import Path

import durations
import pytest

TESTS = Path(__file__).parent
PACKAGES = sorted(
    path.parent.name for path in (TESTS.parent / "src" / "corporeal").glob("*/__init__.py")
)


@pytest.mark.parametrize("package", PACKAGES)
def test_quick_tests_reach_every_package(package: str):
    seconds = durations.recorded()
    quick = {name for name in seconds if durations.is_quick(name, seconds)}
    reached = [
        path.name
        for path in TESTS.glob("test_*.py")
        if re.search(rf"corporeal\.{package}\b", text := path.read_text(encoding="utf-8"))
        and (path.name in quick or "mark.quick" in text)
    ]
    assert reached, f"no quick test imports corporeal.{package}; mark one that is (durations.py)"


def test_a_report_becomes_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Cases of a file are summed, classes too; files that are gone are forgotten."""
    monkeypatch.setattr(durations, "RECORD", tmp_path / "durations.json")
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).touch()
    (tmp_path / "durations.json").write_text('{"test_b.py": 3.0, "test_gone.py": 9.0}')
    (tmp_path / "report.xml").write_text(
        "<testsuites><testsuite>"
        '<testcase classname="tests.test_a" name="test_x" time="1.25"/>'
        '<testcase classname="tests.test_a.TestIt" name="test_y" time="0.5"/>'
        "</testsuite></testsuites>"
    )
    durations.record(tmp_path / "report.xml")
    assert durations.recorded() == {"test_a.py": 1.8, "test_b.py": 3.0}
    assert not durations.is_quick("test_a.py", {"test_a.py": 99.0})
    assert durations.is_quick("test_new.py", {})


def test_the_longest_file_runs_first_beside_one_that_compiles_no_kernels():
    """A file that was never recorded comes last, with those that take no time."""
    beside = durations.WITHOUT_KERNELS
    seconds = {"test_a.py": 5.0, "test_b.py": 90.0, "test_c.py": 60.0, beside: 40.0}
    names = ["test_new.py", *seconds]
    ordered = sorted(names, key=lambda name: durations.place(name, seconds))
    assert ordered == ["test_b.py", beside, "test_c.py", "test_a.py", "test_new.py"]
    assert (TESTS / beside).is_file()
