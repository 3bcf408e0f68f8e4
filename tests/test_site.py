"""The documentation site: its navigation, its links, and nothing serious found by axe-core."""

import os
import sys
from pathlib import Path

import pytest
from client_files import node_package
from studio_page import browser

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "docs/site")]
from build_site import dead_links  # noqa: E402

LOOKED_AT = (
    "docs/index.html",
    "docs/gallery.html",
    "docs/reference/api.html",
    "docs/reference/deformers.html",
    "docs/methods/projective-skinning.html",
    "search.html",
)
WIDTHS = (390, 768, 1280)


@pytest.fixture(scope="module")
def site() -> Path:
    """The site as the continuous integration has built it."""
    if "CORPOREAL_SITE" not in os.environ:
        pytest.skip("CORPOREAL_SITE names no site: python tools/build_site.py builds one")
    return Path(os.environ["CORPOREAL_SITE"])


def test_dead_links_are_found(tmp_path: Path):
    """A file that is not there, a place that is not there, in either kind of link; nothing else."""
    (tmp_path / "a.html").write_text(
        '<h1 id="one">A</h1><a href="b.html#two">1</a><a href="#one">2</a><a href="b.html#no">3</a>'
        '<img src="no.png"><a href="#no">4</a><a href="https://a.org/x">5</a><a href="c/">6</a>'
    )
    (tmp_path / "b.html").write_text('<a name="two"></a><a href="a.html?q=1#top">1</a>')
    (tmp_path / "c").mkdir()
    (tmp_path / "c/index.html").write_text('<a href="../b.html">1</a>')
    assert list(dead_links(tmp_path)) == [
        "a.html: no place at b.html#no",
        "a.html: no file at no.png",
        "a.html: no place at #no",
    ]


def test_navigation_is_the_list_of_pages():
    """Headings are groups; one that is a link stands for its group; bold lines part it."""
    pytest.importorskip("sphinx", reason="sphinx builds the site: pip install '.[docs]'")
    from navigation import groups

    first, second = groups(
        "# All\n- [not](before.md): a heading\n## One\n- [A](a.md): x, see [b](b.md)\ntext\n"
        "## [Two](two/README.md)\nOne page each.\n\n**Part**\n\n- [C](../C.md)\n- no link\n"
    )
    assert (first.title, first.page, first.shown) == ("One", "", [("A", "docs/a")])
    assert (second.title, second.shown) == ("Two", [("Two", "docs/two/README")])
    assert second.parts == {"Part": [("C", "C")]}


def test_docstrings_mean_what_they_say():
    """Stars, bars and names that end in an underscore are no markup; code stays as it is."""
    pytest.importorskip("sphinx", reason="sphinx builds the site: pip install '.[docs]'")
    from reference import as_rst

    assert as_rst("`*batch V 3`, 2*x |a| and b_ of `c_`") == (
        r"`*batch V 3`, 2\*x \|a\| and b\_ of `c_`"
    )


def test_every_page_is_built_and_every_link_leads_somewhere(site: Path):
    """Also the search index, which a browser reads from the disk."""
    assert list(dead_links(site)) == []
    pages = [path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if not (site / page).with_suffix(".html").exists()] == []
    assert "Search.setIndex" in (site / "searchindex.js").read_text(encoding="utf-8")[:100]


def test_the_reference_has_every_name_with_its_shapes(site: Path):
    """And no trace of the alias that Python forgets."""
    import corporeal

    page = (site / "docs/reference/api.html").read_text(encoding="utf-8")
    assert [name for name in corporeal.__all__ if f'id="corporeal.{name}"' not in page] == []
    assert "Float[Any" not in page
    assert "jaxtyping" not in page


def test_pages_fit_and_are_for_everybody(site: Path):
    """From files, without a server: axe-core finds nothing serious, and no page is wider than its
    window, at three widths."""
    script = node_package("axe-core") / "axe.min.js"
    with browser() as chromium:
        for width in WIDTHS:
            tab = chromium.new_page(viewport={"width": width, "height": 900})
            for page in LOOKED_AT:
                tab.goto((site / page).resolve().as_uri())
                assert tab.evaluate("document.documentElement.scrollWidth") <= width, page
                if width != WIDTHS[1]:
                    tab.add_script_tag(path=script)
                    found = tab.evaluate(
                        "axe.run(document, { resultTypes: ['violations'] }).then(r => r.violations"
                        ".filter(v => ['serious', 'critical'].includes(v.impact))"
                        ".map(v => v.id + ': ' + v.nodes[0].html))"
                    )
                    assert found == [], f"{page} at {width}"
            tab.close()


def test_the_search_finds_a_page_without_a_server(site: Path):
    """`file:` addresses may fetch nothing: the index is a script."""
    with browser() as chromium:
        tab = chromium.new_page()
        tab.goto((site / "search.html").resolve().as_uri() + "?q=untangling")
        tab.wait_for_selector("#search-results li a")
        hits = tab.eval_on_selector_all("#search-results li a", "all => all.map(a => a.href)")
        assert any("methods/untangling.html" in hit for hit in hits)
