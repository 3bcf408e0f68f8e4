"""Tutorials show the script that they are about: a comment in a page says which.

`<!-- script examples/tape_measure.py -->` on a line of its own becomes the script itself. In the
files the page links to it.
"""

import re

from sphinx.application import Sphinx

PLACE = re.compile(r"^<!-- script (\S+) -->$", re.MULTILINE)
SHOWN = "```{{literalinclude}} /{}\n:language: python\n```"


def show(app: Sphinx, name: str, source: list[str]) -> None:
    """Put scripts where pages want them."""
    source[0] = PLACE.sub(lambda found: SHOWN.format(found[1]), source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
