"""The process behind one tab: a session that is fed by a pipe and lives as long as it."""

import contextlib
import importlib
import os
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path

from corporeal.errors import FormatError
from corporeal.viewer.faults import FAULTS, GONE, told
from corporeal.viewer.packets import BEGIN, LEAVE, Packet, decode
from corporeal.viewer.session import Action, Session

_PANELS = ("document", "body", "touch", "upload", "out", "skeleton", "restore", "pose")
"""Files in `actions`, each with its `ACTIONS` by name."""


_STAGE_DOOR = {BEGIN: Session.open, LEAVE: Session.leave}
"""What the server says, not the page: somebody comes, or has gone."""


def work(pipe: Connection, folder: str, files: tuple[str, ...] = ()) -> None:
    """Serve one page until its pipe closes. The first message starts it: a spare worker waits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's, which closes the pipe
    code, session = 0, None
    try:
        session = Session(
            lambda packet: pipe.send_bytes(packet.encode()), Path(folder), [Path(f) for f in files]
        )
        session.prepare()
        if not pipe.poll():  # nobody waits
            session.background.release()
        pipe.recv_bytes()
        session.open()
        session.tick()  # a first picture before anything that only an answer needs
        session.background.release()
        serve(session, pipe, all_actions())
    except GONE:
        pass  # the tab is closed
    except FAULTS as error:
        code = 1
        with contextlib.suppress(OSError):
            pipe.send_bytes(Packet("refused", {"why": told(error, "working")}).encode())
    finally:
        if session is not None:
            session.close()
        sys.stderr.flush()
        os._exit(code)  # threads may still be preparing what nobody waits for


def serve(session: Session, pipe: Connection, actions: dict[str, Action]) -> None:
    """Messages in, frames out."""
    wait = 0.0
    while True:
        while pipe.poll(wait):
            content = pipe.recv_bytes()
            if content in _STAGE_DOOR:
                _STAGE_DOOR[content](session)
            else:
                session.handle(_packet(content), actions)
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
        return Packet(f"broken message: {error}")
