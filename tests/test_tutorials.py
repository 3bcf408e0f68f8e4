"""Tutorials run: their scripts at a tiny size, and whole by the slow mark; pages show them."""

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs/tutorials").glob("*.md"))
SHOWN = re.compile(r"^<!-- script (\S+) -->$", re.MULTILINE)
SCRIPTS = sorted({name for page in PAGES for name in SHOWN.findall(page.read_text("utf-8"))})
TINY = ("tape_measure", "own_deformer")
"""Those that take a few seconds with `--small`; others only run whole."""
FLAGS = {"look_inside": ["--move"]}


def run(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *flags: str) -> list[str]:
    """Run a script as if typed; names of the files that it leaves."""
    path = ROOT / script
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", [path.name, "--out", "out", *flags])
    runpy.run_path(str(path), run_name="__main__")
    return sorted(left.name for left in (folder / "out").rglob("*"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_scripts_that_pages_show_are_there(page: Path):
    """And what a page shows in full it also links to, for readers of the file."""
    text = page.read_text(encoding="utf-8")
    for name in SHOWN.findall(text):
        assert (ROOT / name).is_file()
        assert f"](../../{name})" in text


@pytest.mark.parametrize("name", TINY)
def test_scripts_run_at_a_tiny_size(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """They leave what they say that they leave."""
    left = run(f"examples/{name}.py", tmp_path, monkeypatch, "--small")
    said = capsys.readouterr().out.splitlines()[-1]
    assert said == f"left in out: {', '.join(left)}"


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda name: Path(name).stem)
def test_scripts_run_whole(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As the page says, under ten minutes on two cores."""
    assert run(script, tmp_path, monkeypatch, *FLAGS.get(Path(script).stem, []))
