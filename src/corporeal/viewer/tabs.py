"""One process a tab, from the page's first word until it is closed."""

import asyncio
import contextlib
import multiprocessing
import tempfile
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from corporeal.viewer.packets import Packet
from corporeal.viewer.worker import work

_PATIENCE = 3.0
"""Seconds that a process has to end when told to."""


class Tab:
    """A session in a process of its own, with a folder of its own."""

    def __init__(self, files: Sequence[Path] = ()) -> None:
        """`files` are shown from the beginning."""
        context = multiprocessing.get_context("spawn")
        self._place = tempfile.TemporaryDirectory(prefix="corporeal-studio-")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=work,
            args=(theirs, self._place.name, tuple(str(path.resolve()) for path in files)),
            name="corporeal studio tab",
        )
        self._process.start()
        theirs.close()

    @property
    def folder(self) -> Path:
        """Where the tab's files live."""
        return Path(self._place.name)

    @property
    def process_id(self) -> int | None:
        """Of the session's process."""
        return self._process.pid

    def begin(self) -> None:
        """Let the session speak."""
        self.pipe.send_bytes(Packet("begin").encode())

    def close(self) -> None:
        """End the session at once and take its files away."""
        self._process.terminate()
        self._process.join(_PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()
        self._place.cleanup()


def pump(pipe: Connection, deliver: Callable[[bytes | None], None]) -> None:
    """Read a pipe in a thread; `deliver` gets every message in this event loop, None at the end."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        try:
            while True:
                content = pipe.recv_bytes()
                loop.call_soon_threadsafe(deliver, content)
        except (EOFError, OSError):
            pass
        with contextlib.suppress(RuntimeError):  # the server has ended before its tab
            loop.call_soon_threadsafe(deliver, None)

    threading.Thread(target=read, daemon=True).start()
