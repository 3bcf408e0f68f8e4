"""`corporeal studio`."""

import asyncio
import contextlib
import errno
import os
import socket
import webbrowser
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from corporeal.cli.console import say
from corporeal.errors import InputError
from corporeal.viewer.kept_address import (
    keep_address,
    kept_address,
    page_for_browser,
    usual_place,
)
from corporeal.viewer.server import Address, StudioServer

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class StudioVerb:
    """Shape, move and touch bodies in the browser.

    Examples:
      corporeal studio
      corporeal studio take.npz other.glb
      corporeal studio --no-browser --port 8791

    The page is served to this machine alone, at an address that holds a random token. Started
    again it has the same address where it can, and a page that is still open goes on.
    """

    files: Positional[tuple[Path, ...]] = ()
    """Results to look at side by side: takes (.npz, .glb); a motion, body or mesh opens, too."""
    port: int = 0
    """Port; a free one unless given."""
    host: str = "127.0.0.1"
    """Address to serve; others than this machine's own can be reached from outside."""
    no_browser: bool = False
    """Print the address, and open nothing."""
    new_address: bool = False
    """Take another port and another token than last time."""

    def run(self) -> int:
        """Serve until Ctrl-C."""
        if not 0 <= self.port <= 65535:
            raise InputError(f"port is {self.port}; expected 0 to 65535.")
        if self.files:
            _require_files(self.files)
        if self.host not in _LOOPBACK:
            say(
                f"warning: {self.host} can be reached by others. Whoever learns the address can "
                f"use this studio and this machine's processor."
            )
        before = None if self.new_address else kept_address(usual_place(), self.host, self.port)
        port, token = (before.port, before.token) if before is not None else (self.port, None)
        server = StudioServer(self.host, port, token, self.files)
        try:
            with contextlib.ExitStack() as pages, contextlib.suppress(KeyboardInterrupt):
                asyncio.run(server.run(lambda address: self._tell(address, pages)))
        except OSError as error:
            raise InputError(self._why(error)) from error
        return 0

    def _why(self, error: OSError) -> str:
        """Why the address cannot be served, and what to do."""
        place = f"cannot serve at {self.host}:{self.port}"
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            return f"{place}: this machine has no address {self.host!r}. Leave --host out."
        words = os.strerror(error.errno) if error.errno else str(error)
        return f"{place}: {words}. Choose another --port, or leave it out to take a free one."

    def _tell(self, address: Address, pages: contextlib.ExitStack) -> None:
        """Say where it is; the browser gets a page that leads there, until the studio ends."""
        keep_address(usual_place(), address)
        print(f"studio: {address.url}", flush=True)
        say("Ctrl-C ends it.")
        if not self.no_browser:
            webbrowser.open(pages.enter_context(page_for_browser(address)))


def _require_files(files: tuple[Path, ...]) -> None:
    """Raise `InputError` unless the studio opens such files, and as many."""
    from corporeal.viewer.document import MOST_VIEWS  # the session's, which is imported apart
    from corporeal.viewer.uploads import require_suffix

    for path in files:
        if not path.is_file():
            raise InputError(f"there is no file {path}. Check the path.")
        require_suffix(path.name)
    if len(files) > MOST_VIEWS:
        raise InputError(
            f"{len(files)} files came; {MOST_VIEWS} stand side by side. Open fewer; "
            f"others can be dropped on the page."
        )
