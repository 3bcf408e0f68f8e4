"""Run a compiled kernel over slices of a batch, on all cores.

Kernels release the interpreter lock, so plain threads carry them. Unlike a kernel that is itself
parallel, this costs no extra compilation, may be called from several threads at once, and survives
a fork.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise


def thread_count() -> int:
    """Threads to use: `NUMBA_NUM_THREADS` where set, else the cores this process may run on."""
    asked = os.environ.get("NUMBA_NUM_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1)
def _pool(process_id: int, size: int) -> ThreadPoolExecutor:
    """The helper threads of this process; a forked child makes its own."""
    return ThreadPoolExecutor(size, thread_name_prefix="corporeal")


def over_slices(work: Callable[[int, int], None], count: int, smallest: int = 1) -> None:
    """Call `work(start, stop)` so that every index below `count` is covered exactly once.

    Slices hold at least `smallest` items; with too few for two slices, all runs in this thread.
    """
    most = count // smallest
    slices = min(thread_count(), most) if most > 1 else 1
    if slices == 1:
        work(0, count)
        return
    edges = [count * k // slices for k in range(slices + 1)]
    pool = _pool(os.getpid(), slices - 1)
    waiting = [pool.submit(work, a, b) for a, b in pairwise(edges[1:])]
    work(edges[0], edges[1])
    for future in waiting:
        future.result()
