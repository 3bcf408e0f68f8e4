"""Tabs have processes of their own, which do not disturb each other and end with them."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from studio_page import running_studio
from websockets.sync.client import ClientConnection, connect

from corporeal.viewer.packets import Packet, decode

pytestmark = pytest.mark.skipif(
    not Path("/proc").exists(), reason="processes are looked up in /proc"
)
PATIENCE = 120.0
"""Seconds; a slow machine is no failure."""


class Guest:
    """A page that draws nothing."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.busy: list[str] = []

    def ask(self, kind: str, **fields: object) -> None:
        self.socket.send(Packet(kind, fields).encode())

    def frames(self, count: int) -> None:
        """Until so many more frames have come."""
        while count:
            count -= self._receive() == "frame"

    def until_busy_with(self, suffix: str) -> None:
        while not any(name.endswith(suffix) for name in self.busy):
            self._receive()

    def _receive(self) -> str:
        content = self.socket.recv(timeout=PATIENCE)
        assert isinstance(content, bytes)
        packet = decode(content)
        if packet.kind == "frame":
            self.ask("seen", number=packet.fields["number"])
        if packet.kind == "busy":
            self.busy = packet.fields["names"]
        return packet.kind


def _stat(process_id: int | str) -> list[str]:
    """State, parent and more of a process (man 5 proc); nothing of one that is gone."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def alive(process_id: int) -> bool:
    """Whether a process runs; one that waits to be buried (state Z) does not."""
    return _stat(process_id)[:1] not in ([], ["Z"])


def children(process_id: int) -> set[int]:
    """Processes that a process has begun."""
    names = [path.name for path in Path("/proc").iterdir() if path.name.isdigit()]
    return {int(name) for name in names if _stat(name)[1:2] == [str(process_id)]}


def wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not until():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_closed_tab_takes_its_processes_along_and_leaves_others_alone():
    """Two tabs send frames, one is closed in the middle of an export: its process and the export's
    end, and the other tab goes on, until the whole studio ends."""
    with ExitStack() as sockets, running_studio() as (server, address):

        def guest() -> Guest:
            url = f"{address.url.replace('http', 'ws')}socket"
            return Guest(sockets.enter_context(connect(url, max_size=None, open_timeout=PATIENCE)))

        first = guest()
        first.frames(1)
        (closed,) = server.process_ids
        second = guest()
        second.frames(1)
        (left,) = set(server.process_ids) - {closed}
        assert closed is not None
        assert left is not None
        first.ask("make", view=0, format="mp4")
        first.until_busy_with(".mp4")
        jobs = children(closed)
        assert jobs
        first.socket.close()
        wait(lambda: not any(map(alive, {closed, *jobs})))
        assert server.process_ids == [left]
        second.frames(2)
        assert alive(left)
    wait(lambda: not alive(left))
    assert server.process_ids == []
