"""One process a tab, from the page's first word until it is closed."""

import asyncio
import contextlib
import multiprocessing
import tempfile
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic

from corporeal.viewer.packets import BEGIN, LEAVE

_PATIENCE = 3.0
"""Seconds that a process has to end when told to."""

Deliver = Callable[[bytes | None], None]
"""Takes a message of a session; None at its end."""


class Tab:
    """A session in a process of its own, with a folder of its own; pages come and go."""

    def __init__(self, files: Sequence[Path] = ()) -> None:
        """`files` are shown from the beginning."""
        context = multiprocessing.get_context("spawn")
        self._place = tempfile.TemporaryDirectory(prefix="corporeal-studio-")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_work,
            args=(theirs, self._place.name, tuple(str(path.resolve()) for path in files)),
            name="corporeal studio tab",
        )
        self._process.start()
        theirs.close()
        self._audience = Audience()

    @property
    def folder(self) -> Path:
        """Where the tab's files live."""
        return Path(self._place.name)

    @property
    def process_id(self) -> int | None:
        """Of the session's process."""
        return self._process.pid

    @property
    def is_watched(self) -> bool:
        """Whether a page is there."""
        return self._audience.deliver is not None

    @property
    def left_at(self) -> float:
        """When the last page has gone, seconds of the monotonic clock."""
        return self._audience.left_at

    @property
    def is_over(self) -> bool:
        """Whether the session has ended by itself."""
        return self._audience.is_over

    def begin(self, deliver: Deliver) -> None:
        """Let the session speak to a page, in this event loop."""
        self._audience.come(self.pipe, deliver)
        self.pipe.send_bytes(BEGIN)

    def leave(self) -> None:
        """The page has gone; the session keeps what it has, and stands still."""
        self._audience.go()
        with contextlib.suppress(OSError):
            self.pipe.send_bytes(LEAVE)

    def close(self) -> None:
        """End the session at once and take its files away."""
        self._process.terminate()
        self._process.join(_PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()
        self._place.cleanup()


def _work(pipe: Connection, folder: str, files: tuple[str, ...]) -> None:
    """What a tab's process does. The session is imported there: the server needs none of it."""
    from corporeal.viewer.worker import work

    work(pipe, folder, files)


class Audience:
    """Who hears a pipe: one page at a time, or nobody, and then words are lost."""

    def __init__(self) -> None:
        self.deliver: Deliver | None = None
        self.left_at = monotonic()
        self.is_over = False
        self._is_read = False

    def come(self, pipe: Connection, deliver: Deliver) -> None:
        """Hear from now on; a thread reads the pipe as long as it is open."""
        self.deliver = deliver
        if not self._is_read:
            self._is_read = True
            loop = asyncio.get_running_loop()
            threading.Thread(target=self._read, args=(pipe, loop), daemon=True).start()

    def go(self) -> None:
        """Hear no more."""
        self.deliver, self.left_at = None, monotonic()

    def _hear(self, content: bytes | None) -> None:
        self.is_over = self.is_over or content is None
        if self.deliver is not None:
            self.deliver(content)

    def _read(self, pipe: Connection, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(RuntimeError):  # the server has ended before its tab
            try:
                while True:
                    loop.call_soon_threadsafe(self._hear, pipe.recv_bytes())
            except (EOFError, OSError):
                loop.call_soon_threadsafe(self._hear, None)
