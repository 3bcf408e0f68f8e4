"""Damaged copies of a file, for readers that must refuse them by name."""

import re
from collections.abc import Callable, Iterator

import numpy as np


def mutants(content: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """`count` copies: bytes changed, cut, doubled or moved, numbers in text made absurd."""
    random = np.random.default_rng(seed)
    changes: list[Callable[[bytes, np.random.Generator], bytes]] = [
        _flip,
        _flip,
        _truncate,
        _remove,
        _double,
        _number,
        _number,
        _number,
        _word,
    ]
    for _ in range(count):
        mutant = content
        for _ in range(random.integers(1, 4)):
            mutant = changes[random.integers(len(changes))](mutant, random)
        yield mutant


def _flip(content: bytes, random: np.random.Generator) -> bytes:
    """A few bytes become others, most often near the start, where the structure is."""
    data = bytearray(content)
    reach = len(data) if random.random() < 0.5 else min(len(data), 400)
    for _ in range(random.integers(1, 6)):
        if reach:
            data[random.integers(reach)] = random.choice(
                [0, 1, 127, 128, 255, random.integers(256)]
            )
    return bytes(data)


def _truncate(content: bytes, random: np.random.Generator) -> bytes:
    return content[: random.integers(len(content) + 1)]


def _remove(content: bytes, random: np.random.Generator) -> bytes:
    start = random.integers(len(content) + 1)
    return content[:start] + content[start + random.integers(1, 64) :]


def _double(content: bytes, random: np.random.Generator) -> bytes:
    start = random.integers(len(content) + 1)
    part = content[start : start + random.integers(1, 64)]
    return content[:start] + part + content[start:]


_NUMBERS = [b"0", b"-1", b"1", b"2147483648", b"4294967295", b"1e39", b"-0.5", b"99999999999999"]
_WORDS = [b"null", b"true", b"[]", b"{}", b'""', b"NaN", b"[[[["]


def _number(content: bytes, random: np.random.Generator) -> bytes:
    """One number of the text becomes an absurd one of the same width where it fits."""
    return _replace(content, rb"-?\d+(\.\d+)?", _NUMBERS, random)


def _word(content: bytes, random: np.random.Generator) -> bytes:
    return _replace(content, rb"-?\d+(\.\d+)?|\"\w+\"", _WORDS, random)


def _replace(
    content: bytes, pattern: bytes, words: list[bytes], random: np.random.Generator
) -> bytes:
    found = list(re.finditer(pattern, content[:20_000]))
    if not found:
        return content
    spot = found[random.integers(len(found))]
    word = words[random.integers(len(words))]
    width = spot.end() - spot.start()
    if len(word) <= width:  # the lengths that a container states stay right
        word = word.ljust(width)
    return content[: spot.start()] + word + content[spot.end() :]
