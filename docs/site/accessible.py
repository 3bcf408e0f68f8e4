"""Pages for everybody: what Sphinx and the theme write, mended where axe-core finds fault."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

SCROLLS = re.compile(r'<pre(?=>)|<div(?= class="table-wrapper)')
PARAMETERS = re.compile(r'<dl>\n((?:<dd><em class="sig-param">.*</dd>\n)+)</dl>')


def mended(body: str) -> str:
    """What scrolls is reached by keyboard; parameters of a signature are no list of definitions."""
    return PARAMETERS.sub(_as_lines, SCROLLS.sub(r'\g<0> tabindex="0"', body))


def _as_lines(found: re.Match[str]) -> str:
    lines = found[1].replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")
    return f'<span class="sig-lines">{lines}</span>'


def mend(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Give headings of the sidebar their level, too: without one they cannot be placed."""
    if "body" in context:
        context["body"] = mended(context["body"])
    sidebar = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = sidebar.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("html-page-context", mend, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
