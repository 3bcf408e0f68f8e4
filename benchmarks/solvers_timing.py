"""What the benchmarks of solvers share: times, what a caller hands to its solver, and doubts."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np


def timed(call: Callable[[], object], rounds: int) -> dict[str, float]:
    """Smallest and median milliseconds of a call."""
    call()
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - started))
    return {"least": round(min(times), 4), "median": round(float(np.median(times)), 4)}


@contextmanager
def caught(module: ModuleType, name: str) -> Iterator[list[tuple[tuple, dict]]]:
    """What `module` hands to the solver that it calls `name`."""
    calls: list[tuple[tuple, dict]] = []
    solver = getattr(module, name)

    def called(*arguments: Any, **named: Any) -> Any:
        calls.append((arguments, named))
        return solver(*arguments, **named)

    setattr(module, name, called)
    try:
        yield calls
    finally:
        setattr(module, name, solver)


def require(name: str, off: float, most: float) -> float:
    """A time for another answer would be worth nothing."""
    if not off <= most:
        raise SystemExit(f"{name} differs by {off}; expected at most {most}. Nothing was timed.")
    return off
