"""A session as one file: a zip of the document and of the files that it names."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corporeal.errors import FormatError
from corporeal.runtime.files import atomic_write
from corporeal.viewer.document import MOST_SIZE
from corporeal.viewer.messages import require_plain
from corporeal.viewer.packets import Packet
from corporeal.viewer.uploads import MOST_BYTES, MOST_FILES, MOST_TOTAL, safe_name

DOCUMENT = "session.json"
_PIECE = 1 << 20


def written(path: Path, document: dict[str, Any], files: Mapping[str, Path]) -> None:
    """Write a session file with its files."""
    with atomic_write(path) as place, zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(DOCUMENT, json.dumps(document, allow_nan=False))
        for name, file in files.items():
            archive.write(file, name)


def unpacked(path: Path) -> Packet:
    """Unpack a session file into a folder beside it, within the limits of a tab's files."""
    home = path.with_name(f"{path.name}.files")
    home.mkdir(exist_ok=True)
    try:
        with zipfile.ZipFile(path) as archive:
            rows = archive.infolist()
            if len(rows) > MOST_FILES + 1 or sum(row.file_size for row in rows) > MOST_TOTAL:
                raise FormatError(
                    f"{path.name} holds {len(rows)} files; a session has up to {MOST_FILES} of "
                    f"{MOST_TOTAL >> 20} MiB in all."
                )
            names = [row.filename for row in rows]
            if DOCUMENT not in names or len(set(names)) < len(names):
                raise FormatError(f"{path.name} holds no {DOCUMENT}, or a name twice.")
            plain = json.loads(_content(archive, DOCUMENT, MOST_SIZE))
            require_plain("the session", plain)
            files = [name for name in names if name != DOCUMENT]
            for name in files:
                if safe_name(name) != name:
                    raise FormatError(f"{path.name} holds {name[:60]!r}, which no session has.")
                most = MOST_BYTES[Path(name).suffix]
                (home / name).write_bytes(_content(archive, name, most))
    except (zipfile.BadZipFile, ValueError, RecursionError, NotImplementedError, EOFError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{path.name} is no session file ({str(error)[:80]}).") from error
    return Packet("bundle", {"document": plain, "files": files, "folder": str(home)})


def _content(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """A file of the archive; what it states of its size is not believed."""
    pieces, held = [], 0
    with archive.open(name) as file:
        while piece := file.read(_PIECE):
            held += len(piece)
            if held > most:
                raise FormatError(f"{name} has more than {most >> 20} MiB.")
            pieces.append(piece)
    return b"".join(pieces)
