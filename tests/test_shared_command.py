"""A command that several tests look at is run once."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import shared_command
from shared_command import PLACE, run_once

SESSION = os.environ.get(PLACE)
"""As `conftest` left it, in whatever worker this is."""


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


def test_whoever_comes_while_it_runs_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Three at once, one process, three equal answers."""
    started, run = [], subprocess.run

    def counted(command: list[str], **how: object) -> object:
        started.append(command)
        return run(command, **how)  # pyright: ignore[reportCallIssue, reportArgumentType]

    monkeypatch.setattr(shared_command.subprocess, "run", counted)
    with ThreadPoolExecutor(3) as askers:
        ended = list(askers.map(lambda n: run_once(["--version"], tmp_path / n), "abc"))
    assert len(started) == 1
    assert ended[0].status == 0
    assert ended == [ended[0]] * 3


def test_nobody_waits_for_ever(tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch):
    """A command whose runner was killed has a folder and no end."""
    run_once(["--version"], tmp_path / "a")
    (kept,) = place.iterdir()
    (kept / "ended.json").unlink()
    monkeypatch.setattr(shared_command, "MOST_SECONDS", 0.2)
    with pytest.raises(TimeoutError, match="has not ended it"):
        run_once(["--version"], tmp_path / "b")


def test_all_workers_have_a_place_to_share():
    assert SESSION is not None
    assert Path(SESSION).is_dir()
