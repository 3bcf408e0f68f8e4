"""Runs `corporeal …` commands in processes of their own, without importing the engines each time.

A server process imports what is not ours and slow to import (JAX, numba, SciPy, …), and forks for
the first command of every verb; the child imports the package itself, runs the command and ends: it
has a fresh package, as on a command line, and starts in a tenth of the time. Further commands of a
verb are forked from a second server, itself a fork of the first, which has imported the package and
read the default body, and has run nothing. Every command has memory of its own.
Nothing has started a thread in a server when it forks.
"""

import json
import os
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple, NoReturn

ENGINES = (
    "jax", "jax.numpy", "numba", "numpy", "scipy.linalg", "scipy.optimize", "scipy.sparse.linalg",
    "scipy.sparse.csgraph", "scipy.spatial", "scipy.interpolate", "array_api_compat.numpy",
    "jaxtyping", "tyro", "tqdm", "PIL.Image", "zarr",
)  # fmt: skip


class Finished(NamedTuple):
    """How a command ended."""

    status: int
    said: str
    """What it wrote to both streams."""


def run_command(arguments: list[str], folder: Path, environment: dict[str, str]) -> Finished:
    """Run `corporeal` with these arguments in a folder."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.NamedTemporaryFile("r", encoding="utf-8", errors="replace") as said:
        asked = {
            "arguments": arguments,
            "folder": str(folder),
            "environment": environment,
            "said": said.name,
        }
        server.stdin.write(json.dumps(asked) + "\n")
        server.stdin.flush()
        answer = server.stdout.readline()
        if not answer:
            raise RuntimeError(f"the server of commands has ended ({server.wait()})")
        return Finished(int(answer), said.read())


@cache
def _server() -> "subprocess.Popen[str]":
    """One for the whole session; it ends with its input."""
    return subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _serve(questions: IO[str], answers: IO[str]) -> None:
    import importlib
    import warnings

    for name in ENGINES:
        importlib.import_module(name)
    warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called")  # no thread runs yet
    met: set[str] = set()
    prepared: Prepared | None = None
    for line in questions:
        verb = (json.loads(line)["arguments"] or [""])[0]
        if verb not in met:
            status = _forked(line)
        else:
            prepared = prepared or Prepared()
            status = prepared.run(line)
        met.add(verb)
        answers.write(f"{status}\n")
        answers.flush()
    if prepared is not None:
        prepared.end()


class Prepared:
    """The second server, in a fork of the first; it ends with its input."""

    def __init__(self) -> None:
        questions, answers = os.pipe(), os.pipe()
        self._process = os.fork()
        if self._process == 0:
            os.close(questions[1])
            _serve_prepared(os.fdopen(questions[0]), os.fdopen(answers[1], "w"))
        os.close(questions[0])
        self._questions, self._answers = os.fdopen(questions[1], "w"), os.fdopen(answers[0])

    def run(self, line: str) -> int:
        """The exit status of a command."""
        self._questions.write(line)
        self._questions.flush()
        return int(self._answers.readline())

    def end(self) -> None:
        """Close its input and wait for it."""
        self._questions.close()
        os.waitpid(self._process, 0)


def _serve_prepared(questions: IO[str], answers: IO[str]) -> NoReturn:
    import contextlib
    import importlib
    import pkgutil

    import corporeal
    from corporeal.assets.default_body import load_default_body

    for module in pkgutil.walk_packages(corporeal.__path__, "corporeal."):
        with contextlib.suppress(ImportError):  # of an optional dependency
            importlib.import_module(module.name)
    load_default_body()
    for line in questions:
        answers.write(f"{_forked(line)}\n")
        answers.flush()
    os._exit(0)


def _forked(line: str) -> int:
    """Run a command in a child of this process."""
    child = os.fork()
    if child == 0:
        _run(**json.loads(line))
    _, ended = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(ended)


def _run(arguments: list[str], folder: str, environment: dict[str, str], said: str) -> NoReturn:
    """In the child: do what the installed command does, and end with its exit status."""
    status = 1
    try:
        stream = os.open(said, os.O_WRONLY | os.O_APPEND)
        for number in (1, 2):
            os.dup2(stream, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["corporeal", *arguments]

        from corporeal.cli.main import main

        status = main()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    finally:
        if sys.exc_info()[0] is not None:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve(sys.stdin, sys.stdout)
