"""Lines of numbers, as text formats have them, parsed all at once.

A hundred megabytes of text must not become a hundred million Python objects: lines, words and
numbers are arrays from the start. What is no number is found by halving, and named by its line.
"""

import warnings

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray, UInt8
from corporeal.errors import FormatError

MAX_LINES = 2_500_000
"""Most lines of a text that is parsed: they bound the time as bytes do not."""
MAX_WORDS = 10_000_000
_NEWLINE, _HASH, _SLASH = b"\n#/"
_SPACES = np.zeros(256, bool)
_SPACES[list(b" \t\n\r\v\f")] = True


class TextLines:
    """The lines of a text file; comments from `#` on are blanks."""

    def __init__(self, content: bytes, *, comments: bool = True) -> None:
        content = content.removeprefix(b"\xef\xbb\xbf")
        if b"\r" in content:
            content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if content.count(b"\n") >= MAX_LINES:
            raise FormatError(f"it has more than {MAX_LINES} lines of text. Give a smaller file")
        self.bytes = np.frombuffer(content + b"\n", np.uint8).copy()
        ends = np.flatnonzero(self.bytes == _NEWLINE)
        self.starts = np.r_[0, ends[:-1] + 1]
        self.lengths = ends + 1 - self.starts
        if comments and (self.bytes == _HASH).any():
            self._blank_comments()
        self.first_words = self._word_starts()
        self.word_counts = _sums(self.first_words, self.starts)
        if self.word_counts.sum() > MAX_WORDS:
            raise FormatError(f"it has more than {MAX_WORDS} words of text. Give a smaller file")

    def _blank_comments(self) -> None:
        """Overwrite what follows a `#`, to the end of its line, by blanks."""
        marks = np.flatnonzero(self.bytes == _HASH)
        lines = np.searchsorted(self.starts, marks, "right") - 1
        first = np.r_[True, lines[1:] != lines[:-1]]
        change = np.zeros(len(self.bytes) + 1, np.int8)
        change[marks[first]] = 1
        change[self.starts[lines[first]] + self.lengths[lines[first]] - 1] -= 1
        self.bytes[np.cumsum(change[:-1], dtype=np.int8) > 0] = ord(" ")

    def _word_starts(self) -> Bool[NumpyArray, "c"]:
        letters = ~_SPACES[self.bytes]
        starts = letters.copy()
        starts[1:] &= ~letters[:-1]
        return starts

    def starting_with(self, word: bytes) -> Bool[NumpyArray, "L"]:
        """Which lines have `word` as their first."""
        found = np.zeros(len(self.starts), bool)
        with_words = np.flatnonzero(self.word_counts)
        places = np.flatnonzero(self.first_words)
        ordinal = np.cumsum(self.word_counts) - self.word_counts
        first = places[ordinal[with_words]]
        room = first + len(word) < len(self.bytes)
        with_words, first = with_words[room], first[room]
        fits = _SPACES[self.bytes[first + len(word)]]
        for offset, letter in enumerate(word):
            fits &= self.bytes[first + offset] == letter
        found[with_words[fits]] = True
        return found

    def text(self, line: int) -> bytes:
        """One line, without its end."""
        start = self.starts[line]
        return self.bytes[start : start + self.lengths[line] - 1].tobytes()

    def bytes_of(self, lines: Bool[NumpyArray, "L"], skip: int) -> UInt8[NumpyArray, "c"]:
        """The chosen lines, the first `skip` letters of their first word being blanks."""
        chosen = self.bytes[np.repeat(lines, self.lengths)]
        if skip:
            first = np.flatnonzero(self.first_words)[
                (np.cumsum(self.word_counts) - self.word_counts)[lines]
            ]
            inside = first - self.starts[lines] + np.r_[0, np.cumsum(self.lengths[lines])[:-1]]
            for offset in range(skip):
                chosen[inside + offset] = ord(" ")
        return chosen

    def numbers(
        self, lines: Bool[NumpyArray, "L"], *, skip: int = 0
    ) -> tuple[Float64[NumpyArray, "n"], Int[NumpyArray, "l"]]:
        """All numbers of the chosen lines, and how many each has; `skip` letters come first."""
        counts = self.word_counts[lines] - (1 if skip else 0)
        values = self.parsed(self.bytes_of(lines, skip), lines)
        if len(values) != counts.sum():
            raise FormatError("numbers and other signs are mixed in one word")
        return values, counts

    def whole(
        self, letters: UInt8[NumpyArray, "c"], lines: Bool[NumpyArray, "L"]
    ) -> Int[NumpyArray, "n"]:
        """Whole numbers parted by blanks."""
        return whole_numbers(self.parsed(letters, lines))

    def parsed(
        self, letters: UInt8[NumpyArray, "c"], lines: Bool[NumpyArray, "L"]
    ) -> Float64[NumpyArray, "n"]:
        """Numbers parted by blanks; `lines` are those that the letters came from."""
        values = _parsed(letters.tobytes())
        if values is None:
            bad = self._first_bad(letters)
            line = np.flatnonzero(lines)[np.count_nonzero(letters[:bad] == _NEWLINE)]
            text = self.text(int(line)).decode("utf-8", "replace").strip()
            raise FormatError(f"line {line + 1}: {text[:60]!r} holds something else than numbers")
        return values

    def _first_bad(self, letters: UInt8[NumpyArray, "c"]) -> int:
        """Start of the first line that cannot be parsed, by halving: two passes over the text."""
        low, ends = 0, np.flatnonzero(letters == _NEWLINE) + 1
        first, last = 0, len(ends) - 1
        while first < last:
            middle = (first + last) // 2
            if _parsed(letters[low : ends[middle]].tobytes()) is None:
                last = middle
            else:
                first, low = middle + 1, ends[middle]
        return int(low)


