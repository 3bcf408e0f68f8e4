"""What the site's reference pages hold besides their text, made when the site is built.

`docs/reference/api.md` gets autodoc of every public name, `command-line.md` the help of every verb
as the command prints it, `deformers.md` the controls of every deformer, from the fields of their
`Controls`. In the files these pages say which command tells the same.
"""

import contextlib
import io
import os
import re
import textwrap
from collections.abc import Iterator

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

import corporeal
from corporeal.cli.main import VERBS, main
from corporeal.cli.train import METHODS
from corporeal.pipelines.controls import control_tables
from corporeal.pipelines.deformers import deformer_class, is_ready

PLACE = re.compile(r"^<!-- (.+) -->$", re.MULTILINE)
FOLDER = "docs/reference/"
COLUMNS = 88
BELOW = {"train": ("smpl", *METHODS, "enveloping")}
"""Verbs below a verb that its help does not list as such."""
ARRAYS = ("Float", "Float32", "Float64", "Int", "Bool", "UInt8")
SPECIAL = re.compile(r"([*|\\])|(?<=\w)(_)(?!\w)")


def as_rst(line: str) -> str:
    """A docstring's line in which nothing but code is taken for markup (conf.py's default role is
    `literal`, so that code stays as wide as it was in tables)."""
    pieces = re.split(r"(``.+?``|`[^`]+`)", line)
    return "".join(
        piece if piece.startswith("`") else SPECIAL.sub(r"\\\g<0>", piece) for piece in pieces
    )


def plain_docstrings(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Keep what docstrings say, whatever reStructuredText would make of it."""
    lines[:] = [as_rst(line) for line in lines]


def public_names() -> Iterator[str]:
    """Directives for all public names: functions first, then nouns."""
    kinds: dict[bool, list[str]] = {False: [], True: []}
    for name in corporeal.__all__:
        kinds[isinstance(getattr(corporeal, name), type)].append(name)
    for title, names, directive in (
        ("Functions", kinds[False], ".. autofunction:: corporeal.{}"),
        ("Nouns", kinds[True], ".. autoclass:: corporeal.{}\n   :members:"),
    ):
        yield f"## {title}\n"
        for name in names:
            yield f"### {name}\n\n```{{eval-rst}}\n{directive.format(name)}\n```\n"


def verbs() -> Iterator[str]:
    """The help of every verb, and of the verbs below it."""
    for name in VERBS:
        yield f"## {name}\n"
        said = help_of(name)
        yield block(said)
        for part in BELOW.get(name) or re.findall(r"^ +• ([\w-]+)", said, re.MULTILINE):
            yield f"### {name} {part}\n"
            yield block(help_of(name, part))


def help_of(*words: str) -> str:
    """What `corporeal … --help` prints."""
    said = io.StringIO()
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(COLUMNS)
    try:
        with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
            main([*words, "--help"])
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    return re.sub(r"\x1b\[[\d;]*m", "", said.getvalue())


def block(text: str) -> str:
    """Help as it is, its long lines broken."""
    lines = (textwrap.wrap(line, COLUMNS, drop_whitespace=False) for line in text.splitlines())
    broken = (part.rstrip() for line in lines for part in line or [""])
    return "\n".join(["```text", *broken, "```", ""])


def deformers() -> Iterator[str]:
    """A table of controls for every deformer."""
    for name, table in control_tables().items():
        yield f"## {name}\n"
        needs = "" if is_ready(name) else " Needs a trained model: `--trained`."
        summary = deformer_class(name).summary
        yield f"{summary[0].upper()}{summary[1:]}.{needs}\n"
        if not table:
            yield "It is told nothing.\n"
            continue
        yield "| flag | meaning | values | default |\n| --- | --- | --- | --- |"
        for row in table:
            flags = [row.flag, row.off_flag] if row.kind == "switch" else [row.flag]
            meaning = f"{row.help}; else {row.off}" if row.kind == "switch" else row.help
            values = row.range_text
            if row.kind == "choice":
                values = ", ".join(f"{word}: {what}" for word, what in row.choices.items())
            cells = [", ".join(f"`--{flag}`" for flag in flags), meaning, values, row.default_text]
            yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
        yield ""


MADE = {"public names": public_names, "verbs": verbs, "deformers": deformers}
"""What may stand in a comment of a page, and what takes its place."""


def fill(app: Sphinx, name: str, source: list[str]) -> None:
    """Put what is made where the pages want it."""
    if name.startswith(FOLDER):
        source[0] = PLACE.sub(lambda match: "\n".join(MADE[match[1]]()), source[0])


def show_made_defaults(
    app: Sphinx, what: str, name: str, thing: object, options: object, given: str, returned: str
) -> tuple[str, str] | None:
    """`<factory>`, as dataclasses show defaults that are made, is no Python: the types of such a
    signature would not be read."""
    return (given.replace("<factory>", "..."), returned) if given else None


def name_arrays(app: Sphinx, domain: str, kind: str, content: addnodes.desc_content) -> None:
    """Say `Float[Array, …]` where the alias `Array` has been lost, as `Float[Any, …]`."""
    for signature in content.parent.findall(addnodes.desc_signature):
        texts = list(signature.findall(nodes.Text))
        for first, bracket, third in zip(texts, texts[1:], texts[2:], strict=False):
            if first in ARRAYS and bracket == "[" and third == "Any":
                third.parent.replace(third, nodes.Text("Array"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", fill)
    app.connect("autodoc-process-docstring", plain_docstrings)
    app.connect("autodoc-process-signature", show_made_defaults)
    app.connect("object-description-transform", name_arrays)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
