"""A batch goes on past failures and dead processes, and a rerun takes up where it stopped."""

import os
import sys
from pathlib import Path

import pytest
from job_functions import die_once, double, process_id, thread_setting, write_double

from corporeal.errors import InputError, JobError, MissingDependencyError
from corporeal.runtime.jobs import JobReport, default_workers, run_jobs


def numbers(*values: int) -> dict[str, int]:
    return {f"item {value}": value for value in values}


def test_failures_are_reported_and_the_rest_goes_on() -> None:
    report = run_jobs(double, numbers(1, -1, 2, -2, 3), workers=2)
    assert report.done == {"item 1": 2, "item 2": 4, "item 3": 6}
    assert report.failed["item -1"].message == "minus one came; expected another number."
    assert report.failed["item -1"].detail == ""
    assert report.failed["item -2"].message == "ZeroDivisionError: a bug"
    assert "job_functions" in report.failed["item -2"].detail
    error = report.error()
    assert isinstance(error, JobError)
    assert str(error).startswith("2 of 5 items failed (item -1: minus one came")
    assert error.exit_code == 7


def test_a_dead_process_costs_its_own_item_only() -> None:
    report = run_jobs(double, numbers(1, 2, -3, 4, 5, 6), workers=2)
    assert report.done == {f"item {n}": 2 * n for n in (1, 2, 4, 5, 6)}
    assert list(report.failed) == ["item -3"]
    assert "killed" in report.failed["item -3"].message


def test_a_process_that_dies_by_chance_is_given_a_second_try(tmp_path: Path) -> None:
    items = {f"{n}": (n, str(tmp_path / f"{n}")) for n in (1, 2)}
    report = run_jobs(die_once, items, workers=1)
    assert report.done == {"1": 2, "2": 4}


def test_rerun_resumes(tmp_path: Path) -> None:
    items = {f"{n}": (n, str(tmp_path / f"{n}.txt")) for n in (1, -1, 2)}

    def is_done(item: tuple[int, str]) -> bool:
        return Path(item[1]).exists()

    first = run_jobs(write_double, items, workers=1, is_done=is_done)
    assert (sorted(first.done), list(first.failed)) == (["1", "2"], ["-1"])
    items["-1"] = (5, str(tmp_path / "-1.txt"))
    second = run_jobs(write_double, items, workers=1, is_done=is_done)
    assert second.done == {"-1": 10}
    assert second.skipped == ["1", "2"]
    third = run_jobs(write_double, items, workers=1, is_done=is_done)
    assert (third.done, len(third.skipped)) == ({}, 3)
    assert third.error() is None


def test_work_happens_in_other_processes() -> None:
    report = run_jobs(process_id, numbers(*range(6)), workers=2)
    assert os.getpid() not in report.done.values()


def test_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    report = run_jobs(thread_setting, numbers(1, 2), workers=2)
    assert set(report.done.values()) == {"4"}


def test_no_items_need_no_processes() -> None:
    assert run_jobs(double, {}) == JobReport()


def test_bad_settings() -> None:
    assert default_workers() >= 1
    with pytest.raises(InputError, match="at least 1"):
        run_jobs(double, numbers(1), workers=0)


def test_missing_cluster_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "corporeal\[cluster\]"'):
        run_jobs(double, numbers(1), scheduler="tcp://127.0.0.1:1")
