"""A page that draws nothing, for `paired_subjects.py`: visits a studio and counts its frames."""

import asyncio
import contextlib
import statistics
import threading
import time
from itertools import pairwise
from queue import Queue
from typing import Any

SECONDS = 3.0
_WARMING = 1.5
_BODIES = 2  # the page opens with linear blending beside projective flesh


def visited(server_class: Any, packet: Any, decode: Any) -> tuple[float, float, int]:
    """Median milliseconds between delivered frames, median of their steps, and how many came."""
    from websockets.sync.client import connect

    server, loop = server_class(), asyncio.new_event_loop()
    opened: Queue[Any] = Queue()
    task = loop.create_task(server.run(opened.put))

    def run() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        url = f"{opened.get().url.replace('http', 'ws')}socket"
        with connect(url, max_size=None, compression=None, open_timeout=120) as socket:
            return _counted(socket, packet, decode)
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()


def _counted(socket: Any, packet: Any, decode: Any) -> tuple[float, float, int]:
    arrivals: list[float] = []
    steps: list[float] = []
    ready_at = busy = None
    while True:
        came = decode(socket.recv(timeout=120))
        if came.kind == "busy":
            busy = bool(came.fields["names"])
        if came.kind != "frame":
            continue
        socket.send(packet("seen", {"number": came.fields["number"]}).encode())
        views, now = came.fields["views"], time.perf_counter()
        ready = len(views) == _BODIES and all(view["ready"] for view in views) and not busy
        if ready_at is None:
            ready_at = now if ready else None
        elif now > ready_at + _WARMING:
            arrivals.append(now)
            steps.append(max(view["step_ms"] for view in views))
            if now > ready_at + _WARMING + SECONDS:
                gaps = [1e3 * (b - a) for a, b in pairwise(arrivals)]
                return statistics.median(gaps), statistics.median(steps), len(gaps)
