"""The studio's web server: static files and one socket a tab, for this machine alone.

The address holds a random token; whoever does not know it is refused, and so is a page of another
origin. Everything that the page loads comes from here.
"""

import asyncio
import contextlib
import hmac
import http
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from urllib.parse import parse_qs, unquote, urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from corporeal.viewer.packets import LEAST, Packet
from corporeal.viewer.tabs import Tab

CLIENT = Path(__file__).parent / "client"
MOST_UPLOAD = 64 << 20
"""Bytes of one message from a page."""
MOST_TABS = 6
"""Sessions at a time, those included whose page has gone and may come back."""
MOST_UNSENT = 256 << 20
"""Bytes that wait for one page to take them; one that takes none is let go."""
KEPT = 1800.0
"""Seconds that a session is kept for a page that has gone, such as one that is being reloaded."""
_HANDOVER = 3.0
"""Seconds that a page which comes back waits for its old socket to be seen closed."""
_KEY = re.compile(r"[A-Za-z0-9_-]{16,64}")
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class Address:
    """Where the studio is."""

    host: str
    """Of this machine's loopback."""
    port: int
    """TCP port."""
    token: str
    """Secret part of the page's address: who lacks it is refused."""

    @property
    def url(self) -> str:
        """What to open in a browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/{self.token}/"


class StudioServer:
    """Pages for those who know the token, and a process for each."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
        files: Sequence[Path] = (),
    ) -> None:
        """`port` 0 takes a free one; the token is random unless given; every tab opens `files`."""
        self._host, self._port, self._files = host, port, tuple(files)
        self._token = token or secrets.token_urlsafe(24)
        self._tabs: dict[str, Tab] = {}
        self._spare: Tab | None = None

    async def run(self, opened: Callable[[Address], None]) -> None:
        """Serve until cancelled; `opened` is told the address."""
        self._spare = Tab(self._files)
        try:
            async with serve(
                self._socket,
                self._host,
                self._port,
                process_request=self._request,
                max_size=MOST_UPLOAD,
                max_queue=4,
                compression=None,
                write_limit=1 << 20,
            ) as server:
                port = next(iter(server.sockets)).getsockname()[1]
                opened(Address(self._host, port, self._token))
                await self._forget_the_gone()
        finally:
            for tab in (*self._tabs.values(), *([self._spare] if self._spare else [])):
                tab.close()

    async def _forget_the_gone(self) -> None:
        """End sessions whose page has not come back, for as long as the server lives."""
        while True:
            await asyncio.sleep(10.0)
            for key, tab in list(self._tabs.items()):
                if tab.is_over or (not tab.is_watched and monotonic() - tab.left_at > KEPT):
                    await self._end(key)

    async def _end(self, key: str) -> None:
        tab = self._tabs.pop(key, None)
        if tab is not None:
            await asyncio.shield(asyncio.to_thread(tab.close))

    @property
    def process_ids(self) -> list[int | None]:
        """Of the tabs that are open."""
        return [tab.process_id for tab in self._tabs.values()]

    def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        """A file, a refusal, or None for a socket that may open."""
        if (method := getattr(request, "method", "GET")) != "GET":
            refusal = _text(http.HTTPStatus.METHOD_NOT_ALLOWED, f"{method:.20} is of no use here.")
            refusal.headers["Allow"] = "GET"
            return refusal
        path = unquote(urlsplit(request.path).path, errors="surrogateescape")
        if any(ord(letter) < 32 or 0xD800 <= ord(letter) < 0xE000 for letter in path):
            return _text(http.HTTPStatus.BAD_REQUEST, "The address has letters that no name has.")
        _, token, *rest = path.split("/") if path.count("/") >= 2 else ("", "", "")
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return _text(
                http.HTTPStatus.FORBIDDEN,
                "Wrong or missing token. Open the address that `corporeal studio` printed.",
            )
        if not self._is_own(request):
            return _text(http.HTTPStatus.FORBIDDEN, "The studio answers its own page alone.")
        if rest == ["socket"]:
            return None
        return self._file("/".join(rest) or "index.html")

    def _is_own(self, request: Request) -> bool:
        """Whether host and origin are ours: a foreign page or name must not drive the studio."""
        origin, host = request.headers.get("Origin"), request.headers.get("Host", "")
        if self._host in ("127.0.0.1", "::1", "localhost"):
            name = urlsplit(f"//{host}").hostname
            if name not in ("127.0.0.1", "::1", "localhost"):
                return False
        return origin is None or urlsplit(origin).netloc == host

    def _file(self, name: str) -> Response:
        if name.startswith("out/"):
            return self._made(name)
        path = (CLIENT / name).resolve()
        if not path.is_relative_to(CLIENT.resolve()) or path.suffix not in _TYPES:
            return _text(http.HTTPStatus.NOT_FOUND, "There is no such file.")
        if not path.is_file():
            return _text(http.HTTPStatus.NOT_FOUND, "There is no such file.")
        return _response(http.HTTPStatus.OK, path.read_bytes(), _TYPES[path.suffix])

    def _made(self, name: str) -> Response:
        """A file that a tab has made: `out/TAB/NAME`, from that tab's own folder."""
        for tab in self._tabs.values():
            path = (tab.folder / "out" / name.removeprefix("out/")).resolve()
            if path.is_relative_to((tab.folder / "out").resolve()) and path.is_file():
                return _response(http.HTTPStatus.OK, path.read_bytes(), "application/octet-stream")
        return _text(http.HTTPStatus.NOT_FOUND, "There is no such file.")

    async def _socket(self, socket: ServerConnection) -> None:
        """One tab: a new one, or the one that a page with this key had before.

        A page that brings a key finds its session again until `KEPT` is over; without one, the
        session ends with its socket.
        """
        assert socket.request is not None
        asked = parse_qs(urlsplit(socket.request.path).query).get("tab", [""])[0]
        key = asked if _KEY.fullmatch(asked) else ""
        tab = await self._kept(key) if key else None
        if tab is None:
            if not await self._make_room():
                await socket.close(1013, f"{MOST_TABS} tabs are open; close one first.")
                return
            if not key or key in self._tabs:
                key = secrets.token_urlsafe(16)
            spare, self._spare = self._spare, None
            tab = spare or await asyncio.to_thread(Tab, self._files)
            self._tabs[key] = tab
        try:
            with contextlib.suppress(ConnectionClosed):
                await socket.send(Packet("key", {"key": key}).encode())
                await _joined(socket, tab)
        finally:
            if asked and not tab.is_over:
                tab.leave()
            else:
                await self._end(key)

    async def _kept(self, key: str) -> Tab | None:
        """The session of a page that comes back; None where there is none, or another page of the
        same key, such as a duplicate, has it."""
        until = monotonic() + _HANDOVER
        while (tab := self._tabs.get(key)) is not None and monotonic() < until:
            if tab.is_over:
                await self._end(key)
                return None
            if not tab.is_watched:
                return tab
            await asyncio.sleep(0.05)
        return None

    async def _make_room(self) -> bool:
        """Whether one more session may begin; the one that was left first goes if need be."""
        gone = [(tab.left_at, key) for key, tab in self._tabs.items() if not tab.is_watched]
        if len(self._tabs) >= MOST_TABS and gone:
            await self._end(min(gone)[1])
        return len(self._tabs) < MOST_TABS


