"""The one seam for batches of independent work.

`run_jobs` maps a function over items through a `concurrent.futures` executor: local processes by
default, a Dask cluster by its address. A failed item is reported and the rest goes on; items that
are already done are left alone, so that a rerun resumes. On a cluster, paths must mean the same
file on every machine.
"""

import os
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from corporeal.errors import CorporealError, InputError, JobError
from corporeal.runtime.executors import Workplace, dask_workplace, local_workplace, own_workplace
from corporeal.runtime.progress import Step, progress

Item = TypeVar("Item")
Result = TypeVar("Result")

_CRASHED = "its process was ended from outside: killed, out of memory, or crashed"


@dataclass(frozen=True)
class Failure:
    """Why an item has no result."""

    message: str
    """One sentence."""
    detail: str = ""
    """Traceback, where the failure was not one the package refuses by name."""


@dataclass
class JobReport(Generic[Result]):
    """What became of every item."""

    done: dict[str, Result] = field(default_factory=dict)
    """Results by the key of their item."""
    skipped: list[str] = field(default_factory=list)
    """Keys of items that were already done."""
    failed: dict[str, Failure] = field(default_factory=dict)
    """What went wrong, by the key of the item."""

    def error(self) -> JobError | None:
        """What to raise or tell if any item failed."""
        if not self.failed:
            return None
        total = len(self.done) + len(self.skipped) + len(self.failed)
        reasons = "; ".join(f"{key}: {failure.message}" for key, failure in self.failed.items())
        return JobError(
            f"{len(self.failed)} of {total} items failed ({reasons}). The others are done; mend "
            f"the failed ones and run again: it takes up where it stopped."
        )


def default_workers() -> int:
    """How many processes this process may keep busy."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_jobs(
    function: Callable[[Item], Result],
    items: Mapping[str, Item],
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    in_process: bool = False,
    is_done: Callable[[Item], bool] | None = None,
    label: str = "jobs",
) -> JobReport[Result]:
    """Run `function` on every item, by key; the report keeps the order of `items`.

    The function must be importable by name, items and results picklable, unless they stay
    `in_process`: there one item is worked on after the other, whatever `workers` says.
    """
    if workers is not None and workers < 1:
        raise InputError(f"asked for {workers} worker processes; expected at least 1.")
    report: JobReport[Result] = JobReport()
    pending: deque[tuple[str, Item]] = deque()
    for key, item in items.items():
        if is_done is not None and is_done(item):
            report.skipped.append(key)
        else:
            pending.append((key, item))
    if not pending:
        return report

    def workplace(alone: bool) -> AbstractContextManager[Workplace]:
        if in_process and scheduler is None:
            return own_workplace()
        if scheduler is not None:
            return dask_workplace(scheduler, 1 if alone else None)
        return local_workplace(1 if alone else min(workers or default_workers(), len(items)))

    with progress(label, len(pending)) as step:
        try:
            _work_off(function, pending, workplace, report, step)
        except CancelledError as error:
            raise JobError(
                f"the scheduler at {scheduler} was lost with {len(items) - len(report.done)} jobs "
                f"to do. Start it again and give the same command again: what is done is kept."
            ) from error
    report.done = {key: report.done[key] for key in items if key in report.done}
    report.failed = {key: report.failed[key] for key in items if key in report.failed}
    return report


def _work_off(
    function: Callable[[Item], Result],
    pending: deque[tuple[str, Item]],
    workplace: Callable[[bool], AbstractContextManager[Workplace]],
    report: JobReport[Result],
    step: Step,
) -> None:
    """A dead worker takes its neighbours' items along, so suspects are repeated one at a time."""
    while pending:
        with workplace(False) as place:
            suspects = deque(_drain(place, function, pending, report, step))
        while suspects:
            with workplace(True) as place:
                for key, _ in _drain(place, function, suspects, report, step):
                    report.failed[key] = Failure(_CRASHED)
                    step(1)


def _drain(
    place: Workplace,
    function: Callable[[Item], Result],
    pending: deque[tuple[str, Item]],
    report: JobReport[Result],
    step: Step,
) -> list[tuple[str, Item]]:
    """Work off `pending`, so many at a time; stop at a crash and give back who was under way."""
    running: dict[Future[Result], tuple[str, Item]] = {}
    suspects: list[tuple[str, Item]] = []
    while running or (pending and not suspects):
        while pending and len(running) < place.slots and not suspects:
            try:
                running[place.executor.submit(function, pending[0][1])] = pending[0]
            except BrokenExecutor:
                break
            pending.popleft()
        if not running:  # it broke before it took anything: the next item is tried alone
            return [pending.popleft()]
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            if future.cancelled():  # nobody here cancels: its scheduler is gone
                raise CancelledError
            key, item = running.pop(future)
            if isinstance(future.exception(), place.crashes):
                suspects.append((key, item))
                continue
            _record(key, future, report)
            step(1)
    return suspects


def _record(key: str, future: Future[Any], report: JobReport[Any]) -> None:
    error = future.exception()
    if error is None:
        report.done[key] = future.result()
    elif isinstance(error, CorporealError):
        report.failed[key] = Failure(str(error))
    else:
        detail = "".join(traceback.format_exception(error))
        report.failed[key] = Failure(f"{type(error).__name__}: {error}", detail)
