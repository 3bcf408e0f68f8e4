"""A studio session without a page, for tests."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from corporeal.viewer.document import View
from corporeal.viewer.packets import Packet
from corporeal.viewer.session import Session
from corporeal.viewer.worker import all_actions

PATIENCE = 300.0
"""Seconds; on a busy machine a process may take long to begin."""


class Visitor:
    """Somebody at a page: sends messages, keeps what is answered."""

    def __init__(self, folder: Path) -> None:
        self.heard: list[Packet] = []
        self.session = Session(self.heard.append, folder)
        self._actions = all_actions()
        self.session.apply(replace(self.session.document, views=(View("lbs"),)))

    def ask(self, kind: str, arrays: dict[str, np.ndarray] | None = None, **fields: object) -> None:
        """One message, as the page would send it."""
        self.session.handle(Packet(kind, fields, arrays or {}), self._actions)

    def upload(self, name: str, content: bytes) -> None:
        """Drop a file on the page, and wait until it was looked at."""
        self.ask("upload", {"content": np.frombuffer(content, np.uint8)}, name=name)
        self.settle()

    def settle(self) -> None:
        """Wait until nothing is being prepared."""
        until = time.monotonic() + PATIENCE
        while self.session.background.busy:
            assert time.monotonic() < until, self.session.background.busy
            self.session.background.poll()
            time.sleep(0.02)

    def said(self, kind: str) -> list[Packet]:
        """Messages of a kind, from the first."""
        return [packet for packet in self.heard if packet.kind == kind]

    @property
    def last_refusal(self) -> str:
        """Why the last thing was not done."""
        return str(self.said("refused")[-1].fields["why"])
