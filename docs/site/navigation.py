"""Navigation of the site, from the one list of pages that readers of the files have, too.

`docs/README.md` lists every page under headings. Each heading becomes a group of the sidebar. A
heading that is itself a link names the page that stands for its group: the others hang below it.
"""

import re
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from posixpath import normpath

from sphinx.application import Sphinx

LIST = Path("docs/README.md")
HEADING = re.compile(r"^## (?:\[(?P<linked>.+?)\]\((?P<page>\S+?)\)|(?P<title>.+))$")
BOLD = re.compile(r"^\*\*(.+)\*\*$")
PAGE = re.compile(r"^- \[(.+?)\]\(([^)#\s]+\.md)\)")


@dataclass
class Group:
    """A heading of the list, and the pages under it."""

    title: str
    page: str = ""
    """That stands for all of them; empty where they stand for themselves."""
    parts: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Titles and pages by the bold line above them, empty above the first."""

    @property
    def shown(self) -> list[tuple[str, str]]:
        """Titles and pages in the sidebar's first level."""
        return [(self.title, self.page)] if self.page else list(chain(*self.parts.values()))


def groups(text: str) -> list[Group]:
    """What the list of pages says, its links as names of Sphinx' documents."""
    found: list[Group] = []
    part = ""
    for line in text.splitlines():
        if heading := HEADING.match(line):
            title = heading["linked"] or heading["title"]
            page = _document(heading["page"]) if heading["page"] else ""
            found.append(Group(title, page))
            part = ""
        elif found and (bold := BOLD.match(line)):
            part = bold[1]
        elif found and (entry := PAGE.match(line)):
            named = (entry[1], _document(entry[2]))
            found[-1].parts.setdefault(part, []).append(named)
    return found


def _document(link: str) -> str:
    """Name of a linked page, counted from the repository."""
    return normpath((LIST.parent / link).as_posix()).removesuffix(".md")


def toctree(pages: list[tuple[str, str]], caption: str = "", hidden: bool = False) -> str:
    """A table of contents in MyST's words."""
    options = [":maxdepth: 1"] * (not hidden) + [":hidden:"] * hidden
    options += [f":caption: {caption}"] * bool(caption)
    entries = [f"{title} </{page}>" for title, page in pages]
    return "\n".join(["", "```{toctree}", *options, *entries, "```", ""])


def add_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """Append what the sidebar shows to the first page, and its pages to the page of a group."""
    listed = groups((Path(app.srcdir) / LIST).read_text(encoding="utf-8"))
    if name == app.config.root_doc:
        source[0] += toctree([("All pages", "docs/README")], hidden=True)
        for group in listed:
            below = [entry for entry in group.shown if entry[1] != name]
            source[0] += toctree(below, "" if group.page else group.title, hidden=True)
    for group in listed:
        if group.page == name:
            for part, pages in group.parts.items():
                if pages:
                    source[0] += (f"\n## {part}\n" if part else "") + toctree(pages)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", add_contents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
