"""Where jobs run: processes on this machine, this process, or the workers of a Dask cluster."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import corporeal
from corporeal.errors import JobError, MissingDependencyError

_CONNECT_S = 15.0
"""Seconds to wait for a scheduler, and for its first worker."""

_THREAD_SETTINGS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


@dataclass(frozen=True)
class Workplace:
    """An executor, and what the job loop has to know about it."""

    executor: Executor
    """Runs a function on an item; shaped as `concurrent.futures.Executor`."""
    slots: int
    """How many items to keep in its hands at a time."""
    crashes: tuple[type[BaseException], ...]
    """What a future raises if a worker died that held its item, perhaps among others."""


@contextmanager
def local_workplace(workers: int) -> Iterator[Workplace]:
    """Fresh processes that share the machine's cores; ended at once if the block fails."""
    threads = max(1, (os.cpu_count() or 1) // workers)
    others = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_prepare_worker,
        initargs=(threads,),
    )
    try:
        yield Workplace(executor, workers, (BrokenExecutor,))
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    executor.shutdown()


@contextmanager
def own_workplace() -> Iterator[Workplace]:
    """This very process, one item after the other: scripts need no `__main__` guard for it."""
    with ThreadPoolExecutor(1) as executor:
        yield Workplace(executor, 1, ())


@contextmanager
def dask_workplace(address: str, slots: int | None) -> Iterator[Workplace]:
    """The cluster whose scheduler listens at `address`; two items a thread, by default."""
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise MissingDependencyError(
            "a cluster needs the package distributed, which is not installed. "
            'Install it: pip install "corporeal[cluster]".'
        ) from error
    try:
        client = Client(address, timeout=_CONNECT_S)
    except (OSError, ValueError, RuntimeError, TypeError, ImportError) as error:
        raise JobError(
            f"no Dask scheduler answers at {address} ({error or type(error).__name__}). Start one "
            f"with 'dask scheduler', and workers with 'dask worker {address}'."
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=_CONNECT_S)
        except TimeoutError as error:
            raise JobError(
                f"the scheduler at {address} has no workers. Start some: 'dask worker {address}'."
            ) from error
        versions: Any = client.run(_version)
        _require_same_version(address, versions)
        threads: Any = client.nthreads()
        most = slots or max(2 * sum(threads.values()), 2)
        yield Workplace(client.get_executor(pure=False), most, (KilledWorker,))


def _version() -> str:
    return corporeal.__version__


def _require_same_version(address: str, versions: dict[str, str]) -> None:
    others = {v for v in versions.values() if v != corporeal.__version__}
    if others:
        raise JobError(
            f"workers of {address} run corporeal {', '.join(sorted(others))}; expected "
            f"{corporeal.__version__}, as here. Install the same version everywhere."
        )


def _prepare_worker(threads: int) -> None:
    """Leave Ctrl-C to the parent, and the cores to the neighbours."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in _THREAD_SETTINGS:
        os.environ.setdefault(name, str(threads))
