"""`corporeal studio` for those who mistype: a sentence that helps, before anything is served."""

import socket
from pathlib import Path

import pytest

from corporeal.cli.main import main
from corporeal.cli.studio import StudioVerb
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


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_others_can_reach_it_only_after_a_warning(capsys, monkeypatch, host: str, warned: bool):
    """The address with its token is printed, and a browser opens by default not to."""
    opened: list[str] = []

    async def run(self: StudioServer, tell) -> None:
        tell(Address(host, 8791, "secret"))

    monkeypatch.setattr(StudioServer, "run", run)
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert StudioVerb(host=host).run() == 0
    said = capsys.readouterr()
    assert ("can be reached by others" in said.err) is warned
    assert said.out.strip() == f"studio: http://{host}:8791/secret/"
    assert opened == [f"http://{host}:8791/secret/"]
