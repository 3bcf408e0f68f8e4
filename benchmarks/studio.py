"""How fast the studio's server delivers frames, and whether its memory stays flat.

python benchmarks/studio.py                    # rates, two tabs, what is left of a closed one
python benchmarks/studio.py --minutes 30       # memory alone, over half an hour

Frames are received and answered over the socket, as the page does, without drawing them. All that
come are counted, and those whose skin has moved: at the turn of a movement some do not.
Both commands write their part of benchmarks/results/studio.json.
"""

import argparse
import asyncio
import contextlib
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from corporeal.viewer.packets import Packet, decode
from corporeal.viewer.server import Address, StudioServer

RESULTS = Path(__file__).parent / "results" / "studio.json"
SECONDS = 6.0
VIEWS = {
    "lbs": [{"deformer": "lbs"}],
    "dqs": [{"deformer": "dqs"}],
    "four skinned bodies": [{"deformer": name} for name in ("lbs", "dqs", "lbs", "dqs")],
    "projective": [{"deformer": "projective"}],
    "lbs and projective": [{"deformer": "lbs"}, {"deformer": "projective"}],
}

BEFORE = [{"deformer": "dqs"}, {"deformer": "dqs"}, {"deformer": "dqs"}]


@dataclass
class Visitor:
    """A page that draws nothing."""

    socket: ClientConnection
    bodies: int = 2
    """How many are asked for; frames with others are older."""
    busy: bool = True
    ready: bool = False
    delivered: list[float] = field(default_factory=list)
    """When frames came, seconds."""
    arrivals: list[float] = field(default_factory=list)
    """When those came whose skin had moved."""
    step_ms: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    _last: object = None

    def ask(self, kind: str, **fields: object) -> None:
        self.socket.send(Packet(kind, fields).encode())

    def receive(self) -> None:
        """One message."""
        content = self.socket.recv(timeout=300)
        assert isinstance(content, bytes)
        packet = decode(content)
        if packet.kind == "refused":
            raise SystemExit(packet.fields["why"])
        if packet.kind == "busy":
            self.busy = bool(packet.fields["names"])
        if packet.kind != "frame":
            return
        self.ask("seen", number=packet.fields["number"])
        self.delivered.append(time.perf_counter())
        views = packet.fields["views"]
        self.ready = len(views) == self.bodies and all(view["ready"] for view in views)
        skin = packet.arrays[f"skin {len(views) - 1}"]
        if self._last is None or not np.array_equal(skin, self._last):
            self.arrivals.append(time.perf_counter())
            self.step_ms.append(max(view["step_ms"] for view in views))
            self.sizes.append(len(content))
        self._last = skin

    def for_seconds(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            self.receive()

    def until_ready(self) -> None:
        self.busy, self.ready = True, False
        while self.busy or not self.ready:
            self.receive()

    def forget(self) -> None:
        for kept in (self.delivered, self.arrivals, self.step_ms, self.sizes):
            kept.clear()


@contextmanager
def served() -> Iterator[tuple[StudioServer, Address]]:
    """A studio in a thread, with all its processes, until the block ends."""
    server, loop = StudioServer(), asyncio.new_event_loop()
    opened: Queue[Address] = Queue()
    task = loop.create_task(server.run(opened.put))

    def run() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield server, opened.get()
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()


def memory_mb(process_id: int) -> float:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def rate(visitor: Visitor, views: list[dict[str, str]]) -> dict[str, float]:
    """Frames a second, and those that move, with these bodies."""
    for other in (BEFORE, views):  # what is shown already would not be prepared anew, nor told
        visitor.ask("change", path=["views"], value=other)
    visitor.bodies = len(views)
    visitor.until_ready()
    visitor.for_seconds(2.0)
    visitor.forget()
    visitor.for_seconds(SECONDS)
    gaps = np.diff(visitor.arrivals)
    sent = len(visitor.delivered) - 1
    return {
        "delivered_per_second": round(sent / (visitor.delivered[-1] - visitor.delivered[0]), 1),
        "frames_per_second": round(len(gaps) / (visitor.arrivals[-1] - visitor.arrivals[0]), 1),
        "median_gap_ms": round(1e3 * float(np.median(gaps)), 2),
        "p99_gap_ms": round(1e3 * float(np.percentile(gaps, 99)), 2),
        "median_step_ms": round(statistics.median(visitor.step_ms), 2),
        "megabytes_per_second": round(sum(visitor.sizes) / 1e6 / SECONDS, 2),
    }


def memory_run(visitor: Visitor, process_id: int, minutes: float) -> dict[str, object]:
    """Memory while flesh moves, and every ten seconds is told another body and stiffness."""
    samples, end, turn = [], time.monotonic() + 60 * minutes, 0
    begun = time.monotonic()
    while time.monotonic() < end:
        turn += 1
        weight = 0.5 + 0.2 * (turn % 3)
        visitor.ask("change", path=["body", "sliders", "weight"], value=weight)
        visitor.ask(
            "change", path=["views", 1, "controls", "stiffness"], value=1e4 + 1e3 * (turn % 7)
        )
        visitor.for_seconds(10.0)
        frames = len(visitor.arrivals)
        visitor.forget()
        held = (memory_mb(process_id), memory_mb(os.getpid()))
        samples.append([round(time.monotonic() - begun, 1), *(round(mb, 1) for mb in held), frames])
    half = len(samples) // 2
    early, late = (
        np.mean([row[1] for row in part]) for part in (samples[half // 2 : half], samples[half:])
    )
    return {
        "minutes": minutes,
        "bodies told": turn,
        "columns": "seconds, MB of the tab, MB of server and visitor, frames of ten seconds",
        "samples": [" ".join(map(str, row)) for row in samples[::6]],
        "second_quarter_mb": round(float(early), 1),
        "second_half_mb": round(float(late), 1),
        "growth_percent": round(100.0 * float(late / early - 1.0), 2),
    }


def two_tabs(visitor: Visitor, server: StudioServer, url: str) -> dict[str, object]:
    """Rates of one tab beside another that moves flesh too, and when that one's process is gone."""
    before = set(server.process_ids)
    with connect(url, max_size=None, compression=None, open_timeout=120) as second:
        other = Visitor(second)
        other.until_ready()
        other.forget()
        thread = threading.Thread(target=_keep, args=(other,), daemon=True)
        thread.start()
        beside = rate(visitor, VIEWS["lbs and projective"])
        (process_id,) = set(server.process_ids) - before
        theirs = len(other.arrivals) / (other.arrivals[-1] - other.arrivals[0])
    closed = time.perf_counter()
    while Path(f"/proc/{process_id}").exists():
        time.sleep(0.001)
    return {
        "first": beside,
        "second_frames_per_second": round(theirs, 1),
        "closed_process_gone_after_s": round(time.perf_counter() - closed, 3),
        "alone_again": rate(visitor, VIEWS["lbs and projective"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=0.0, help="measure memory for so long")
    minutes = parser.parse_args().minutes
    with served() as (server, address):
        _record(measured(server, f"{address.url.replace('http', 'ws')}socket", minutes))


def measured(server: StudioServer, url: str, minutes: float) -> dict[str, object]:
    """Memory over some minutes, or everything else if there are none."""
    started = time.perf_counter()
    with connect(url, max_size=None, compression=None, open_timeout=120) as socket:
        visitor = Visitor(socket)
        while not visitor.arrivals:
            visitor.receive()
        first_frame = time.perf_counter() - started
        visitor.until_ready()
        ready = time.perf_counter() - started
        (process_id,) = server.process_ids
        assert process_id is not None
        if minutes:
            return {"memory": {"commit": _commit()} | memory_run(visitor, process_id, minutes)}
        return {
            "commit": _commit(),
            "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
            "vertices": 13380,
            "first_frame_s": round(first_frame, 2),
            "flesh_ready_s": round(ready, 2),
            "rates": {name: rate(visitor, views) for name, views in VIEWS.items()},
            "two tabs": two_tabs(visitor, server, url),
        }


def _record(part: dict[str, object]) -> None:
    """Write a part of the results, and leave the others."""
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    RESULTS.write_text(json.dumps(before | part, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(part, indent=1))


def _commit() -> str:
    """The checkout's commit."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _keep(visitor: Visitor) -> None:
    """Receive until the socket closes."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            visitor.receive()


if __name__ == "__main__":
    main()
