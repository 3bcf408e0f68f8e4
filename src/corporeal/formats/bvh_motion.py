"""The MOTION part of a BVH file: how many frames, how long each, and their channel values."""

import math
import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.errors import FormatError

MAX_VALUES: Final = 400_000_000
"""Most channel values a file may hold (3.2 GB as numbers): 12 hours of a 75-joint rig at 120 Hz."""

_HEAD: Final = re.compile(
    r"\s*Frames:\s*(\S+)\s+Frame\s+Time:\s*(\S+)[ \t]*(?:\r?\n|$)", re.IGNORECASE
)
_BLOCK: Final = 1 << 20
_LONGEST: Final = 2.0
"""Longest frame, seconds: what is longer was meant in milliseconds, and would be a still."""
_RATES: Final = (24000 / 1001, 30000 / 1001, 60000 / 1001, 120000 / 1001)


@dataclass(frozen=True)
class Frames:
    """Channel values over time, as the file holds them."""

    fps: float
    """Frames a second, one over the file's frame time."""
    values: Float[NumpyArray, "N C"]
    """One column a channel; degrees or file units."""


def parse_motion(source: str, text: str, channel_names: list[str]) -> Frames:
    """Read the text behind the word `MOTION`; `channel_names` has one name a column, for errors."""
    head = _HEAD.match(text)
    if head is None:
        raise FormatError(
            f"{source}: the motion starts with {text[:40].strip()!r}; expected 'Frames:' and "
            f"'Frame Time:'. The file is truncated or damaged; make it again."
        )
    count = _frame_count(source, head[1])
    fps = frames_a_second(source, head[2])
    body = text[head.end() :]
    expected = count * len(channel_names)
    # A value takes at least one digit and one blank: a wild count is seen before any memory goes.
    if expected > MAX_VALUES or 2 * expected - 1 > len(body):
        raise FormatError(
            f"{source} declares {count} frames of {len(channel_names)} channels and has "
            f"{len(body)} characters for {expected} values; expected at least two a value and at "
            f"most {MAX_VALUES} values. The file is truncated or damaged; make it again."
        )
    values = _numbers(source, body, expected, channel_names)
    return Frames(fps, values.reshape(count, len(channel_names)))


def frames_a_second(source: str, frame_time: str) -> float:
    """Rate of a printed frame time in seconds.

    Printing cuts digits off (`.0083333` is 120 Hz), so the nearest whole or broadcast rate is taken
    if it lies within one unit of the last printed digit, and within 0.2 %.
    """
    try:
        seconds = float(frame_time)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and 1e-5 <= seconds <= _LONGEST):
        hint = " It may be in milliseconds." if _LONGEST < seconds < 1e3 else ""
        raise FormatError(
            f"{source} has frame time {frame_time!r}; expected seconds from 0.00001 to "
            f"{_LONGEST:g}, such as 0.0083333.{hint} Correct the line 'Frame Time:'."
        )
    digits = frame_time.lower().partition("e")[0].partition(".")[2]
    last_digit = 10.0 ** -len(digits)
    for rate in (round(1.0 / seconds), *_RATES):
        if rate > 0 and abs(1.0 / rate - seconds) <= min(last_digit, 2e-3 * seconds):
            return float(rate)
    return 1.0 / seconds


def _frame_count(source: str, word: str) -> int:
    if not (word.isascii() and word.isdigit() and 1 <= len(word) <= 12 and int(word) > 0):
        raise FormatError(
            f"{source} declares {word[:20]!r} frames; expected a whole number above 0. Correct the "
            f"line 'Frames:'."
        )
    return int(word)


def _numbers(
    source: str, body: str, expected: int, channel_names: list[str]
) -> Float[NumpyArray, "n"]:
    """Exactly `expected` finite numbers, parsed block by block so that memory stays bounded."""
    values = np.empty(expected)
    filled, start = 0, 0
    while start < len(body):
        stop = start + _BLOCK
        while stop < len(body) and not body[stop].isspace():
            stop += 1
        words = body[start:stop].split()
        if filled + len(words) > expected:
            raise FormatError(
                f"{source} has more than the {expected} values of its "
                f"{expected // len(channel_names)} frames of {len(channel_names)} channels. "
                f"Correct the line 'Frames:'."
            )
        values[filled : filled + len(words)] = _floats(source, words, filled, channel_names)
        filled, start = filled + len(words), stop
    if filled < expected:
        declared, whole = expected // len(channel_names), filled // len(channel_names)
        raise FormatError(
            f"{source} declares {declared} frames and holds {whole} whole ones of "
            f"{len(channel_names)} channels: it is truncated. Make it again, or correct the line "
            f"'Frames:'."
        )
    return values


def _floats(
    source: str, words: list[str], place: int, channel_names: list[str]
) -> Float[NumpyArray, "n"]:
    try:
        numbers = np.fromiter(map(float, words), np.float64, len(words))
        bad = int(np.argmin(np.isfinite(numbers))) if len(words) else 0
        if not len(words) or np.isfinite(numbers[bad]):
            return numbers
    except ValueError:
        bad = next(i for i, word in enumerate(words) if not _is_number(word))
    frame, channel = divmod(place + bad, len(channel_names))
    raise FormatError(
        f"{source}: frame {frame}, {channel_names[channel]} is {words[bad][:20]!r}; expected a "
        f"finite number. Repair it, or drop the frame."
    )


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False
