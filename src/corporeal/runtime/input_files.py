"""Reading files that people give: what the system refuses is named, and no file fills the memory.

A file is hostile until it is parsed. Its size is looked at before its bytes are.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corporeal.errors import FormatError, InputError

MAX_BYTES = 2**31
"""No reader takes a larger file into memory at once, unless it says so."""


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what the system refuses while `path` is read into an `InputError`."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}. Check the path.") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error


def read_input(path: Path, *, at_most: int = MAX_BYTES) -> bytes:
    """All bytes of a file that is no larger than `at_most` bytes."""
    with reading(path):
        size = path.stat().st_size
        if size > at_most:
            raise FormatError(
                f"{path} has {size} bytes; at most {at_most} are read. Give a smaller file."
            )
        return path.read_bytes()
