"""Reading files that people give: what the system refuses is named, and no file fills the memory.

A file is hostile until it is parsed. Every reader opens its files here: the file is opened without
waiting for anyone (a FIFO has no writer, a device no end), the open file is asked what it is, and
only a regular file of a size within the reader's limit is read, and never more of it than that.
The rule for all readers: a malformed file costs at most 5 s and 1 GB, and ends in a named error.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from corporeal.errors import FormatError, InputError

MAX_BYTES = 512 * 1024**2
"""No reader takes a larger file into memory at once, unless it says so."""
MAX_TEXT_BYTES = 64 * 1024**2
"""No reader parses a longer text: about seven hundred thousand vertices."""

_PIECE = 1024**2
"""Bytes that are read at once of a file whose size does not say how long it is."""
_NAME_SHOWN = 200
"""Characters of a path that a message repeats."""
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what the system refuses while `path` is read into an `InputError`."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"there is no file {named(path)}. Check the path.") from error
    except OSError as error:
        raise InputError(f"cannot read {named(path)}: {error.strerror or error}.") from error


def named(path: str | Path) -> str:
    """A path as a message repeats it: whole, or its two ends if it is very long."""
    text = str(path)
    if len(text) <= _NAME_SHOWN:
        return text
    return f"{text[: _NAME_SHOWN // 2]}…{text[-_NAME_SHOWN // 2 :]}"


def shortened(text: str) -> str:
    """A message whose very long names are told by their two ends."""
    return re.sub(r"\S{300,}", lambda found: named(found[0]), text)


def resolved(path: str | Path) -> Path:
    """The absolute path; links that lead to each other, and null bytes, are refused by name."""
    try:
        return Path(path).resolve()
    except (RuntimeError, ValueError, OSError) as error:  # before 3.13 a loop is a RuntimeError
        raise InputError(f"cannot follow {named(path)}: {error}. Check the path.") from error


@contextmanager
def open_input(path: str | Path, *, at_most: int | None = None) -> Iterator[BufferedReader]:
    """A regular file, open for reading; a pipe, a device, a folder or a larger file is refused."""
    path = Path(path)
    with reading(path):
        handle = _handle(path)
    with os.fdopen(handle, "rb") as file:
        size = os.fstat(handle).st_size
        if at_most is not None and size > at_most:
            raise FormatError(
                f"{named(path)} has {size} bytes; at most {at_most} are read. Give a smaller file."
            )
        yield file


def read_input(path: str | Path, *, at_most: int = MAX_BYTES) -> bytes:
    """All bytes of a file that is no larger than `at_most` bytes."""
    with open_input(path, at_most=at_most) as file, reading(Path(path)):
        # asked for at_most bytes, a read would take room for them all before it takes the first
        content = file.read(os.fstat(file.fileno()).st_size + 1)
        while len(content) <= at_most and (more := file.read(_PIECE)):
            content += more  # it grew, or its size was a lie, as under /proc
    if len(content) > at_most:
        raise FormatError(
            f"{named(path)} has more than {at_most} bytes, the most that are read. Give a smaller "
            f"file."
        )
    return content


def require_input(path: str | Path) -> int:
    """Bytes of a regular file that can be read; for libraries that open files by themselves."""
    with open_input(path) as file:
        return os.fstat(file.fileno()).st_size


def _handle(path: Path) -> int:
    """Open without blocking, and make sure of what was opened: the name may change its meaning."""
    waiting = getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | waiting)
    except ValueError as error:  # a null byte, or a name that the file system cannot spell
        raise InputError(f"cannot read {named(path)!r}: no file can have that name.") from error
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        kind = next((word for is_kind, word in _KINDS if is_kind(mode)), "no file")
        raise InputError(f"cannot read {named(path)}: it is {kind}. Give a regular file.")
    return handle
