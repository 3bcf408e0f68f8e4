"""Work for the job tests; worker processes import it by name."""

import os
import signal
import time
from pathlib import Path

from corporeal.errors import InputError


def double(number: int) -> int:
    """2 × number; refuses −1, has a bug at −2, dies at −3."""
    if number == -1:
        raise InputError("minus one came; expected another number.")
    if number == -2:
        raise ZeroDivisionError("a bug")
    if number == -3:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def write_double(item: tuple[int, str]) -> int:
    """Leave the double in a file."""
    number, path = item
    Path(path).write_text(str(double(number)))
    return 2 * number


def die_once(item: tuple[int, str]) -> int:
    """End the process the first time, work the second."""
    number, marker = item
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def process_id(_: int) -> int:
    time.sleep(0.05)
    return os.getpid()


def thread_setting(_: int) -> str | None:
    return os.environ.get("NUMBA_NUM_THREADS")
