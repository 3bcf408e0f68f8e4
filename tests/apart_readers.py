"""Readers for `formats.apart` that end in every way a library's reader can."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.errors import InputError


def crash(path: Path) -> dict[str, NumpyArray]:
    """Die as by a wild pointer."""
    os.kill(os.getpid(), signal.SIGSEGV)
    return {}


def spin(path: Path) -> dict[str, NumpyArray]:
    """Never come back, at work."""
    while True:
        pass


def sleep(path: Path) -> dict[str, NumpyArray]:
    """Never come back, idle."""
    time.sleep(600)
    return {}


def hoard(path: Path) -> dict[str, NumpyArray]:
    """Ask for more memory than there is for a small file."""
    return {"held": np.ones(3 * 10**9, np.uint8)}


def refuse(path: Path) -> dict[str, NumpyArray]:
    """Refuse by name, in words beyond ASCII."""
    raise InputError(f"{path} hält nichts.")


def chat(path: Path) -> dict[str, NumpyArray]:
    """Print where the result goes, from Python and below it, and give back what was read."""
    print("library 1.0", flush=True)
    os.write(1, b"warning: something\n")
    return {"content": np.frombuffer(path.read_bytes(), np.uint8), "name": np.array("µ")}
