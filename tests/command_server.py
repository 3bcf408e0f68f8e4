"""Runs `corporeal …` commands in processes of their own, without importing the engines each time.

A server process imports what is not ours and slow to import (JAX, numba, SciPy, …), and forks for
every command; the child imports the package itself, runs the command and ends. So a command has a
fresh package and memory of its own, as on a command line, and starts in a tenth of the time.
Nothing has started a thread in the server when it forks.
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
    for line in questions:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(**asked)
        _, ended = os.waitpid(child, 0)
        answers.write(f"{os.waitstatus_to_exitcode(ended)}\n")
        answers.flush()


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
