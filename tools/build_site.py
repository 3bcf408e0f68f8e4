"""Build the documentation site, strictly, and check every link in it.

    pip install ".[docs]"
    python tools/build_site.py                  into build/site; open build/site/index.html
    python tools/build_site.py --out FOLDER     into another folder
    python tools/build_site.py --check          only check the links of a site that is built

Ends with 1 where Sphinx has a warning, or a link within the site leads nowhere: to a file that is
not there, or to a place that its page does not have. Addresses on the web are not asked.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build/site"
POINTING = {"href", "src", "poster"}


class Page(HTMLParser):
    """Where a page points to, and the places that it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in POINTING and value:
                self.links.append(value)
            elif (name == "id" or (name, tag) == ("name", "a")) and value:
                self.places.add(value)


def build(out: Path) -> int:
    """Run Sphinx, warnings being errors; gives back its exit code."""
    with TemporaryDirectory() as kept:
        command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
        command += ["-c", ROOT / "docs/site", "-d", kept, ROOT, out]
        return subprocess.run(command, cwd=ROOT).returncode


def dead_links(site: Path) -> Iterator[str]:
    """Every link within the site that leads nowhere, in words."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{path.relative_to(site.resolve())}: no file at {link}"
            elif target in pages and unquote(parts.fragment) not in pages[target].places:
                yield f"{path.relative_to(site.resolve())}: no place at {link}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=SITE, help="folder to write")
    parser.add_argument("--check", action="store_true", help="check links only, build nothing")
    given = parser.parse_args()
    begun = time.monotonic()
    if not given.check and build(given.out):
        print("Sphinx has warnings, see above", file=sys.stderr)
        return 1
    dead = list(dead_links(given.out))
    print(*dead, sep="\n" if dead else "")
    files = [path for path in given.out.rglob("*") if path.is_file()]
    print(
        f"{sum(path.suffix == '.html' for path in files)} pages, "
        f"{sum(path.stat().st_size for path in files) / 1e6:.0f} MB in {given.out}, "
        f"{len(dead)} dead links, {time.monotonic() - begun:.0f} s"
    )
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
