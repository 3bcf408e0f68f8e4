"""A process of its own that reads one C3D file: `python -m corporeal.formats.c3d_process FILE`.

The package's reader is C++ and trusts what a file says of itself: one damaged byte sends it round
for ever, or past its memory. So it reads where time and memory are limited and nothing else can be
lost, and writes labels, places, rate and unit as `.npz` to standard output.
"""

import importlib
import io
import sys
from pathlib import Path

import numpy as np

MOST_MEMORY = 10**9
"""Bytes of address space above what the imports take."""


def main(path: str) -> None:
    """Read and write."""
    ezc3d = importlib.import_module("ezc3d")
    _limit_memory()
    content = ezc3d.c3d(path)
    table = content["parameters"]["POINT"]
    made = io.BytesIO()
    np.savez(
        made,
        points=np.asarray(content["data"]["points"], np.float64)[:3],
        labels=np.array([str(label) for label in table["LABELS"]["value"]], np.str_),
        unit=str(table["UNITS"]["value"][0]) if "UNITS" in table else "mm",
        rate=float(np.asarray(table["RATE"]["value"]).reshape(-1)[0]),
    )
    sys.stdout.buffer.write(made.getvalue())


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    try:
        pages = Path("/proc/self/statm").read_text().split()[0]
        used = int(pages) * resource.getpagesize()
    except OSError:  # not on macOS
        used = MOST_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_MEMORY, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main(sys.argv[1])
