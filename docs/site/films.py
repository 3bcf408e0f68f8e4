"""Films: a picture that links to an MP4 is a poster, and becomes a player on the site.

In the files it stays a picture that a click opens as a film.
"""

from html import escape
from pathlib import Path
from posixpath import join

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri


def is_film(node: addnodes.download_reference) -> bool:
    """Whether it is a film behind a picture."""
    return node.get("reftarget", "").endswith(".mp4") and bool(list(node.findall(nodes.image)))


def play(app: Sphinx, tree: nodes.document, name: str) -> None:
    """Put players where posters link to films."""
    for link in [node for node in tree.findall(addnodes.download_reference) if is_film(node)]:
        if app.builder.format != "html":
            continue
        image = next(iter(link.findall(nodes.image)))
        here = app.builder.get_target_uri(name)
        film = relative_uri(here, join("_downloads", link["filename"]))
        poster = relative_uri(here, join("_images", app.env.images[image["uri"]][1]))
        label = escape(image.get("alt", ""), quote=True)
        link.replace_self(
            nodes.raw(
                "",
                f'<video class="film" controls loop muted playsinline preload="metadata" '
                f'poster="{poster}" aria-label="{label}"><source src="{film}" '
                f'type="video/mp4"/></video>',
                format="html",
            )
        )


def keep_posters(app: Sphinx, _error: Exception | None) -> None:
    """Posters are no images of the page any more: write them as Sphinx would."""
    folder = Path(app.outdir) / "_images"
    if app.builder.format == "html":
        folder.mkdir(exist_ok=True)
        for path, (_, name) in app.env.images.items():
            if not (folder / name).exists():
                (folder / name).write_bytes((Path(app.srcdir) / path).read_bytes())


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("doctree-resolved", play)
    app.connect("build-finished", keep_posters)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
