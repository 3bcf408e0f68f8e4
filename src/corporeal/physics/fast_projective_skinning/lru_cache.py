"""Parts that are made when first asked for, and kept while they are used."""

from collections.abc import Callable, Hashable
from typing import TypeVar

_Made = TypeVar("_Made")

MOST_KEPT = 4
"""Parts of one kind that are kept; the least recently used one goes first."""


class LruCache:
    """The latest parts of every kind, by what they were made from."""

    def __init__(self) -> None:
        self._made: dict[tuple[Hashable, ...], object] = {}

    def get(self, kind: str, key: tuple[Hashable, ...], make: Callable[[], _Made]) -> _Made:
        """The part `key` of a kind, made unless it is among those kept."""
        name = (kind, *key)
        part = self._made.pop(name) if name in self._made else make()
        self._made[name] = part
        same = [other for other in self._made if other[0] == kind]
        for oldest in same[:-MOST_KEPT]:
            del self._made[oldest]
        return part  # pyright: ignore[reportReturnType]
