"""What was made once and would be made alike again, kept in the user's cache folder.

Nothing depends on it: a file that is missing or cannot be read or written costs time alone.
"""

import contextlib
import hashlib
import os
from pathlib import Path

from corporeal.errors import OutputError
from corporeal.runtime.files import write_bytes

_MOST_KEPT = 48
"""Files of one kind; the one that was used longest ago goes."""


def cache_folder(kind: str) -> Path:
    """Where things of one kind are kept: below XDG_CACHE_HOME, or ~/.cache."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "corporeal" / kind


def content_key(*parts: bytes) -> str:
    """A name for what is made of some bytes."""
    digest = hashlib.blake2b(digest_size=20)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def kept(kind: str, key: str) -> bytes | None:
    """What was kept under a key; None where nothing was."""
    place = cache_folder(kind) / key
    try:
        content = place.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):
        os.utime(place)
    return content


def keep(kind: str, key: str, content: bytes) -> None:
    """Keep bytes under a key, and not more than a few dozen of a kind."""
    folder = cache_folder(kind)
    with contextlib.suppress(OSError, OutputError):
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(folder / key, content)
        places = sorted(folder.iterdir(), key=lambda place: place.stat().st_mtime)
        for place in places[: max(0, len(places) - _MOST_KEPT)]:
            place.unlink(missing_ok=True)
