"""A command that several tests look at is run once."""

from pathlib import Path

import pytest
from shared_command import PLACE, run_once


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of this test's own in place of the session's."""
    folder = tmp_path / "shared"
    folder.mkdir()
    monkeypatch.setenv(PLACE, str(folder))
    return folder


def test_the_second_to_ask_gets_the_files_and_words_of_the_first(tmp_path: Path, place: Path):
    """A mark put on the kept file shows that nothing was run again; another line is another run."""
    line = ["--version"]
    first = run_once(line, tmp_path / "a")
    assert first.status == 0, first.stderr
    assert first.stdout.startswith("corporeal ")
    (kept,) = place.iterdir()
    (kept / "files" / "mark.txt").write_text("kept")
    assert run_once(line, tmp_path / "b") == first
    assert (tmp_path / "b" / "mark.txt").read_text() == "kept"
    assert list((tmp_path / "a").iterdir()) == []
    run_once(["--help"], tmp_path / "c")
    assert len(list(place.iterdir())) == 2


def test_a_failure_is_everybodys(tmp_path: Path):
    """Status and words are those of the command, for whoever asks."""
    for name in ("a", "b"):
        ended = run_once(["dance"], tmp_path / name)
        assert ended.status == 2
        assert "there is no verb 'dance'" in ended.stderr
