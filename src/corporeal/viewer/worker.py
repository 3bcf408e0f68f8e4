"""The process behind one tab: a session that is fed by a pipe and lives as long as it."""

import importlib
import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path

from corporeal.errors import FormatError
from corporeal.viewer.packets import Packet, decode
from corporeal.viewer.session import Action, Session

_PANELS = ("document", "body", "touch", "upload", "out", "skeleton")
"""Files in `actions`, each with its `ACTIONS` by name."""


def work(pipe: Connection, folder: str, files: tuple[str, ...] = ()) -> None:
    """Serve one page until its pipe closes. The first message starts it: a spare worker waits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's, which closes the pipe
    session = Session(
        lambda packet: pipe.send_bytes(packet.encode()), Path(folder), [Path(f) for f in files]
    )
    actions = all_actions()
    try:
        pipe.recv_bytes()
        session.open()
        serve(session, pipe, actions)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the tab is closed
    finally:
        session.close()
        os._exit(0)  # threads may still be preparing what nobody waits for


def serve(session: Session, pipe: Connection, actions: dict[str, Action]) -> None:
    """Messages in, frames out."""
    wait = 0.0
    while True:
        while pipe.poll(wait):
            session.handle(_packet(pipe.recv_bytes()), actions)
            wait = 0.0
        wait = session.tick()


def all_actions() -> dict[str, Action]:
    """What pages may ask, by kind of message."""
    found: dict[str, Action] = {}
    for name in _PANELS:
        found |= importlib.import_module(f"corporeal.viewer.actions.{name}").ACTIONS
    return found


def _packet(content: bytes) -> Packet:
    try:
        return decode(content)
    except FormatError as error:
        return Packet("broken", {"why": str(error)})
