"""Progress on stderr: a bar on a terminal, a quiet line now and then elsewhere."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Step = Callable[[int], None]
"""Call with the number of items just finished."""

_QUIET_S = 5.0
"""Seconds between lines where there is no terminal."""
QUIET = "CORPOREAL_QUIET"
"""Variable of the environment, which worker processes inherit: 1 for no progress and no notes."""


def is_quiet() -> bool:
    """Whether nothing but results and errors is to be told."""
    return os.environ.get(QUIET, "") == "1"


@contextmanager
def progress(label: str, total: int, unit: str = "item") -> Iterator[Step]:
    """Show how far a loop is: `with progress("posing", 120) as step: … step(1)`."""
    if is_quiet():
        yield lambda _count: None
        return
    if sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(total=total, desc=label, unit=unit, file=sys.stderr, leave=False) as bar:
            yield lambda count: _advance(bar.update, count)
        return
    lines = _Lines(label, total, unit)
    yield lines.step


def _advance(update: Callable[[int], object], count: int) -> None:
    update(count)


class _Lines:
    """The quiet form: nothing for short work."""

    def __init__(self, label: str, total: int, unit: str) -> None:
        self.label, self.total, self.unit = label, total, unit
        self.count = 0
        self.spoke = time.monotonic()

    def step(self, count: int) -> None:
        self.count += count
        now = time.monotonic()
        if now - self.spoke >= _QUIET_S:
            self.spoke = now
            text = f"{self.label}: {self.count} of {self.total} {self.unit}s"
            print(text, file=sys.stderr, flush=True)
