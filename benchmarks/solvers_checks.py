"""What the benchmarks of solvers share: what a caller hands to its solver, and doubts."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


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