def whole_numbers(values: Float64[NumpyArray, "n"]) -> Int[NumpyArray, "n"]:
    """Indices and counts as integers; 1.5 and what no file is long enough for are refused."""
    bad = ~(np.abs(values) < 2**53) | (values != np.rint(values))
    if bad.any():
        text = f"{values[bad][0]:g}"
        raise FormatError(f"it has the index {text}; expected whole numbers below 2⁵³")
    return values.astype(np.int64)


def face_corners(
    letters: UInt8[NumpyArray, "c"],
) -> tuple[UInt8[NumpyArray, "c"], UInt8[NumpyArray, "c"], Bool[NumpyArray, "w"]]:
    """`7/3/2` as `7` in one copy and `3` in another, all else being blank, and which have a `3`."""
    spaces = _SPACES[letters]
    slashes = letters == _SLASH
    rank = np.cumsum(slashes, dtype=np.int32)
    rank -= np.maximum.accumulate(np.where(spaces, rank, 0))  # slashes since the word began
    inside = (rank == 1) & ~slashes & ~spaces
    first = np.where(rank > 0, ord(" "), letters).astype(np.uint8)
    second = np.where(spaces | inside, letters, ord(" ")).astype(np.uint8)
    starts = ~spaces
    starts[1:] &= spaces[:-1]
    return first, second, _sums(inside, np.flatnonzero(starts)) > 0


def _sums(flags: Bool[NumpyArray, "n"], starts: Int[NumpyArray, "l"]) -> Int[NumpyArray, "l"]:
    """How many flags are set from every start to the next."""
    if not len(starts):
        return np.zeros(0, np.int64)
    return np.add.reduceat(flags, starts, dtype=np.int64)


def _parsed(text: bytes) -> Float64[NumpyArray, "n"] | None:
    if not text.strip():
        return np.zeros(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # NumPy before 2.4 only warns
            return np.fromstring(text, np.float64, sep=" ")
    except (ValueError, DeprecationWarning):
        return None
