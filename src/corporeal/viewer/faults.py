"""Faults: errors that nobody foresaw. They are written to the terminal and told on the page."""

import sys
import traceback

FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    ImportError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a mistake in the studio may raise: all that Python knows but the wish to end."""
GONE = (BrokenPipeError, ConnectionResetError, EOFError)
"""What it means that the page, or the server, is not there any more."""


def told(error: BaseException, doing: str) -> str:
    """Write a fault with its traceback to the terminal; gives back words for the page."""
    print(f"studio: a fault while {doing}", file=sys.stderr)
    traceback.print_exception(error)
    words = " ".join(str(error).split())[:200]
    return (
        f"{doing}: {type(error).__name__}{f' ({words})' if words else ''}. This is a fault of the "
        f"studio; the terminal tells more."
    )
