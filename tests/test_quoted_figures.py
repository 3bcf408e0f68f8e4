"""Figures that documentation quotes are those of the stored results."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from check_figures import Figure, figures_of, pages, untied, value_at  # noqa: E402

STRANGERS_READ = (
    "README.md",
    "docs/index.md",
    "docs/install.md",
    "docs/questions.md",
    "docs/gallery.md",
    "docs/tutorials/tape-measure.md",
    "docs/tutorials/own-deformer.md",
    "docs/tutorials/flesh-to-engines.md",
    "docs/tutorials/population.md",
    "docs/tutorials/train-smpl.md",
    "docs/methods/looks.md",
)
"""Pages whose figures are all tied."""


def test_every_quoted_figure_is_its_result_rounded():
    """All pages; the pages of learned models have their tables tied."""
    found = [figure for page in pages(ROOT) for figure in figures_of(page)]
    assert [words for figure in found if (words := figure.wrong(ROOT))] == []
    tied = {figure.page.name for figure in found}
    assert {"enveloping.md", "dynamics.md", "models.md", "deformers.md"} <= tied


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "benchmarks/results"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text(json.dumps({"x y": {"z": [1.25, 0.437]}, "big": 23779}))
    return tmp_path


def page_of(folder: Path, text: str) -> list[Figure]:
    page = folder / "page.md"
    page.write_text(text)
    return list(figures_of(page))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("**0.44**<!--= a.json/x y/z/1 -->", ""),
        ("| 43.7 %<!--= a.json/x y/z/1 * 100 --> |", ""),
        ("23 779<!--= a.json/big -->", ""),
        ("0.45<!--= a.json/x y/z/1 -->", "page.md:1: says 0.45; a.json/x y/z/1 is 0.4370"),
        ("1<!--= a.json/x y/none -->", "page.md:1: no result at 'a.json/x y/none'"),
        ("1<!--= b.json/x -->", "page.md:1: no result at 'b.json/x'"),
        ("1<!--= a.json/x y -->", "page.md:1: no result at 'a.json/x y'"),
    ],
)
def test_a_figure_that_differs_is_named(small: Path, text: str, words: str):
    """Rounded to its own decimals it is right; else page, line and result are told."""
    (figure,) = page_of(small, text)
    assert figure.wrong(small).startswith(words)
    assert bool(figure.wrong(small)) == bool(words)


def test_a_tie_without_a_figure_is_refused(small: Path):
    with pytest.raises(SystemExit, match=r"page\.md:2 has a tie without a figure"):
        page_of(small, "fine\nnothing here <!--= a.json/big -->\n")
    assert value_at(small, "a.json/x y/z/0 * 1000") == pytest.approx(1250)


def test_cards_of_what_ships_are_in_step():
    """docs/models.md is what the manifests beside the assets say today."""
    from build_cards import PAGE, page

    assert PAGE.read_text() == page(), "run python tools/build_cards.py"


def test_evaluation_of_deformers_is_in_step():
    """docs/evaluation/deformers.md is what the stored results say today."""
    from build_evaluation import PAGE, page

    assert PAGE.read_text() == page(), "run python tools/build_evaluation.py"


@pytest.mark.parametrize("name", STRANGERS_READ)
def test_pages_that_strangers_read_quote_nothing_loosely(name: str):
    """What is measured there comes from a stored result."""
    assert list(untied(ROOT / name)) == []


def test_a_measured_figure_without_a_tie_is_named(tmp_path: Path):
    """In prose, not in code, links or alternative text."""
    page = tmp_path / "page.md"
    page.write_text(
        "`3 ms` and ![4 mm](5 mm)\n```text\n6 ms\n```\nit takes 7.5 ms, 8<!--= a.json/x --> ms\n"
    )
    assert list(untied(page)) == ["page.md:5: 7.5 ms has no tie"]