async def _joined(socket: ServerConnection, tab: Tab) -> None:
    """Pass messages both ways until either side ends."""
    outgoing: asyncio.Queue[bytes | None] = asyncio.Queue()
    unsent = 0

    def deliver(content: bytes | None) -> None:
        nonlocal unsent
        unsent += len(content or b"")
        outgoing.put_nowait(content if unsent <= MOST_UNSENT else None)

    tab.begin(deliver)

    async def out() -> None:
        nonlocal unsent
        while (content := await outgoing.get()) is not None:
            await socket.send(content)
            unsent -= len(content)
        await socket.close(1011, "This tab's session has ended.")

    sender = asyncio.create_task(out())
    try:
        async for content in socket:
            if isinstance(content, bytes) and len(content) >= LEAST:
                await asyncio.to_thread(tab.pipe.send_bytes, content)
    except (ConnectionClosed, BrokenPipeError):
        pass
    finally:
        sender.cancel()
        with contextlib.suppress(asyncio.CancelledError, ConnectionClosed):
            await sender


def _text(status: http.HTTPStatus, text: str) -> Response:
    return _response(status, f"{text}\n".encode(), "text/plain; charset=utf-8")


def _response(status: http.HTTPStatus, body: bytes, kind: str) -> Response:
    headers = Headers(
        {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Content-Security-Policy": _POLICY,
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Connection": "close",
        }
    )
    return Response(status.value, status.phrase, headers, body)
