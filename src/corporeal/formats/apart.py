"""Reading in a process that may be lost: `python -P -m corporeal.formats.apart READER FILE …`.

Libraries in C++ trust what a file says of itself: one damaged byte sends them round for ever, past
their memory, or ends the program with a segmentation fault. So C3D and USD are read where time and
memory are limited and nothing else can be lost. The reader is a function `module:function` that
takes a path and gives back named arrays; they come as `.npz` through standard output. However the
process ends, the one that asked for it gets arrays or a `FormatError` with the file's name.

Time is processor time, so that a busy machine refuses nothing; a process that waits for ever is
ended by the clock. Where the system knows no such limits (Windows), the clock alone ends it.
"""

import io
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.errors import CorporealError, FormatError

MOST_MEMORY = 10**9
"""Bytes of address space above what the imports take, for a small file."""
MEMORY_A_BYTE = 8
"""Bytes more for every byte of the file: packed numbers become float64, twice."""
SECONDS = 3.0
"""Processor time for a small file."""
BYTES_A_SECOND = 10e6
"""Bytes of the file for which there is one second more."""
PATIENCE = 15.0
"""How many times the processor time the clock allows, imports and other work included."""
_REFUSED = 65
"""Exit status of a process whose reader refused the file by a named error."""
_LATE = {getattr(signal, name, None) for name in ("SIGXCPU", "SIGKILL")}
"""Signals that end a process for the time, or the memory, that it takes."""


def read_apart(path: Path, kind: str, reader: str) -> dict[str, NumpyArray]:
    """Named arrays that `reader` (`module:function`) finds in a file of `kind` ("USD")."""
    size = path.stat().st_size
    memory, seconds = MOST_MEMORY + MEMORY_A_BYTE * size, SECONDS + size / BYTES_A_SECOND
    # -P: the folder that the user stands in is no place to import from
    command = [sys.executable, "-P", "-m", __name__, reader, str(path), f"{memory}", f"{seconds}"]
    places = os.pathsep.join(place for place in sys.path if place)
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE * seconds,
            env={**os.environ, "PYTHONPATH": places},
        )
    except subprocess.TimeoutExpired as error:
        raise FormatError(_endless(path, kind)) from error
    if done.returncode == _REFUSED:
        raise FormatError(done.stdout.decode("utf-8", "replace"))
    if -done.returncode in _LATE:
        raise FormatError(_endless(path, kind))
    if done.returncode:
        raise FormatError(
            f"{path} cannot be read as {kind}: {_how(done)}. It is damaged or another kind of "
            f"file; export it again."
        )
    with np.load(io.BytesIO(done.stdout), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _endless(path: Path, kind: str) -> str:
    return (
        f"{path} cannot be read as {kind}: its reader found no end of it. The file is damaged; "
        f"export it again."
    )


def _how(done: subprocess.CompletedProcess[bytes]) -> str:
    """In a few words, how a process ended that should not have."""
    if done.returncode < 0:
        return f"it crashed its reader ({signal.Signals(-done.returncode).name})"
    last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["its reader died"]
    return last[0][:300]


def main(reader: str, path: str, memory: int, seconds: float) -> int:
    """Read one file within the limits and write what it holds; gives back the exit status."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no result
    module, _, name = reader.partition(":")
    try:
        function = getattr(import_module(module), name)
        limit(memory, seconds)
        arrays = function(Path(path))
    except CorporealError as error:
        results.write(str(error).encode("utf-8", "replace"))
        results.close()
        return _REFUSED
    content = io.BytesIO()
    np.savez(content, **arrays)
    results.write(content.getbuffer())
    results.close()
    return 0


def limit(memory: int, seconds: float) -> None:
    """Allow this process so much memory (bytes) and processor time above what it has used."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:  # not on macOS
        return
    room = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (room, resource.RLIM_INFINITY))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
