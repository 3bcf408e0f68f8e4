"""Names that must differ, and names that were nearly spelt."""

from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TypeVar

Name = TypeVar("Name", str, tuple[str, str])


def repeated(names: Iterable[Name]) -> list[Name]:
    """Those that stand more than once, in order; a million names take a second."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def meant(name: str, known: Iterable[str]) -> str:
    """A question such as " Did you mean 'dqs'?" where a known name is near, or nothing."""
    near = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""
