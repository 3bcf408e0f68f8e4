"""The studio's address from one start to the next, and how a browser is told it.

A studio that is started again takes the same port and token where it can, so that a page which is
still open goes on. Both lie in a file that its owner alone may read; a browser gets a file to open
instead of the address, because command lines can be read by everybody on a machine.
"""

import html
import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from corporeal.viewer.server import Address

_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,64}")
_MOST = 4096


def usual_place() -> Path:
    """Where the address is kept."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "corporeal" / "studio.json"


def kept_address(place: Path, host: str, port: int) -> Address | None:
    """The address that was kept for this host, if its port is free; `port` 0 takes any port. None
    for a file that is not there, is damaged, or that others may read."""
    try:
        status = place.stat()
        if status.st_mode & 0o077 or status.st_size > _MOST or status.st_uid != os.getuid():
            return None
        plain = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, AttributeError):  # AttributeError: Windows has no owners
        return None
    if not isinstance(plain, dict) or plain.get("host") != host:
        return None
    kept, token = plain.get("port"), plain.get("token")
    if type(kept) is not int or not 0 < kept < 65536 or port not in (0, kept):
        return None
    if not isinstance(token, str) or not _TOKEN.fullmatch(token) or not _is_free(host, kept):
        return None
    return Address(host, kept, token)


def keep_address(place: Path, address: Address) -> None:
    """Keep an address for the next start; where it cannot be, the next start has another."""
    text = json.dumps({"host": address.host, "port": address.port, "token": address.token})
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        _write_for_owner(place, text)
    except OSError:
        return


@contextmanager
def page_for_browser(address: Address) -> Iterator[str]:
    """A `file:` address of a page that leads to the studio, as long as the block lasts."""
    with TemporaryDirectory(prefix="corporeal-studio-", ignore_cleanup_errors=True) as folder:
        page, url = Path(folder) / "studio.html", html.escape(address.url, quote=True)
        text = f'<!doctype html><meta http-equiv="refresh" content="0; url={url}">'
        _write_for_owner(page, f'{text}<a href="{url}">Open the studio</a>')
        yield page.as_uri()


def _write_for_owner(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def _is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError:
        return False
    return True
