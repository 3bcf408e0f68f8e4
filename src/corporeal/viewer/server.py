"""The studio's web server: static files and one socket a tab, for this machine alone.

The address holds a random token; whoever does not know it is refused, and so is a page of another
origin. Everything that the page loads comes from here.
"""

import asyncio
import contextlib
import hmac
import http
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from corporeal.viewer.tabs import Tab, pump

CLIENT = Path(__file__).parent / "client"
MOST_UPLOAD = 64 << 20
"""Bytes of one message from a page."""
MOST_TABS = 6
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
        self._tabs: set[Tab] = set()
        self._spare: Tab | None = None

    async def run(self, opened: Callable[[Address], None]) -> None:
        """Serve until cancelled; `opened` is told the address."""
        try:
            async with serve(
                self._socket,
                self._host,
                self._port,
                process_request=self._request,
                max_size=MOST_UPLOAD,
                max_queue=64,
                compression=None,
                write_limit=1 << 20,
            ) as server:
                self._spare = Tab(self._files)
                port = next(iter(server.sockets)).getsockname()[1]
                opened(Address(self._host, port, self._token))
                await asyncio.get_running_loop().create_future()
        finally:
            for tab in (*self._tabs, *([self._spare] if self._spare else [])):
                tab.close()

    @property
    def process_ids(self) -> list[int | None]:
        """Of the tabs that are open."""
        return [tab.process_id for tab in self._tabs]

    def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        """A file, a refusal, or None for a socket that may open."""
        path = unquote(urlsplit(request.path).path)
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
        for tab in self._tabs:
            path = (tab.folder / "out" / name.removeprefix("out/")).resolve()
            if path.is_relative_to((tab.folder / "out").resolve()) and path.is_file():
                return _response(http.HTTPStatus.OK, path.read_bytes(), "application/octet-stream")
        return _text(http.HTTPStatus.NOT_FOUND, "There is no such file.")

    async def _socket(self, socket: ServerConnection) -> None:
        """One tab, as long as its page is open."""
        if len(self._tabs) >= MOST_TABS:
            await socket.close(1013, f"{MOST_TABS} tabs are open; close one first.")
            return
        tab = self._spare or await asyncio.to_thread(Tab, self._files)
        self._spare = None
        self._tabs.add(tab)
        try:
            await _joined(socket, tab)
        finally:
            self._tabs.discard(tab)
            await asyncio.shield(asyncio.to_thread(tab.close))


async def _joined(socket: ServerConnection, tab: Tab) -> None:
    """Pass messages both ways until either side ends."""
    outgoing: asyncio.Queue[bytes | None] = asyncio.Queue()
    pump(tab.pipe, outgoing.put_nowait)
    tab.begin()

    async def out() -> None:
        while (content := await outgoing.get()) is not None:
            await socket.send(content)
        await socket.close(1011, "This tab's session has ended.")

    sender = asyncio.create_task(out())
    try:
        async for content in socket:
            if isinstance(content, bytes):
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
