"""`corporeal studio` for those who mistype: a sentence that helps, before anything is served."""

import socket
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

from corporeal.cli.main import main
from corporeal.cli.studio import StudioVerb
from corporeal.viewer.kept_address import keep_address, kept_address
from corporeal.viewer.server import Address, StudioServer


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What is said to a command that is refused."""
    assert main(["studio", "--no-browser", *words]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--port", "70000"], "port is 70000; expected 0 to 65535"),
        (["nowhere.glb"], "there is no file nowhere.glb"),
        (["notes.txt"], "'notes.txt' is none of .bvh, .npz, .glb"),
        (["a.glb"] * 5, "5 files came; 4 stand side by side"),
        (["--host", "no.such.host.invalid"], "no address 'no.such.host.invalid'. Leave --host out"),
    ],
)
def test_what_cannot_be_is_told(capsys, tmp_path: Path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    for name in ("notes.txt", "a.glb"):
        (tmp_path / name).write_text("nothing")
    assert message in refusal(capsys, *words)


def test_a_port_in_use_is_told(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = refusal(capsys, "--port", str(port))
    assert f"cannot serve at 127.0.0.1:{port}: Address already in use" in message
    assert "leave it out" in message


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Addresses are kept for this test alone."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "corporeal" / "studio.json"


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_others_can_reach_it_only_after_a_warning(capsys, monkeypatch, host: str, warned: bool):
    """The address with its token is printed; the browser gets a page that leads there, which its
    owner alone may read, and not the token on its command line."""
    opened: list[str] = []
    pages: list[tuple[str, int]] = []

    async def run(self: StudioServer, tell) -> None:
        tell(Address(host, 8791, "secret"))
        path = Path(url2pathname(urlsplit(opened[0]).path))
        pages.append((path.read_text(), path.stat().st_mode & 0o777))

    monkeypatch.setattr(StudioServer, "run", run)
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert StudioVerb(host=host).run() == 0
    said = capsys.readouterr()
    assert ("can be reached by others" in said.err) is warned
    assert said.out.strip() == f"studio: http://{host}:8791/secret/"
    assert "secret" not in opened[0]
    assert f"http://{host}:8791/secret/" in pages[0][0]
    assert pages[0][1] == 0o600


def test_a_studio_that_is_started_again_has_its_address(own_state: Path):
    """Port and token are kept in a file of the owner's; a taken port, another host, a file that
    others may read or that is damaged lead to a new address."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        address = Address("127.0.0.1", port, "t" * 32)
        keep_address(own_state, address)
        assert kept_address(own_state, "127.0.0.1", 0) is None
    assert own_state.stat().st_mode & 0o777 == 0o600
    assert kept_address(own_state, "127.0.0.1", 0) == address
    assert kept_address(own_state, "127.0.0.1", port) == address
    assert kept_address(own_state, "127.0.0.1", port + 1) is None
    assert kept_address(own_state, "0.0.0.0", 0) is None
    own_state.chmod(0o644)
    assert kept_address(own_state, "127.0.0.1", 0) is None
    own_state.chmod(0o600)
    own_state.write_text('{"host": "127.0.0.1", "port": "x"}')
    assert kept_address(own_state, "127.0.0.1", 0) is None
