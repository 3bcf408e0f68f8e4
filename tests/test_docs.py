"""Every code block in the README and the docs runs."""

import os
import re
import shlex
from pathlib import Path

import pytest
from command_server import run_command
from shared_command import run_once

ROOT = Path(__file__).resolve().parents[1]
FRONT = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
PAGES = [*(ROOT / name for name in FRONT), *sorted((ROOT / "docs").rglob("*.md"))]
INDEX = ROOT / "docs/README.md"
RUN, TYPED = ("python", "sh"), ("shell", "python3")
"""Languages of blocks that run as they stand, and of those that take long, or files or devices of
the reader's own: `test_typed_lines` has these."""
PROSE = ("text", "bibtex", "json", "mermaid", "toml")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def run_shell_line(line: str, folder: Path) -> None:
    """Run a `corporeal …` line; installing and testing is what the continuous integration does."""
    words = shlex.split(line, comments=True)
    if not words or words[0] in ("pip", "pytest"):
        return
    assert words[0] == "corporeal", f"only corporeal and pip commands can be checked: {line}"
    if words[1:] == ["demo"]:
        ended = run_once(words[1:], folder)
        assert ended.status == 0, f"{line}\n{ended.stderr}"
        return
    done = run_command(words[1:], folder, dict(os.environ) | {"COLUMNS": "100"})
    assert done.status == 0, f"{line}\n{done.said}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_code_blocks_say_what_they_are(page: Path):
    """A block without a known language would escape the next test."""
    for language, _ in blocks(page):
        assert language in (*RUN, *TYPED, *PROSE), f"{page.name} has a block marked {language!r}"


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(language in RUN for language, _ in blocks(page))],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_code_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """One page is one session, in one folder: later blocks may use what earlier ones made."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for language, code in blocks(page):
        if language == "python":
            exec(compile(code, str(page), "exec"), names)
        elif language == "sh":
            for line in code.replace("\\\n", " ").splitlines():
                for command in line.split("&&"):
                    run_shell_line(command.strip(), tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_inside_the_repository_lead_somewhere(page: Path):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_index_lists_every_page():
    """Whoever opens `docs/` finds each page from its first one, once."""
    links = re.findall(r"\]\(([^)#\s]+\.md)", INDEX.read_text(encoding="utf-8"))
    listed = [(INDEX.parent / link).resolve() for link in links]
    assert len(listed) == len(set(listed)), "a page is listed twice"
    assert set(PAGES) - {INDEX} == set(listed)


def test_design_notes_are_named_by_their_subject():
    """No number that only those who were there can read."""
    names = [page.name for page in (ROOT / "docs").rglob("*.md")]
    assert not [name for name in names if name[0].isdigit()]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_papers_are_named_by_their_keys(page: Path):
    """A seed is a random one: a paper is called Komaritzan 2022 or Loper 2015."""
    found = re.findall(
        r"\bthe seed\b|seed's|seeds'", page.read_text(encoding="utf-8"), re.IGNORECASE
    )
    assert not found
