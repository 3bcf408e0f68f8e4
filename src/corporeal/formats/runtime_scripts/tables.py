"""Filling a script's template with tables of numbers."""

import re
from importlib.resources import files

from corporeal._typing import Float64, NumpyArray
from corporeal.errors import InputError

_TEMPLATES = files("corporeal.formats.runtime_scripts") / "templates"
_PLACE = re.compile(r"@([A-Z_]+)@")
_DIGITS = 10
"""Significant digits: with 500 features, weights are exact to better than 1e-7."""


def filled_template(name: str, values: dict[str, str]) -> str:
    """The template called `name` with every `@KEY@` replaced by its value."""
    template = _TEMPLATES.joinpath(name).read_text(encoding="utf-8")
    return _PLACE.sub(lambda match: values[match[1]], template)


def number_lines(rows: Float64[NumpyArray, "n c"], start: str, end: str, indent: int) -> str:
    """One line a row: `start`, the numbers with commas, `end`."""
    margin = " " * indent
    return "\n".join(
        f"{margin}{start}{', '.join(f'{number + 0.0:.{_DIGITS}g}' for number in row)}{end}"
        for row in rows.tolist()
    )


def identifier(stem: str) -> str:
    """A name that every language takes, made of the letters and digits of a file's stem."""
    words = re.findall(r"[A-Za-z0-9]+", stem)
    if not words:
        raise InputError(
            f"file name {stem!r} has no plain letter or digit to name a script after; expected "
            f"one of a–z or 0–9. Choose another name."
        )
    joined = "_".join(words)
    return f"_{joined}" if joined[0].isdigit() else joined
