"""The same batches on a Dask cluster, with workers that are killed under way."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from job_functions import die_once, double

from corporeal.errors import JobError
from corporeal.runtime import executors
from corporeal.runtime.jobs import run_jobs

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    import dask

    settings = {"distributed.scheduler.allowed-failures": 1}
    folder = str(tmp_path_factory.mktemp("dask"))
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=folder,
            silence_logs=50,
            env={"PYTHONPATH": str(Path(__file__).parent)},
        ) as cluster,
    ):
        yield cluster.scheduler_address


def test_failures_are_reported_and_the_rest_goes_on(scheduler: str) -> None:
    items = {f"{n}": n for n in (1, -1, 2, -2, 3)}
    report = run_jobs(double, items, scheduler=scheduler)
    assert report.done == {"1": 2, "2": 4, "3": 6}
    assert report.failed["-1"].message == "minus one came; expected another number."
    assert report.failed["-2"].message == "ZeroDivisionError: a bug"


def test_a_killed_worker_costs_nothing_if_the_item_is_sound(scheduler: str, tmp_path: Path) -> None:
    items = {f"{n}": (n, str(tmp_path / f"{n}")) for n in (1, 2)}
    (tmp_path / "2").touch()
    report = run_jobs(die_once, items, scheduler=scheduler)
    assert report.done == {"1": 2, "2": 4}


def test_an_item_that_kills_its_workers_fails_alone(scheduler: str) -> None:
    report = run_jobs(double, {"1": 1, "bad": -3, "2": 2}, scheduler=scheduler)
    assert report.done == {"1": 2, "2": 4}
    assert list(report.failed) == ["bad"]


def test_no_scheduler_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_CONNECT_S", 1.0)
    with pytest.raises(JobError, match="no Dask scheduler answers at tcp://127"):
        run_jobs(double, {"1": 1}, scheduler="tcp://127.0.0.1:9")


def test_another_version_on_the_workers(scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corporeal.__version__", "9.9")
    with pytest.raises(JobError, match="Install the same version everywhere"):
        run_jobs(double, {"1": 1}, scheduler=scheduler)
