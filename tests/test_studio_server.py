"""The studio's web server: who is let in, what is served."""

import http.client
import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from studio_page import running_studio
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from corporeal.viewer import server as server_module
from corporeal.viewer.packets import Packet, decode
from corporeal.viewer.server import Address


class QuietTab:
    """A tab without a process: it says hello, and no more."""

    def __init__(self, files: tuple[Path, ...] = ()) -> None:
        self.pipe, self._there = multiprocessing.Pipe()
        self.folder = Path(os.devnull)
        self.process_id = None

        self.is_watched, self.is_over, self.left_at = False, False, 0.0
        self.begun = 0

    def begin(self, deliver: Callable[[bytes | None], None]) -> None:
        self.is_watched = True
        self.begun += 1
        deliver(Packet("hello", {"times": self.begun}).encode())

    def leave(self) -> None:
        self.is_watched = False

    def close(self) -> None:
        self._there.close()


@pytest.fixture(scope="module")
def address():
    """A studio whose tabs have no process; of this module alone, as the patch lasts as long."""
    patch = pytest.MonkeyPatch()
    patch.setattr(server_module, "Tab", QuietTab)
    with running_studio() as (_, found):
        yield found
    patch.undo()


def get(
    address: Address, path: str, method: str = "GET", **headers: str
) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(address.host, address.port, timeout=60)
    connection.request(method, path, headers=headers)
    return connection.getresponse()


def heard(socket: ClientConnection, kind: str) -> Packet:
    """The next message of a kind."""
    while True:
        content = socket.recv(timeout=60)
        assert isinstance(content, bytes)
        if (packet := decode(content)).kind == kind:
            return packet


def test_the_page_and_all_that_it_loads_come_from_here(address: Address):
    """Every script and style that the page names is served, and none names another host."""
    page = get(address, f"/{address.token}/").read().decode()
    for name in ("main.js", "style.css", "vendor/three.js", "panels/all.js", "icon.svg"):
        found = get(address, f"/{address.token}/{name}")
        assert found.status == 200
        assert found.read()
    assert "//" not in page


def test_answers_forbid_everything_foreign(address: Address):
    policy = get(address, f"/{address.token}/").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("token", ["", "wrong", "x" * 32, "%C3%A9"])
def test_a_wrong_token_is_refused(address: Address, token: str):
    assert get(address, f"/{token}/").status == 403
    assert get(address, f"/{token}/main.js").status == 403
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://{address.host}:{address.port}/{token}/socket")


def test_no_token_at_all_is_refused(address: Address):
    assert get(address, "/").status == 403
    assert get(address, "/main.js").status == 403


def test_other_origins_and_names_are_refused(address: Address):
    """A foreign page, or a foreign name that leads here (DNS rebinding), gets nothing."""
    here = f"{address.host}:{address.port}"
    assert get(address, f"/{address.token}/", Origin="http://evil.example").status == 403
    assert get(address, f"/{address.token}/", Host="evil.example").status == 403
    assert get(address, f"/{address.token}/", Origin=f"http://{here}").status == 200
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://{here}/{address.token}/socket", origin="http://evil.example")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "path",
    [
        "../server.py",
        "..%2fserver.py",
        "%2e%2e/server.py",
        "panels/../../server.py",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "out/../../../../etc/passwd",
        "vendor",
        "three.LICENSE",
        "nothing.js",
    ],
)
def test_no_file_beside_the_page_can_be_read(address: Address, path: str):
    assert get(address, f"/{address.token}/{path}").status == 404


def test_messages_pass_and_no_more_tabs_than_fit(address: Address):
    sockets = []
    try:
        for _ in range(server_module.MOST_TABS):
            sockets.append(connect(f"{address.url.replace('http', 'ws')}socket"))
            assert heard(sockets[-1], "hello").fields["times"] == 1
        one_more = connect(f"{address.url.replace('http', 'ws')}socket")
        with pytest.raises(Exception, match="tabs are open"):
            one_more.recv(timeout=60)
    finally:
        for socket in sockets:
            socket.close()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_than_get_are_refused(address: Address, method: str):
    """They were once answered as GET is."""
    assert get(address, f"/{address.token}/", method).status == 405


@pytest.mark.parametrize("path", ["%00", "main.js%00.svg", "out/a%00b", "%0a", "%ff%fe"])
def test_letters_that_no_name_has_are_refused(address: Address, path: str):
    """A null byte once was an error of the server."""
    assert get(address, f"/{address.token}/{path}").status == 400


def test_a_page_that_comes_back_finds_its_session(address: Address):
    """With its key a page gets the session that it had; a second page of the same key, such as a
    duplicated tab, gets another and another key; without a key there is nothing to come back to."""
    url = f"{address.url.replace('http', 'ws')}socket"
    with connect(f"{url}?tab={'k' * 20}") as first:
        assert heard(first, "key").fields["key"] == "k" * 20
        assert heard(first, "hello").fields["times"] == 1
        with connect(f"{url}?tab={'k' * 20}") as twin:
            assert heard(twin, "key").fields["key"] != "k" * 20
    time.sleep(0.2)
    with connect(f"{url}?tab={'k' * 20}") as again:
        assert heard(again, "hello").fields["times"] == 2


def test_sessions_without_a_page_make_room(address: Address):
    url = f"{address.url.replace('http', 'ws')}socket"
    for number in range(server_module.MOST_TABS + 2):
        with connect(f"{url}?tab={f'{number:020d}'}") as socket:
            assert heard(socket, "hello").fields["times"] == 1
