"""Run a compiled kernel over slices of a batch, on all cores.

Kernels release the interpreter lock, so plain threads carry them. Unlike a kernel that is itself
parallel, this costs no extra compilation, may be called from several threads at once, and survives
a fork.
"""

import os
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from threading import Lock, Thread

Work = Callable[[int, int], None]
"""Does the items `start` … `stop` − 1."""


def thread_count() -> int:
    """Threads to use: `NUMBA_NUM_THREADS` where set, else the cores this process may run on."""
    asked = os.environ.get("NUMBA_NUM_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Helper(Thread):
    """A thread that waits for one slice after the other.

    Two locks hand a slice over in some 8 µs, where an executor's futures took 17: a frame of flesh
    does that thirty times.
    """

    def __init__(self) -> None:
        super().__init__(name="corporeal", daemon=True)
        self._begun, self._ended = Lock(), Lock()
        self._begun.acquire()
        self._ended.acquire()
        self._task: tuple[Work, int, int] | None = None
        self._error: BaseException | None = None
        self.start()

    def begin(self, work: Work, start: int, stop: int) -> None:
        """Let the thread call `work(start, stop)`."""
        self._task = work, start, stop
        self._begun.release()

    def finish(self) -> BaseException | None:
        """Wait until it has; gives back what it raised."""
        self._ended.acquire()
        error, self._error = self._error, None
        return error

    def run(self) -> None:
        """Do what comes, for ever."""
        while True:
            self._begun.acquire()
            assert self._task is not None
            (work, start, stop), self._task = self._task, None
            try:
                work(start, stop)
            except BaseException as error:  # noqa: BLE001, it is raised where the slices were asked for
                self._error = error
            del work
            self._ended.release()


@lru_cache(maxsize=1)
def _idle(process_id: int) -> deque[_Helper]:
    """The helpers of this process that wait; a forked child makes its own."""
    return deque()


def over_slices(work: Work, count: int, smallest: int = 1) -> None:
    """Call `work(start, stop)` so that every index below `count` is covered exactly once.

    Slices hold at least `smallest` items; with too few for two slices, all runs in this thread.
    What a slice raises is raised here, when all have ended.
    """
    most = count // smallest
    slices = min(thread_count(), most) if most > 1 else 1
    if slices == 1:
        work(0, count)
        return
    edges = [count * k // slices for k in range(slices + 1)]
    idle, busy, errors = _idle(os.getpid()), [], []
    try:
        for start, stop in pairwise(edges[1:]):
            busy.append(_taken(idle))
            busy[-1].begin(work, start, stop)
        work(edges[0], edges[1])
    finally:
        errors = [helper.finish() for helper in busy]
        idle.extend(busy)
    for error in errors:
        if error is not None:
            raise error


def _taken(idle: deque[_Helper]) -> _Helper:
    """A helper that waits, or a new one: callers in several threads never wait for each other."""
    try:
        return idle.pop()
    except IndexError:
        return _Helper()
