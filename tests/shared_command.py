"""Runs a `corporeal …` command once a session, for all tests that look at what it leaves behind.

The demo takes half a minute of a processor, and two tests want it: the one that looks at its files
and words, and the one that follows the README. Whoever comes first runs it, in a process of its
own; others, in whatever worker, wait for it and get copies of its files.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple

PLACE: Final = "CORPOREAL_TESTS_SHARED"
"""Names, in the environment, the folder that all workers of a session share (see `conftest`)."""
MOST_SECONDS: Final = 900.0
"""Nobody waits longer for another's command."""


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    stdout: str
    stderr: str


def run_once(arguments: list[str], folder: Path) -> Ended:
    """Run `corporeal` with arguments that name no input file; its files come into `folder`."""
    kept = _place() / hashlib.sha256(json.dumps(arguments).encode()).hexdigest()[:16]
    files, ended = kept / "files", kept / "ended.json"
    try:
        kept.mkdir()
    except FileExistsError:
        _wait_for(ended)
    else:
        files.mkdir()
        done = subprocess.run(
            [sys.executable, "-m", "corporeal.cli.main", *arguments],
            cwd=files,
            capture_output=True,
            text=True,
        )
        partial = kept / "ended.partial"
        partial.write_text(json.dumps([done.returncode, done.stdout, done.stderr]), "utf-8")
        partial.replace(ended)
    shutil.copytree(files, folder, dirs_exist_ok=True)
    return Ended(*json.loads(ended.read_text("utf-8")))


def _place() -> Path:
    place = os.environ.get(PLACE)
    assert place is not None, f"{PLACE} is set by tests/conftest.py"
    return Path(place)


def _wait_for(ended: Path) -> None:
    deadline = time.monotonic() + MOST_SECONDS
    while not ended.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(f"whoever runs the command has not ended it: {ended.parent}")
        time.sleep(0.1)
