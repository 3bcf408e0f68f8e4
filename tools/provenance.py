"""Writes the record of origin that lies beside a data file of the package.

`people.npz` has its record in `people.provenance.json`; the packed archives of
`src/corporeal/assets/data` have theirs in the manifest that the loader checks (`smpl.json` beside
`smpl.npz.xz`). `tests/test_packaging.py` asserts that no data file lacks one and that hashes agree.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

SUFFIX = ".provenance.json"
"""What a record's name ends in; before it stands the data file's name up to its first dot."""


def sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def record_path(data_file: Path) -> Path:
    """Where the record of `data_file` lies."""
    return data_file.with_name(data_file.name.split(".")[0] + SUFFIX)


def write_provenance(
    data_file: Path,
    *,
    title: str,
    licence: str,
    origin: str,
    command: str,
    sources: Iterable[Path],
) -> Path:
    """Write where `data_file` comes from, and the hashes of it and of what it was made from.

    `command` is the line that makes it, run in the repository's root; its first word that ends in
    `.py` or `.sh` is the tool. `sources` are the files that the tool read.
    """
    words = command.split()
    record = {
        "title": title,
        "licence": licence,
        "origin": origin,
        "built_by": next(word for word in words if word.endswith((".py", ".sh"))),
        "command": command,
        "bytes": data_file.stat().st_size,
        "sha256": sha256(data_file),
        "source_sha256": {path.name: sha256(path) for path in sources},
    }
    path = record_path(data_file)
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return path
