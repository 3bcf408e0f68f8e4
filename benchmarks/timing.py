"""How long a call takes: what benchmarks share."""

import time
from collections.abc import Callable

import numpy as np

ROUNDS = 60


def seconds_of(call: Callable[[], object], rounds: int) -> list[float]:
    """Seconds of every round of a call, after one that is not counted."""
    call()
    seconds = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return seconds


def timed(call: Callable[[], object], rounds: int = ROUNDS) -> dict[str, float]:
    """Smallest and median milliseconds of a call."""
    times = 1e3 * np.array(seconds_of(call, rounds))
    return {"least": round(float(times.min()), 4), "median": round(float(np.median(times)), 4)}
